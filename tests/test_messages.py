"""No message names a file of the repository: an installed package does not have it."""

import ast
import re
from pathlib import Path

import pytest

import gradtape

SOURCES = Path(gradtape.__file__).parent
FILES = re.compile(
    r"\b(docs|tests|tools|examples|benchmarks|\.ci)/\w|\b(README|CONTRIBUTING|CHANGELOG)\b|\w\.md\b"
)


def strings_of(path):
    """The string constants of a file that are no docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = getattr(node, "value", None)
        if isinstance(text, str) and id(node) not in statements:
            yield node.lineno, text


def test_no_string_names_a_file_of_the_repository():
    found = [
        f"{path.relative_to(SOURCES)}:{line}: {text}"
        for path in sorted(SOURCES.rglob("*.py"))
        for line, text in strings_of(path)
        if FILES.search(text)
    ]
    assert found == []


@pytest.mark.parametrize("text", ["See docs/coverage.md.", "(docs/xla)", "CHANGELOG has more."])
def test_a_name_of_a_file_is_found(text):
    assert FILES.search(text)
