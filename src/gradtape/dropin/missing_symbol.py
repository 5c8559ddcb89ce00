"""The error message for a TensorFlow name that gradtape does not have."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from typing import Any

from gradtape.tf.compat.v1.adapter import MOVED_NAMES
from gradtape.tf.compat.v1.unsupported import REPLACEMENTS

# namespaces to search for a name that is missing where the user looked
SEARCHED_NAMESPACES = (
    "",
    "math",
    "nn",
    "linalg",
    "random",
    "image",
    "io",
    "strings",
    "signal",
    "debugging",
)


def explain_missing_name(path: str, name: str, near: Iterable[str]) -> str:
    """The message for a missing `path.name`, with the nearest name and where all names are.

    Args:
        path: the namespace, such as "tf.math".
        name: the missing name.
        near: the names of the namespace.
    """
    whole = f"{path}.{name}"
    text = f"gradtape does not have {whole}."
    instead = REPLACEMENTS.get(whole.removeprefix("tf.").removeprefix("compat.v1."))
    if instead is not None:
        return f"{text} It belongs to TensorFlow 1: {instead}"
    similar = find_nearest_name(path, name, near)
    if similar is not None:
        text += f" The nearest name is {similar}."
    return f"{text} dir({path}) lists the supported names."


def find_nearest_name(path: str, name: str, near: Iterable[str]) -> str | None:
    """A symbol of the same name in another namespace, or a similar name in this one."""
    for space in SEARCHED_NAMESPACES:
        where = f"tf.{space}" if space else "tf"
        if where != path and name in names_in_namespace(space):
            return f"{where}.{name}"
    if name in MOVED_NAMES and path in ("tf", "tf.compat.v1"):
        return f"tf.{MOVED_NAMES[name]}"
    close = difflib.get_close_matches(name, [n for n in near if n[0] != "_"], n=1, cutoff=0.75)
    return f"{path}.{close[0]}" if close else None


def names_in_namespace(space: str) -> Iterable[str]:
    """The names of a namespace of gradtape."""
    root: Any = sys.modules["gradtape"]
    return root._MODULE_OF if not space else dir(getattr(root, space))
