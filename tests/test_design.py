"""The page about the design names files and functions that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "gradtape"
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
WALKS = re.findall(r"^## (An? .+)$", PAGE, re.MULTILINE)
ROW = re.compile(r"^\| (.+) \| `([\w/]+\.py)` \| (.+) \|$", re.MULTILINE)


@cache
def names_in(file):
    """Functions and classes of a module, and methods as `Class.method`."""
    names = set()
    for node in ast.parse((PACKAGE / file).read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
            names.update(f"{node.name}.{method.name}" for method in methods)
    return names


def missing_names(file, functions):
    """The functions of a row that its file does not have."""
    if not (PACKAGE / file).exists():
        return [file]
    return [name for name in re.findall(r"`([^`]+)`", functions) if name not in names_in(file)]


def test_there_are_six_walks_with_a_diagram_and_a_table():
    assert len(WALKS) == 6
    for part in PAGE.split("\n## An")[1:]:
        walk = part.split("\n## ")[0]
        assert re.search(r"^    .*──►", walk, re.MULTILINE)
        assert len(ROW.findall(walk)) >= 5


@pytest.mark.parametrize(("step", "file", "functions"), ROW.findall(PAGE))
def test_a_step_names_functions_that_exist(step, file, functions):
    assert missing_names(file, functions) == []


def test_files_in_sentences_exist():
    files = re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE)
    missing = [f for f in files if not (PACKAGE / f).exists() and not (ROOT / f).exists()]
    assert missing == []


def test_a_missing_name_is_found():
    assert missing_names("graph/trace.py", "`Trace.bind`, `Trace.gone`") == ["Trace.gone"]
    assert missing_names("graph/gone.py", "`f`") == ["graph/gone.py"]
