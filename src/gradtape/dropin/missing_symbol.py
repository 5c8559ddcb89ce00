"""What is said of a name that gradtape does not have."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from typing import Any

from gradtape.tf.compat.v1.adapter import MOVED
from gradtape.tf.compat.v1.unsupported import REMOVED

PAGE = "docs/coverage.md"
# where a name that is looked for in the wrong place may be
ELSEWHERE = ("", "math", "nn", "linalg", "random", "image", "io", "strings", "signal", "debugging")


def explanation(path: str, name: str, near: Iterable[str]) -> str:
    """Why `path.name` is missing: in full, with what comes nearest and where the list is.

    Args:
        path: of the namespace, such as "tf.math".
        name: that it does not have.
        near: the names that it has.
    """
    whole = f"{path}.{name}"
    text = f"gradtape does not have {whole}."
    instead = REMOVED.get(whole.removeprefix("tf.").removeprefix("compat.v1."))
    if instead is not None:
        return f"{text} It belongs to TensorFlow 1: {instead} (docs/migration.md)"
    found = nearest(path, name, near)
    if found is not None:
        text += f" The nearest there is: {found}."
    return f"{text} {PAGE} lists what there is."


def nearest(path: str, name: str, near: Iterable[str]) -> str | None:
    """A symbol of the same name elsewhere, or one with a similar name here."""
    for space in ELSEWHERE:
        where = f"tf.{space}" if space else "tf"
        if where != path and name in names_of(space):
            return f"{where}.{name}"
    if name in MOVED and path in ("tf", "tf.compat.v1"):
        return f"tf.{MOVED[name]}"
    close = difflib.get_close_matches(name, [n for n in near if n[0] != "_"], n=1, cutoff=0.75)
    return f"{path}.{close[0]}" if close else None


def names_of(space: str) -> Iterable[str]:
    """What a namespace of gradtape has."""
    root: Any = sys.modules["gradtape"]
    return root._HOME if not space else dir(getattr(root, space))
