"""`docs/founding.md` has a row with a test for each statement of the founding documents."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.founding import statements

ROOT = Path(__file__).parents[1]
FILES = ("tests/test_founding.py", "tests/keras/test_founding_keras.py")
VERDICT = re.compile(r"yes(: .+)?$|(partly|no|not yet): .+$")
ROW = re.compile(r"\| `(\d\.[\w.]+)` \|")
TEST = re.compile(r"`([\w/]+\.py::\w+)`")


class Row(NamedTuple):
    """A row of the table: one statement and its tests."""

    id: str
    says: str
    holds: str
    tests: tuple


class Source(NamedTuple):
    """Facts from the source of a test."""

    strings: frozenset
    waits: bool  # whether it is marked as an expected failure


def read_rows(text):
    """Rows of the page's tables."""
    for line in filter(ROW.match, text.splitlines()):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        number, says, holds, shown = cells + [""] * (4 - len(cells))
        yield Row(number.strip("`"), says, holds, tuple(TEST.findall(shown)))


def read_tests(path, source):
    """Tests of a file by `path::name`; strings of functions that a test calls count as its own."""
    functions = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)}
    names, strings = {}, {}
    for name, function in functions.items():
        inside = list(ast.walk(function))
        names[name] = {n.id for n in inside if isinstance(n, ast.Name)}
        strings[name] = {n.value for n in inside if isinstance(n, ast.Constant)}
    for name in functions:
        if name.startswith("test_"):
            own = strings[name].union(*(strings[used] for used in names[name] if used in functions))
            yield f"{path}::{name}", Source(frozenset(own), waits="needs_function" in names[name])


def complaints(rows, ids, tests):
    """Errors in the rows for the statements `ids`, given the existing tests."""
    listed = [row.id for row in rows]
    if listed != list(ids):
        wrong = set(listed) ^ set(ids) or "the same ids in another order, or twice"
        yield f"the rows are not those of the documents: {wrong}"
    for row in rows:
        if not row.says:
            yield f"{row.id}: does not say what it is about"
        if not row.tests:
            yield f"{row.id}: no test"
        if not VERDICT.match(row.holds):
            yield f"{row.id}: say yes, or why partly, no or not yet. Found {row.holds!r}"
        known = [tests[name] for name in row.tests if name in tests]
        yield from (f"{row.id}: there is no {name}" for name in row.tests if name not in tests)
        if ("not yet" in row.holds) != any(test.waits for test in known):
            yield f"{row.id}: `not yet` and a test that waits belong together"
        if row.id.endswith(".code") and not any(row.id in test.strings for test in known):
            yield f"{row.id}: none of its tests runs the example"
    named = {name for row in rows for name in row.tests}
    yield from (f"{name}: no row names it" for name in tests if name not in named)


@cache
def table():
    return list(read_rows((ROOT / "docs" / "founding.md").read_text(encoding="utf-8")))


@cache
def every_test():
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in FILES}
    return {name: test for path in FILES for name, test in read_tests(path, sources[path])}


def test_every_statement_is_shown_by_a_test():
    assert list(complaints(table(), statements(), every_test())) == []


def test_every_python_block_of_the_documents_has_a_row():
    blocks = 0
    for path in sorted((ROOT / "tests" / "seeds").glob("*.txt")):
        blocks += path.read_text(encoding="utf-8").count("```python")
    examples = [row.id for row in table() if row.id.endswith(".code")]
    assert len(examples) == blocks == 15
    for example in examples:
        compile(statements()[example], example, "exec")


def test_the_documents_are_all_there():
    # Counted by hand: list items, examples, and sentences outside the lists.
    counts = Counter(number.split(".")[0] for number in statements())
    assert counts == {"0": 35 + 8 + 1, "1": 28 + 4 + 1, "2": 17 + 1, "3": 22 + 1, "4": 25 + 3 + 1}


GOOD = "| `0.a.1` | it works | yes | `t.py::test_a` |"
TESTS = {"t.py::test_a": Source(frozenset({"0.a.1.code"}), waits=False)}


def test_a_good_table_has_no_complaints():
    assert list(complaints(list(read_rows(GOOD)), ["0.a.1"], TESTS)) == []


@pytest.mark.parametrize(
    ("page", "ids", "tests", "complaint"),
    [
        pytest.param(GOOD, ["0.a.1", "0.a.2"], TESTS, "not those of the documents", id="missing"),
        pytest.param(GOOD, [], TESTS, "not those of the documents", id="unknown"),
        pytest.param(f"{GOOD}\n{GOOD}", ["0.a.1"], TESTS, "or twice", id="twice"),
        pytest.param("| `0.a.1` | it works | yes |  |", ["0.a.1"], {}, "no test", id="bare"),
        pytest.param("| `0.a.1` | it works | yes |", ["0.a.1"], {}, "no test", id="short"),
        pytest.param(GOOD, ["0.a.1"], {}, "there is no t.py::test_a", id="absent"),
        pytest.param(
            GOOD,
            ["0.a.1"],
            TESTS | {"t.py::test_b": TESTS["t.py::test_a"]},
            "test_b: no row",
            id="idle",
        ),
        pytest.param(GOOD.replace("yes", "maybe"), ["0.a.1"], TESTS, "say yes", id="verdict"),
        pytest.param(GOOD.replace("yes", "no"), ["0.a.1"], TESTS, "say yes", id="unexplained"),
        pytest.param(GOOD.replace("it works", ""), ["0.a.1"], TESTS, "does not say", id="silent"),
        pytest.param(GOOD.replace("yes", "not yet: soon"), ["0.a.1"], TESTS, "waits", id="waiting"),
        pytest.param(
            GOOD, ["0.a.1"], {"t.py::test_a": Source(frozenset(), waits=True)}, "waits", id="early"
        ),
        pytest.param(
            GOOD.replace("0.a.1", "0.a.2.code"),
            ["0.a.2.code"],
            TESTS,
            "runs the example",
            id="unrun",
        ),
    ],
)
def test_a_wrong_table_is_found(page, ids, tests, complaint):
    assert any(complaint in line for line in complaints(list(read_rows(page)), ids, tests))
