"""How assertions compare tensors and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.tape.indexed_slices import IndexedSlices


def to_numpy_value(thing: Any) -> Any:
    """The NumPy value of a tensor or variable; other values unchanged."""
    return thing.numpy() if hasattr(thing, "numpy") else thing


def to_numpy_array(thing: Any) -> Any:
    """Convert a tensor, or a nested structure of tensors, to one array."""
    if isinstance(thing, IndexedSlices):
        thing = convert(thing)
    array = np.array(
        nest.map_structure(to_numpy_value, thing)
        if nest.is_nested(thing)
        else to_numpy_value(thing)
    )
    return convert(array).numpy() if array.dtype.kind == "U" and array.ndim else array


def as_comparable(array: Any) -> Any:
    """Convert bfloat16 and other ml_dtypes arrays to float32, which NumPy can compare."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def is_structure(thing: Any) -> bool:
    """Whether a list holds more than numbers, so that its items are compared one by one."""
    return isinstance(thing, (list, tuple)) and not all(isinstance(t, (int, float)) for t in thing)


def describe_difference(what: str, left: Any, right: Any, bad: Any, msg: Any) -> str:
    """Describe where two arrays differ."""
    where = np.nonzero(np.atleast_1d(bad))
    lhs, rhs = np.atleast_1d(left)[where], np.atleast_1d(right)[where]
    return (
        f"{what} where = {[w.tolist() for w in where]!s:.300}, "
        f"lhs = {lhs!s:.300}, rhs = {rhs!s:.300}, "
        f"dtype = {left.dtype}, shape = {left.shape}. {msg or ''}"
    )
