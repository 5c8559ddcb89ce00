"""Initial cotangents of a backward pass: ones, and rows of an identity for jacobians."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.device.array import to_device_of
from gradtape.core.device.switch import once_in_use

FLOAT32_ONE = np.float32(1)


def make_ones(raw: Any) -> Any:
    """Make ones of the shape and dtype of a raw array."""
    if type(raw) is np.float32:
        return FLOAT32_ONE
    return np.ones(raw.shape, raw.dtype) if raw.shape else raw.dtype.type(1)


@once_in_use(make_ones)
def make_ones_on_device(raw: Any) -> Any:
    """Make ones like an array that may be on an accelerator, on the same device."""
    host = np.ones(raw.shape, raw.dtype) if raw.shape else raw.dtype.type(1)
    return to_device_of(host, raw)


def make_identity_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Make rows `start` to `stop` of the identity on arrays of `shape`: (stop - start, *shape)."""
    size = int(np.prod(shape))
    rows = np.zeros((stop - start, size), dtype)
    count = np.arange(stop - start)
    rows[count, start + count] = 1
    return rows.reshape(stop - start, *shape)


def make_batch_identity_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Repeat rows of the identity on `shape[1:]` along the batch axis: (stop - start, *shape)."""
    rows = make_identity_rows(start, stop, shape[1:], dtype)
    return np.broadcast_to(rows[:, None], (stop - start, *shape))
