"""The tutorials of the site run from top to bottom, without Jupyter."""

import contextlib
import io
import re

import pytest

from tests.documentation import PAGES

CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
TUTORIALS = {
    path.relative_to(PAGES).as_posix(): CELL.findall(path.read_text(encoding="utf-8"))
    for path in sorted(PAGES.rglob("*.md"))
}
TUTORIALS = {name: cells for name, cells in TUTORIALS.items() if cells}


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs_from_top_to_bottom(name):
    cells = TUTORIALS[name]
    if any("tf.keras" in cell for cell in cells):
        pytest.importorskip("keras")
    names = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(cells):
            exec(compile(cell, f"{name}, cell {number}", "exec"), names)
    assert printed.getvalue()


def test_there_are_six_tutorials():
    assert sum(name.startswith("learn/") for name in TUTORIALS) == 6
