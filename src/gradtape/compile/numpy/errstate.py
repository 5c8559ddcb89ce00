"""Computing in silence: what `np.errstate` does, without making the same state at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SILENT: Any
hush: Callable[[Any], Any]
unhush: Callable[[Any], Any]

try:  # a microsecond quicker than the public form, which does just this
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    SILENT = _make_extobj(all="ignore")
    hush, unhush = _extobj_contextvar.set, _extobj_contextvar.reset
except ImportError:
    SILENT = {"all": "ignore"}

    def hush(state: Any) -> Any:
        """Compute in silence from here on; what there was before."""
        return np.seterr(**state)

    def unhush(state: Any) -> Any:
        """Warn again as before."""
        return np.seterr(**state)
