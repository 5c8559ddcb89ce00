"""Examples in docstrings do what they show."""

import ast
import doctest
from pathlib import Path

import numpy as np
import pytest

import gradtape

ROOT = Path(gradtape.__file__).parent
PROMPT = ">>> "


def examples():
    """Every text in the sources with a prompt in it, named for its file and line."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            text = getattr(node, "value", None)
            if isinstance(text, str) and PROMPT in text:
                yield pytest.param(text, id=f"{name}:{node.lineno}")


EXAMPLES = list(examples())


def failures(text):
    """What goes wrong in the examples of a docstring."""
    names = {"tf": gradtape, "gradtape": gradtape, "np": np}
    test = doctest.DocTestParser().get_doctest(text, names, "example", None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_shows_what_it_does(text):
    assert failures(text) == ""


def test_there_are_examples():
    files = {param.id.split(":")[0] for param in EXAMPLES}
    assert {"tape/gradient_tape.py", "tape/forward.py", "debug/memory.py"} <= files


def test_a_wrong_example_is_found():
    assert "Expected:" in failures("Example:\n    >>> 1 + 1\n    3\n")
