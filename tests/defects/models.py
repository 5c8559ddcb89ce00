"""Saved models with something else in them than gradtape would write.

The sender of a hostile model writes the file with a program of their own, checksums included. So the tree is
changed while it is being written: what `json` is given to write passes through `change`.
"""

import functools
import importlib
import json
import os
import pkgutil
from unittest import mock

import gradtape as tf


class Unchanged(Exception):  # noqa: N818
    """Nothing was changed: the program does not know the form of the files any more and must be adapted."""


def is_model(tree):
    """Whether this tree is the description of a model."""
    return isinstance(tree, dict) and any(True for _ in graphs(tree))


def graphs(tree):
    """All graphs in a tree, those of branches and loops too: dicts with a list of nodes."""
    if isinstance(tree, dict):
        nodes = tree.get("nodes")
        if isinstance(nodes, list) and all(isinstance(n, dict) for n in nodes):
            yield tree
        for value in tree.values():
            yield from graphs(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from graphs(value)


def nodes(tree):
    """All nodes of all graphs."""
    for graph in graphs(tree):
        yield from graph["nodes"]


def save(module, path, change):
    """Save `module`; `change` may alter the tree of the model before it is written."""
    changed = []

    def written(tree):
        if not changed and is_model(tree):
            tree = altered(json.loads(plain_dumps(tree)), change)
            changed.append(True)
        return tree

    plain_dumps, plain_dump = json.dumps, json.dump
    with (
        mock.patch("json.dumps", lambda tree, *a, **k: plain_dumps(written(tree), *a, **k)),
        mock.patch("json.dump", lambda tree, *a, **k: plain_dump(written(tree), *a, **k)),
    ):
        tf.saved_model.save(module, path)
    if not changed:
        change_file(path, change)


def altered(tree, change):
    """The tree after `change`.

    Raises:
        Unchanged: if it is what it was.
    """
    before = repr(tree)
    change(tree)
    if repr(tree) == before:
        raise Unchanged(Unchanged.__doc__)
    return tree


def change_file(path, change):
    """The same afterwards, for a file that was not written through `json`."""
    name = os.path.join(path, "gradtape_model.json")
    with open(name) as file:
        tree = json.load(file)
    tree = altered(tree, change)
    with open(name, "w") as file:
        json.dump(tree, file)


@functools.cache
def homes():
    """Where gradtape's functions and classes live: name → modules."""
    found = {}
    for info in pkgutil.walk_packages(tf.__path__, "gradtape."):
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except Exception:
            continue
        for name, value in list(vars(module).items()):
            if callable(value) and getattr(value, "__module__", None) == info.name:
                found.setdefault(name, []).append(info.name)
    return found


def named(*names, like=""):
    """How a file would name the first of these that gradtape has, whichever module it lives in (one with `like` in its path first)."""
    for name in names:
        modules = sorted(homes().get(name, ()), key=lambda module: like not in module)
        if modules:
            return f"{modules[0]}:{name}"
    return f"gradtape.core.gone:{names[0]}"


class Sine(tf.Module):
    """What the victim expects."""

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x):
        return tf.sin(x)


def use(path, *values):
    """What the victim does: load, and call twice and more. The class of the error that it sees, or "nothing"."""
    try:
        model = tf.saved_model.load(path)
        for value in values or ([1.0, 2.0],) * 3:
            model(tf.constant(value))
    except Exception as error:
        print(f"  the victim sees {type(error).__name__}: {' '.join(str(error).split())[:150]}")
        return type(error).__name__
    return "nothing"


def refused(seen):
    """`DataLossError` or `InvalidArgumentError`"""
    return seen in ("DataLossError", "InvalidArgumentError")
