"""The glossary is short, sorted, and lists terms that code or pages use."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "glossary.md"
ENTRIES = re.findall(
    r"^\| ([a-z][\w\- ]*) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)
TERMS = [term for term, _ in ENTRIES if term != "term"]


@cache
def used_text():
    """Sources and pages in one string, without the glossary itself."""
    paths = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "CONTRIBUTING.md",
    ]
    text = " ".join(path.read_text(encoding="utf-8") for path in paths if path != PAGE)
    return re.sub(r"[\s_]+", " ", text.lower())


def test_there_are_fewer_than_forty_terms():
    assert 20 < len(TERMS) < 40


def test_terms_are_sorted():
    assert sorted(TERMS) == TERMS


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used(term):
    assert re.search(rf"\b{re.escape(term)}", used_text())


@pytest.mark.parametrize(("term", "meaning"), [entry for entry in ENTRIES if entry[0] != "term"])
def test_a_meaning_is_one_sentence(term, meaning):
    assert meaning.endswith(".")
    assert 5 <= len(meaning.split()) <= 25, term
