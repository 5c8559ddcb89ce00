"""The example on the page about tf.function shows what it does."""

import contextlib
import io
import re
from pathlib import Path

import gradtape as tf

PAGE = Path(__file__).parents[2] / "docs" / "function.md"


def test_the_page_shows_what_its_example_prints():
    text = PAGE.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    shown = "".join(re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, str(PAGE), "exec"), {"tf": tf})
    assert re.sub(r"key=\d+", "key=…", said.getvalue()) == shown
