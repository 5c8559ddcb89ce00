"""Cotangents: their sums, the zeros of unused outputs, and work shared between rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.ownership import COTANGENT_REFERENCES, is_exclusive


class Cotangents(tuple[Any, ...]):
    """Cotangents of all outputs of one op call, with a cache that its rules share."""

    shared: dict[Any, Any]


def compute_once(g: Any, compute: Callable[..., Any], *args: Any) -> Any:
    """Compute `compute(g, *args)` for the first rule that asks; other rules of the op reuse it."""
    made = g.__dict__.setdefault("made", {})
    if compute not in made:
        made[compute] = compute(g, *args)
    return made[compute]


ZERO_OF_DTYPE: dict[
    Any, Any
] = {}  # one zero per dtype; the cotangents of unused outputs are views of it


def make_absent_cotangent(shape: tuple[int, ...], dtype: Any) -> Any:
    """Make the zero cotangent of an unused output: a view that repeats one zero."""
    if not shape:
        return dtype.type(0)
    zero = ZERO_OF_DTYPE.get(dtype)
    if zero is None:
        zero = ZERO_OF_DTYPE[dtype] = np.zeros((), dtype)
        zero.flags.writeable = False
    return np.ndarray(shape, dtype, zero, 0, (0,) * len(shape))


def is_absent_cotangent(g: Any) -> bool:
    """Whether `g` is the zero cotangent of an unused output."""
    raw = getattr(g, "_array", g)
    if type(raw) is not np.ndarray:  # a lazy array would have to read its value
        return False
    return raw.base is not None and raw.base is ZERO_OF_DTYPE.get(raw.dtype)


IN_PLACE_MIN_SIZE = 4096  # elements from which adding in place pays for the check of references


def accumulate(before: Any, t: Any) -> Any:
    """Compute `before + t`, in place if `before` is large and only the backward pass refers to it.

    The caller must refer to `before` by one variable and by the dict of cotangents.
    """
    if (
        type(before) is np.ndarray
        and before.size >= IN_PLACE_MIN_SIZE
        and type(t) is np.ndarray
        and before.shape == t.shape
        and before.dtype is t.dtype
        and is_exclusive(before, COTANGENT_REFERENCES)
    ):
        return np.add(before, t, out=before)
    return before + t
