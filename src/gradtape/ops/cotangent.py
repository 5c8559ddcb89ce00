"""Cotangents: sums of them, and of all outputs of one application those that nobody gave."""

from __future__ import annotations

import sys
from collections.abc import Callable
from sys import getrefcount
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


# -- sums ------------------------------------------------------------------------------------------

LARGE = 4096  # elements from which it is worth asking who else holds a cotangent


def references_to_a_sum() -> int:
    """What `getrefcount` says, in a function, of an array that its caller took out of a dict."""

    def count(before: Any) -> int:
        return getrefcount(before)

    grads = {0: np.empty(1)}
    before = grads.get(0)
    return count(before)


# Without a lock around the interpreter a count says nothing about the next moment.
ALONE = references_to_a_sum() if getattr(sys, "_is_gil_enabled", lambda: True)() else -1


def add_up(before: Any, t: Any) -> Any:
    """`before + t`, in the array of `before` if it is large and only the sweep holds it.

    The caller has `before` in one variable, and in the dict of cotangents.
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
