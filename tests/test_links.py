"""Pages name files that exist, and the contents page names every page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "gradtape"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def broken_links(page, text):
    targets = [target for target in LINK.findall(text) if "://" not in target]
    return [target for target in targets if not (page.parent / target).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page):
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_found():
    assert broken_links(DOCS / "index.md", "[a](tape.md), [b](gone.md#part)") == ["gone.md"]


SOURCE_FILES = [
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "tools", "benchmarks", "examples", "docs")
    for path in (ROOT / folder).rglob("*.py")
]


def unknown_files(text):
    """The Python files in a text that neither the repository nor Python and Keras's tests have."""
    named = re.findall(r"`((?!sitecustomize)[\w/]+(?<!_test)\.py)`", text)
    return sorted(n for n in set(named) if not any(f"/{f}".endswith(f"/{n}") for f in SOURCE_FILES))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_name_python_files_that_exist(page):
    assert unknown_files(page.read_text(encoding="utf-8")) == []


def test_an_unknown_file_is_found():
    assert unknown_files("`tape/backward.py`, `backward.py` and `gone/backward.py`") == [
        "gone/backward.py"
    ]


TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
CONTENTS = [DOCS / "index.md", DOCS / "reference" / "index.md", DOCS / "reference" / "examples.md"]


def pages_in_contents():
    """The pages that the tables of contents of the site name."""
    for page in CONTENTS:
        for block in TOCTREE.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                if line and not line.startswith(":") and "*" not in line:
                    yield (page.parent / f"{line}.md").resolve().relative_to(DOCS).as_posix()


def test_the_tables_of_contents_name_every_page_once():
    pages = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    assert sorted(["index.md", *pages_in_contents()]) == pages


def map_rows():
    """Question and files of each row of the map."""
    for line in (DOCS / "map.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "question":
            yield cells[0], re.findall(r"`([\w/]+(?:\.py|/))`", cells[1])


def test_the_map_names_files_that_exist():
    rows = list(map_rows())
    assert len(rows) >= 60
    assert [what for what, files in rows if not files] == []
    assert [file for _, files in rows for file in files if not (PACKAGE / file).exists()] == []


def test_the_map_has_an_entry_for_every_layer():
    layers = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {file.split("/")[0] for _, files in map_rows() for file in files} >= layers


def test_the_map_answers_each_question_once():
    questions = [what for what, _ in map_rows()]
    assert len(questions) == len(set(questions))
