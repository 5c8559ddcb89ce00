"""Imports point down the layers, and guests stay where they belong."""

import ast
from pathlib import Path

import pytest

import gradtape

ROOT = Path(gradtape.__file__).parent
LAYERS = [
    "core",
    "files",
    "ops",
    "tape",
    "state",
    "graph",
    "compile",
    "jit",
    "pipeline",
    "tf",
    "debug",
    "func",
    "interop",
    "dropin",
]
GUESTS = {
    "numpy": set(LAYERS) - {"tape", "graph", "jit"},
    "jax": {"compile", "interop"},
    "torch": {"interop"},
    "keras": {"dropin"},
    "tensorflow": set(),
}
FILES = sorted(path.relative_to(ROOT) for path in ROOT.glob("*/**/*.py"))


def imported(tree):
    """Dotted names that a module imports, wherever in it; relative ones begin with a dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            yield from (f"{start}.{alias.name}" for alias in node.names)


def complaints(layer, source):
    """What a module of `layer` imports and should not."""
    for name in imported(ast.parse(source)):
        top, *rest = name.split(".")
        if not top:
            yield f"relative import {name}: write it in full"
        elif top != "gradtape":
            if layer not in GUESTS.get(top, LAYERS):
                yield f"{layer} imports {name}"
        elif not rest or rest[0] not in LAYERS:
            yield f"{name} is the package itself: name the layer"
        elif LAYERS.index(rest[0]) > LAYERS.index(layer):
            yield f"{layer} imports {name}, which lies above it"


@pytest.mark.parametrize("path", FILES, ids=str)  # the root's own files may import anything
def test_imports_point_down(path):
    assert path.parts[0] in LAYERS, f"{path.parts[0]} is not a layer"
    assert list(complaints(path.parts[0], (ROOT / path).read_text())) == []


def test_every_file_is_looked_at():
    assert {path.parts[0] for path in FILES} >= {"core", "ops", "tape", "state", "tf"}


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("core", "from gradtape.ops import elementwise"),
        ("core", "import gradtape.tape.backward"),
        ("ops", "def f():\n    from gradtape.state.variable.variable import Variable"),
        ("tf", "from gradtape import Tensor"),
        ("tf", "import gradtape"),
        ("ops", "from . import reduce"),
        ("ops", "from .reduce import reduce_sum"),
        ("tape", "import numpy as np"),
        ("graph", "from numpy.linalg import norm"),
        ("tf", "import keras"),
        ("ops", "import jax.numpy as jnp"),
        ("interop", "import tensorflow as tf"),
    ],
)
def test_a_wrong_import_is_found(layer, source):
    assert len(list(complaints(layer, source))) == 1


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("tape", "from gradtape.core import context"),
        ("ops", "from gradtape.ops.reduce import reduce_sum\nimport numpy as np"),
        ("dropin", "from gradtape import tf\nimport keras"),
        ("compile", "import jax"),
    ],
)
def test_a_right_import_passes(layer, source):
    assert list(complaints(layer, source)) == []
