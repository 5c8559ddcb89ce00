"""The output of the example in docs/function.md."""

import contextlib
import io
import re
from pathlib import Path

import gradtape as tf

PAGE = Path(__file__).parents[2] / "docs" / "function.md"


def test_the_example_prints_the_output_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    expected = "".join(re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {"tf": tf})
    assert re.sub(r"key=\d+", "key=…", printed.getvalue()) == expected
