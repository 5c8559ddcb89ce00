"""Imports point down the layers of `docs/layers.md`, and other packages stay in their layers."""

import ast
import re
from pathlib import Path

import pytest

import gradtape

ROOT = Path(gradtape.__file__).parent
REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs" / "layers.md").read_text(encoding="utf-8")


def read_table(header):
    """Rows of the page's table below `header`: the name in the first cell, and the second cell."""
    _, _, rest = PAGE.partition(header)
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", rest.partition("\n\n")[0], re.MULTILINE))


DESCRIPTIONS = read_table("| layer |")  # lowest layer first
LAYERS = list(DESCRIPTIONS)
DIAGRAM = " ← ".join(LAYERS)
# Other packages, and the layers that may import them.
GUESTS = {
    package: re.findall(r"`(\w+)`", cell) for package, cell in read_table("| package |").items()
}
FILES = sorted(path.relative_to(ROOT) for path in ROOT.glob("*/**/*.py"))


def imported_names(tree):
    """Dotted names that a module imports, wherever in it; relative ones begin with a dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            yield from (f"{start}.{alias.name}" for alias in node.names)


def find_violations(layer, source):
    """What a module of `layer` imports and should not."""
    for name in imported_names(ast.parse(source)):
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
    assert list(find_violations(path.parts[0], (ROOT / path).read_text())) == []


def test_every_layer_is_a_folder_and_every_folder_a_layer():
    assert sorted(LAYERS) == sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


def test_other_packages_are_assigned_to_layers():
    assert set(GUESTS) == {"numpy", "jax", "keras", "tensorflow", "torch"}
    assert {layer for layers in GUESTS.values() for layer in layers} <= set(LAYERS)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/design.md", "docs/layers.md"])
def test_the_diagram_is_drawn_from_the_list(page):
    assert DIAGRAM in (REPOSITORY / page).read_text(encoding="utf-8")


def test_the_map_of_the_readme_is_drawn_from_the_list():
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^  (\w+)/ +(.+)$", text, re.MULTILINE)
    assert lines == [(name, text.replace("`", "")) for name, text in DESCRIPTIONS.items()]


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
        ("dropin", "import tensorflow as tf"),
    ],
)
def test_a_wrong_import_is_found(layer, source):
    assert len(list(find_violations(layer, source))) == 1


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
    assert list(find_violations(layer, source)) == []
