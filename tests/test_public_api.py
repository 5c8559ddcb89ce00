"""The public names are pinned and documented, and have TensorFlow's parameters."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gradtape
from tests.public_api import LISTING, OWN, arguments_of, of_gradtape, recorded

PUBLIC = of_gradtape()
CALLABLE = {path: value for path, value in PUBLIC.items() if callable(value)}

# Where parameters differ from TensorFlow's, and why
DIFFERENT = {
    r"(dtypes\.)?DType": "only the table of dtypes makes one",
    r"data\.(Dataset|Iterator)|(data\.)?experimental\.Optional": "an abstract class in TensorFlow",
    r"data\.Iterator\.get_next": "TensorFlow's concrete iterators have `name`, too",
    r"TensorArraySpec\.is_compatible_with": "the same parameters as other specs",
    r"errors\.\w+Error": "the message is the only required argument",
    r"meshgrid|nest\.map_structure": "TensorFlow takes these parameters as **kwargs",
}


def test_the_listing_is_up_to_date():
    # A process of its own: after `gradtape.install()` classes have TensorFlow's names
    command = [sys.executable, "-m", "tests.public_api"]
    root = LISTING.parent.parent
    listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert listing == LISTING.read_text(), (
        "Public names or signatures have changed. If that is intended: "
        "python -m tests.public_api > tests/public_api.txt"
    )


def test_the_stub_for_type_checkers_has_the_same_names():
    tree = ast.parse(Path(gradtape.__file__).with_suffix(".pyi").read_text())
    stub = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("gradtape"):
            (alias,) = node.names
            assert alias.name == alias.asname
            stub[alias.name] = node.module
    assert {name for name in OWN if not stub.pop(name, None)} == set()
    assert stub.pop("function") == "gradtape.jit.function_type"  # keeps signatures
    assert {**stub, "function": "gradtape.jit.function"} == gradtape._MODULE_OF


def test_every_listed_name_exists():
    missing = [name for name in gradtape._MODULE_OF if not hasattr(gradtape, name)]
    assert missing == []


def test_the_error_names_a_missing_symbol():
    with pytest.raises(AttributeError, match=r"gradtape does not have tf\.no_such_name"):
        gradtape.no_such_name  # noqa: B018 - the access is what is tested


def test_every_callable_is_documented():
    silent = [path for path, value in CALLABLE.items() if not inspect.getdoc(value)]
    assert silent == []


def test_parameters_are_tensorflows():
    differences = {}
    for path, value in CALLABLE.items():
        theirs, ours = recorded().get(path), arguments_of(value, defaults=False)
        if theirs is not None and ours is not None and ours != theirs:
            differences[path] = f"ours: {ours}; TensorFlow's: {theirs}"
    known = re.compile("|".join(DIFFERENT))
    assert {k: v for k, v in differences.items() if not known.fullmatch(k)} == {}
    for pattern in DIFFERENT:
        assert any(re.fullmatch(pattern, path) for path in differences), f"{pattern} is needless"


def test_the_listing_has_common_names():
    lines = LISTING.read_text().splitlines()
    assert "add(x, y, name=None)" in lines
    assert "class GradientTape(persistent=False, watch_accessed_variables=True)" in lines
    assert "float32" in lines


def test_one_version_of_gradtape_is_named_everywhere():
    root = Path(__file__).parents[1]
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert f"gradtape-{version}" == gradtape.version.GIT_VERSION
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text()
