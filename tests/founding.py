"""The founding documents in `seeds/`: parse their statements, and run their examples."""

import re
import sys
import textwrap
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parent / "seeds"
HEADING = re.compile(r"#{2,3} (?:\d+\. )?(\w+)$|\*\*(\w+)\*\*$")
ITEM = re.compile(r"(?:\d+\.|[-*]) (.+)")
TITLE = re.compile(r"# |\*\*TensorFlow")


def statements_of(number, text):
    """Statements of a document, in order, by id.

    The first under "Pattern" is `0.pattern.1`, its example `0.pattern.1.code`. Sentences outside
    the lists are `0.text.1` and so on.
    """
    found, section, count, texts = {}, "text", 0, 0
    # Every second piece is an example; it starts with its language.
    for i, piece in enumerate(text.split("```")):
        if i % 2:
            found[f"{number}.{section}.{count}.code"] = textwrap.dedent(
                piece.removeprefix("python")
            )
            continue
        for line in filter(None, map(str.strip, piece.splitlines())):
            if heading := HEADING.match(line):
                section, count = (heading[1] or heading[2]).lower(), 0
            elif item := ITEM.match(line):
                count += 1
                found[f"{number}.{section}.{count}"] = item[1]
            elif not TITLE.match(line):
                texts += 1
                found[f"{number}.text.{texts}"] = line
    return found


@cache
def statements():
    """Statements and examples of all documents by id."""
    found = {}
    for number, path in enumerate(sorted(FOLDER.glob("*.txt"))):
        found |= statements_of(number, path.read_text(encoding="utf-8"))
    return found


def run(example, tf, filled=None, **names):
    """Run an example exactly as written in its document.

    Args:
        example: its id.
        tf: the module that it calls `tf`, or imports as `tensorflow`.
        filled: the code that replaces its `...`, if it has one.
        names: names that the example uses and does not define.

    Returns:
        All names that the example defines, as attributes.
    """
    source = statements()[example]
    if filled is not None:
        assert source.count("...") == 1
        source = source.replace("...", filled)
    namespace = {"tf": tf, **names}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tensorflow", tf)
        exec(compile(source, f"<{example}>", "exec"), namespace)
    return SimpleNamespace(**namespace)
