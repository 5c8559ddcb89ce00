"""Initial cotangents of a backward pass: ones, and rows of an identity for jacobians."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.ports import devices
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import with_shape
from gradtape.devices.array import to_device_of

FLOAT32_ONE = np.float32(1)


def make_ones(raw: Any) -> Any:
    """Make ones of the shape and dtype of a raw array, on its device."""
    if type(raw) is np.float32:
        return FLOAT32_ONE
    ones = np.ones(raw.shape, raw.dtype) if raw.shape else raw.dtype.type(1)
    return to_device_of(ones, raw) if devices.active else ones


def identity_rows_shape(start: Any, stop: Any, shape: Any, dtype: Any) -> Spec:
    """Result rule of rows of an identity."""
    return Spec(((stop - start, *shape), np.dtype(dtype)))


@with_shape(identity_rows_shape)
def make_identity_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Make rows `start` to `stop` of the identity on arrays of `shape`: (stop - start, *shape)."""
    size = int(np.prod(shape))
    rows = np.zeros((stop - start, size), dtype)
    count = np.arange(stop - start)
    rows[count, start + count] = 1
    return rows.reshape(stop - start, *shape)


@with_shape(identity_rows_shape)
def make_batch_identity_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Repeat rows of the identity on `shape[1:]` along the batch axis: (stop - start, *shape)."""
    rows = make_identity_rows(start, stop, shape[1:], dtype)
    return np.broadcast_to(rows[:, None], (stop - start, *shape))
