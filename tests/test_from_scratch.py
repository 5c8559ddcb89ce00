"""`docs/from_scratch.py` runs, prints what its comments say, and notices mistakes."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "from_scratch.py"
SOURCE = PAGE.read_text(encoding="utf-8")
CLAIMS = re.findall(r"^# prints: (.*)\n", SOURCE, re.MULTILINE)


def check(source):
    """Execute the file and compare what it prints with its comments."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, str(PAGE), "exec"), {"__name__": "from_scratch"})
    assert printed.getvalue().splitlines() == CLAIMS


def test_it_prints_what_its_comments_say():
    assert len(CLAIMS) >= 10
    check(SOURCE)


@pytest.mark.parametrize(
    ("right", "wrong", "error"),
    [
        pytest.param("(1 - out * out)", "(1 + out * out)", AssertionError, id="rule"),
        pytest.param(
            "b=lambda g, a: g * a)", "b=lambda g, b: g * b)", AssertionError, id="residual"
        ),
        pytest.param("add(cotangents[uid], t) if", "t if", AssertionError, id="accumulate"),
        pytest.param("if op.elementwise:", "if False:", AssertionError, id="unbroadcast"),
        pytest.param("if node.out in live:", "if True:", AssertionError, id="dead code"),
        pytest.param("Tensor(ones) if recorders else", "", AttributeError, id="nested tapes"),
    ],
)
def test_it_notices_a_mistake(right, wrong, error):
    assert SOURCE.count(right) == 1
    with pytest.raises(error):
        check(SOURCE.replace(right, wrong))


def test_it_names_files_that_exist():
    comments = " ".join(re.findall("#.*", SOURCE))
    named = [name.strip(".,:;") for name in comments.split() if "/" in name]
    assert len(named) > 12
    roots = ROOT / "src" / "gradtape", ROOT
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []
