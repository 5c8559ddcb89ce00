"""Cotangents: their sums, the zeros of unused outputs, and work shared between rules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np


class Cotangents(tuple[Any, ...]):
    """Cotangents of all outputs of one op call, with a cache that its rules share."""

    made: dict[Any, Any]


def once(g: Any, compute: Callable[..., Any], *args: Any) -> Any:
    """Compute `compute(g, *args)` for the first rule that asks; other rules of the op reuse it."""
    made = g.__dict__.setdefault("made", {})
    if compute not in made:
        made[compute] = compute(g, *args)
    return made[compute]


NOTHING: dict[Any, Any] = {}  # one zero per dtype; the cotangents of unused outputs are views of it


def absent(shape: tuple[int, ...], dtype: Any) -> Any:
    """Make the zero cotangent of an unused output: a view that repeats one zero."""
    if not shape:
        return dtype.type(0)
    zero = NOTHING.get(dtype)
    if zero is None:
        zero = NOTHING[dtype] = np.zeros((), dtype)
        zero.flags.writeable = False
    return np.ndarray(shape, dtype, zero, 0, (0,) * len(shape))


def is_absent(g: Any) -> bool:
    """Whether `g` is the zero cotangent of an unused output."""
    raw = getattr(g, "_array", g)
    return raw.base is not None and raw.base is NOTHING.get(raw.dtype)


# -- sums ------------------------------------------------------------------------------------------

LARGE = 4096  # elements from which adding in place pays for the check of references


def references_to_a_sum() -> int:
    """Measure `getrefcount` of an array that only a dict and its caller's variable refer to."""

    def count(before: Any) -> int:
        return getrefcount(before)

    grads = {0: np.empty(1)}
    before = grads.get(0)
    return count(before)


# Without the GIL another thread may take a reference at any time, so the count proves nothing.
ALONE = references_to_a_sum() if getattr(sys, "_is_gil_enabled", lambda: True)() else -1


def add_up(before: Any, t: Any) -> Any:
    """Compute `before + t`, in place if `before` is large and only the backward pass refers to it.

    The caller must refer to `before` by one variable and by the dict of cotangents.
    """
    if (
        type(before) is np.ndarray
        and before.size >= LARGE
        and type(t) is np.ndarray
        and before.shape == t.shape
        and before.dtype is t.dtype
        and getrefcount(before) == ALONE
        and before.base is None
        and before.flags.writeable
    ):
        return np.add(before, t, out=before)
    return before + t
