"""What all tests share."""

import re


def pytest_make_parametrize_id(config, val, argname):
    """Leave addresses out of test ids: every worker must collect the same ones."""
    text = repr(val)
    return re.sub(r" at 0x[0-9a-f]+", "", text) if " at 0x" in text and len(text) < 200 else None
