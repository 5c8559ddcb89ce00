"""Python index expressions (`x[...]`), translated into the static key of `slice_`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import Tensor

Key = tuple[Any, ...]
WHOLE_AXIS = slice(None)


def make_slice_key(key: Any, shape: tuple[int, ...]) -> Key:
    """Translate an index expression into the `key` of `slice_`.

    The result has an int or a slice for each axis of `shape`, and None for each new axis.

    Raises:
        TypeError: if a part of the expression is not a valid index.
        InvalidArgumentError: if an index lies outside `shape`.
    """
    items = tuple(key) if isinstance(key, (list, tuple)) else (key,)
    entries = [normalize_index_item(item) for item in items]
    named = sum(1 for e in entries if e is not None and e is not Ellipsis)
    if named and not shape:
        raise InvalidArgumentError(
            "strided_slice: Attempting to slice scalar input. Drop the index."
        )
    if named > len(shape):
        raise InvalidArgumentError(
            f"strided_slice: Index out of range using input dim {len(shape)}; input has only "
            f"{len(shape)} dims."
        )
    dots = [i for i, e in enumerate(entries) if e is Ellipsis]
    if len(dots) > 1:
        raise InvalidArgumentError("strided_slice: Multiple ellipses in slice spec not allowed.")
    at = dots[0] if dots else len(entries)
    entries[at : at + len(dots)] = [WHOLE_AXIS] * (len(shape) - named)
    result: list[Any] = []
    axis = 0
    for entry in entries:
        if entry is None:
            result.append(None)
            continue
        result.append(check_index_entry(entry, axis, shape[axis]))
        axis += 1
    return tuple(result)


def normalize_index_item(item: Any) -> Any:
    """Convert the integers in one part of an index expression to Python ints."""
    if item is None or item is Ellipsis or type(item) is int:
        return item
    if isinstance(item, slice):
        parts = (item.start, item.stop, item.step)
        if all(part is None or type(part) is int for part in parts):
            return item
        return slice(*(part if part is None else index_as_int(part) for part in parts))
    return index_as_int(item)


def index_as_int(item: Any) -> int:
    """Convert an int, NumPy integer or scalar integer tensor to a Python int."""
    if isinstance(item, (int, np.integer)):
        return int(item)
    if isinstance(item, Tensor) or hasattr(type(item), "__tf_tensor__"):
        raw = convert(item)._array
        if raw.shape == () and raw.dtype in (np.dtype("int32"), np.dtype("int64")):
            return int(raw)
    elif isinstance(item, np.ndarray) and item.shape == () and item.dtype.kind in "iu":
        return int(item)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {item!r}"
    )


def check_index_entry(entry: Any, axis: int, size: int) -> Any:
    """Check one index or slice of `axis`; return an index counted from the front."""
    if isinstance(entry, slice):
        if entry.step == 0:
            raise InvalidArgumentError(f"strided_slice: strides[{axis}] must be non-zero.")
        return entry
    position = entry + size if entry < 0 else entry
    if not 0 <= position < size:
        raise InvalidArgumentError(
            f"strided_slice: slice index {entry} of dimension {axis} out of bounds. The dimension "
            f"has size {size}."
        )
    return position


def find_boolean_mask(key: Any) -> Any:
    """The boolean mask in an index expression, or None."""
    if isinstance(key, (bool, np.bool_)):
        return key
    if isinstance(key, np.ndarray):
        return key if key.dtype.kind == "b" else None
    if isinstance(key, Tensor) or hasattr(type(key), "__tf_tensor__"):
        tensor = convert(key)
        return tensor if tensor._array.dtype.kind == "b" else None
    return None
