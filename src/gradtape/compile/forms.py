"""Kernels as the planner likes them: the same values, spelled without filling buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def spread(g: Any, *, axis: tuple[int, ...], keepdims: bool, shape: tuple[int, ...]) -> Any:
    """The repetition stays a view, which elementwise calls then read unrepeated."""
    lead = g.shape[: g.ndim - len(shape) + (0 if keepdims else len(axis))]
    full = lead + shape
    if not keepdims and g.shape:
        sizes = list(full)
        for a in axis:
            sizes[a] = 1
        g = g.reshape(tuple(sizes))
    return np.broadcast_to(g, full)


FORMS: dict[str, Callable[..., Any]] = {"spread": spread}
