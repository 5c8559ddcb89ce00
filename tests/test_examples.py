"""Examples in docstrings, on the pages of `docs/` and in the README do what they show."""

import ast
import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape
from tests.documentation import BLOCK, PAGES, PROMPT, failures, pages

ROOT = Path(gradtape.__file__).parent
WRITTEN = pages()
OBJECTS = ("ragged.md", "tape.md", "tensor.md", "variable.md")
TOPICS = [name for name in WRITTEN if name.startswith("ops/") or name in OBJECTS]


def examples():
    """Every string in the sources that contains a prompt, with its file and line as id."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            text = getattr(node, "value", None)
            if isinstance(text, str) and PROMPT in text:
                yield pytest.param(text, id=f"{name}:{node.lineno}")


EXAMPLES = list(examples())


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_produces_the_output_it_shows(text):
    assert failures(text, gradtape) == ""


@pytest.mark.parametrize("page", WRITTEN)
def test_the_examples_of_a_page_produce_the_output_they_show(page):
    assert failures(WRITTEN[page], gradtape) == ""


@pytest.mark.parametrize("page", TOPICS)
def test_a_page_shows_a_gradient(page):
    assert "tape.gradient(" in WRITTEN[page]


# Pages with fragments: of the library's source, or programs that need another package or a device
FRAGMENTS = ("design.md", "engine.md", "interop.md", "xla.md")
PROGRAMS = {
    path.relative_to(PAGES).as_posix(): [
        block for block in BLOCK.findall(path.read_text(encoding="utf-8")) if PROMPT not in block
    ]
    for path in sorted(PAGES.rglob("*.md"))
    if path.name not in FRAGMENTS
}


@pytest.mark.parametrize("page", [page for page, blocks in PROGRAMS.items() if blocks])
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in PROGRAMS[page]:
            exec(compile(block, page, "exec"), names)


def test_the_readme_shows_what_its_code_prints():
    code = BLOCK.search((PAGES.parent / "README.md").read_text(encoding="utf-8"))[1]
    shown = re.findall(r"^print\(.*\)  # (.+)$", code, re.MULTILINE)
    assert len(shown) == code.count("print(") > 0
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().splitlines() == shown


def test_the_readme_shows_what_the_command_explains(tmp_path):
    text = (PAGES.parent / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"\$ cat lost\.py\n(.*?)\$ gradtape (.*?)\n(.*?)```", text, re.DOTALL)
    program, arguments, printed = shown.groups()
    (tmp_path / "lost.py").write_text(program)
    command = [sys.executable, "-m", "gradtape", *arguments.split()]
    ran = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert ran.stdout == printed


def test_a_page_about_ops_is_named_for_their_file():
    files = {path.stem for path in [*ROOT.glob("ops/**/*"), *ROOT.glob("tf/**/*")]}
    assert {Path(page).stem for page in TOPICS if page.startswith("ops/")} <= files


def test_there_are_examples():
    files = {param.id.split(":")[0] for param in EXAMPLES}
    assert {"tape/gradient_tape.py", "tape/forward_accumulator.py", "debug/tape_memory.py"} <= files
    assert {"tape.md", "tensor.md", "variable.md", "ops/reduce.md"} <= set(WRITTEN)


def test_a_wrong_example_is_found():
    assert "Expected:" in failures("Example:\n    >>> 1 + 1\n    3\n", gradtape)
