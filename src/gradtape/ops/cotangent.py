"""Cotangents of all outputs of one application: absent ones, and what rules compute together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Cotangents(tuple[Any, ...]):
    """Cotangents of all outputs of one application, and what its rules have computed together."""

    made: dict[Any, Any]


def once(g: Any, compute: Callable[..., Any], *args: Any) -> Any:
    """`compute(g, *args)`, which several rules of a primitive need, by the first that asks."""
    made = g.__dict__.setdefault("made", {})
    if compute not in made:
        made[compute] = compute(g, *args)
    return made[compute]


NOTHING: dict[Any, Any] = {}  # a zero of each dtype, which cotangents of unused outputs repeat


def absent(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros for an output that nobody used: a single one, repeated."""
    if not shape:
        return dtype.type(0)
    zero = NOTHING.get(dtype)
    if zero is None:
        zero = NOTHING[dtype] = np.zeros((), dtype)
        zero.flags.writeable = False
    return np.ndarray(shape, dtype, zero, 0, (0,) * len(shape))


def is_absent(g: Any) -> bool:
    """Whether this is the cotangent of an output that nobody used."""
    raw = getattr(g, "_array", g)
    return raw.base is not None and raw.base is NOTHING.get(raw.dtype)
