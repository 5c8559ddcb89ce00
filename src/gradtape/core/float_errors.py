"""Ignoring floating-point errors, as `np.errstate(all="ignore")` does, but faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

IGNORE_ALL: Any
set_float_errors: Callable[[Any], Any]
reset_float_errors: Callable[[Any], Any]

try:  # 1 µs faster than np.errstate, which does the same
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    IGNORE_ALL = _make_extobj(all="ignore")
    set_float_errors, reset_float_errors = _extobj_contextvar.set, _extobj_contextvar.reset
except ImportError:
    IGNORE_ALL = {"all": "ignore"}

    def set_float_errors(state: Any) -> Any:
        """Set the error state; return the previous one."""
        return np.seterr(**state)

    def reset_float_errors(state: Any) -> Any:
        """Restore a previous error state."""
        return np.seterr(**state)
