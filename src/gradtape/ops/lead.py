"""Cotangents to start with (ones, unit rows), and a loop for rules that cannot be batched."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.ops.shape import reshape, shape_of, stack, take_one


def ones(raw: Any) -> Any:
    """Ones of the shape and dtype of a raw array."""
    return np.ones(raw.shape, raw.dtype) if raw.shape else raw.dtype.type(1)


def unit_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Rows `start` to `stop` of the identity on arrays of `shape`: (stop - start, *shape)."""
    size = int(np.prod(shape))
    rows = np.zeros((stop - start, size), dtype)
    count = np.arange(stop - start)
    rows[count, start + count] = 1
    return rows.reshape(stop - start, *shape)


def batch_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """The same for rows of a batch: (stop - start, *shape), alike along `shape`'s first axis."""
    rows = unit_rows(start, stop, shape[1:], dtype)
    return np.broadcast_to(rows[:, None], (stop - start, *shape))


def each(function: Callable[[Any], Any], g: Any, lead: int) -> Any:
    """Apply `function` to every element of the first `lead` axes of `g` and stack the results."""
    shape = shape_of(g)
    count = int(np.prod(shape[:lead]))
    flat = reshape(g, shape=(count, *shape[lead:]), rank=len(shape))
    axis = lead - len(shape) - 1
    results = [function(take_one(flat, axis=axis, i=i)) for i in range(count)]
    if not results:
        results = [function(np.zeros(shape[lead:], dtype_of(g)))]
        return np.zeros((*shape[:lead], *shape_of(results[0])), dtype_of(results[0]))
    inner = shape_of(results[0])
    together = stack(*results, axis=-len(inner) - 1)
    return reshape(together, shape=shape[:lead] + inner, rank=len(inner) + 1)


def dtype_of(x: Any) -> Any:
    """NumPy dtype of a raw array or Tensor."""
    return getattr(x, "_array", x).dtype


def per_lead(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Let a rule that cannot be batched see one cotangent at a time. It must ask for `out_spec`."""
    names = tuple(inspect.signature(rule).parameters)[1:]
    position = names.index("out_spec")

    @functools.wraps(rule)
    def looped(g: Any, *needs: Any) -> Any:
        lead = len(shape_of(g)) - len(needs[position].shape)
        return each(lambda one: rule(one, *needs), g, lead) if lead else rule(g, *needs)

    return looped
