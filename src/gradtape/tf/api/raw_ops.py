"""tf.raw_ops: ops of TensorFlow's registry by their names, with keyword arguments only."""

from __future__ import annotations

from difflib import get_close_matches as _get_close_matches
from typing import Any as _Any

from gradtape.tf.raw_ops.registry import make_raw_op as _make_raw_op
from gradtape.tf.raw_ops.registry import read_rows as _read_rows


def __dir__() -> list[str]:
    """The names of all ops."""
    return sorted(_read_rows())


def __getattr__(name: str) -> _Any:
    """Make the function of an op when it is first used."""
    op = _read_rows().get(name)
    if op is None:
        close = _get_close_matches(name, _read_rows(), 3)
        hint = f" Did you mean {', '.join(close)}?" if close else ""
        raise AttributeError(
            f"module 'tf.raw_ops' has no attribute {name!r}: gradtape does not have this op."
            f"{hint} dir(tf.raw_ops) lists the ops.",
            name=name,
        )
    function = globals()[name] = _make_raw_op(op)
    return function
