"""Cheap checks that arrays hold only finite numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradtape.core.lazy_array import materialize


def is_finite(value: Any) -> bool:
    """Whether a raw array, a tensor, or a structure of them holds only finite numbers."""
    array = getattr(value, "_array", None)
    if type(array) is np.ndarray and array.dtype.kind == "f":
        return is_finite_array(array)
    if value is None:
        return True
    if isinstance(value, dict):
        return all_finite(value.values())
    if isinstance(value, (tuple, list)):
        return all_finite(value)
    if hasattr(value, "values") and hasattr(value, "indices"):
        return is_finite(value.values)
    array = getattr(value, "_array", value)
    dtype = getattr(array, "dtype", None)
    if dtype is None or dtype.kind not in "fcV":
        return not isinstance(array, float) or bool(np.isfinite(array))
    return is_finite_array(np.asarray(materialize(array)))


def is_finite_array(array: Any) -> bool:
    """Whether an array of floats holds only finite numbers; one BLAS call if it does."""
    if array.size > 64 and array.dtype.char in "fdFD":
        flat = array.ravel(order="K")
        if np.isfinite(np.vdot(flat, flat)):
            return True
    if array.dtype.kind == "V" or array.dtype.itemsize == 2:
        array = array.astype(np.float32)
    return bool(np.isfinite(array).all())


def all_finite(values: Iterable[Any]) -> bool:
    """Whether all values hold only finite numbers."""
    return all(is_finite(value) for value in values)
