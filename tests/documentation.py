"""The examples in `docs/` as doctests, for gradtape and (in `tests/parity`) for TensorFlow."""

import doctest
import re
from pathlib import Path

import numpy as np

PAGES = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROMPT = ">>> "


def pages():
    """Pages with examples, by name: the examples of a page build on each other."""
    found = {}
    for path in sorted(PAGES.rglob("*.md")):
        blocks = [b for b in BLOCK.findall(path.read_text(encoding="utf-8")) if PROMPT in b]
        if blocks:
            found[path.relative_to(PAGES).as_posix()] = "\n".join(blocks)
    return found


def failures(text, tf):
    """The failures of the examples in `text`, run with this module as `tf`."""
    names = {"tf": tf, tf.__name__: tf, "np": np}
    test = doctest.DocTestParser().get_doctest(text, names, "example", None, 0)
    said = []
    with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):  # the default
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)
