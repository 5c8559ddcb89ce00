"""Kernels that make arrays from sizes, and arithmetic of integers that follow from unknown sizes.

`tf.shape(x)` of unknown sizes is an array of symbolic sizes. Integer ops on such arrays give arrays
of symbolic sizes, so that `tf.reshape(y, [tf.shape(x)[0], -1])` stays symbolic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.dims import Dim
from gradtape.core.primitive import Spec
from gradtape.core.size_function import max_size, min_size

MAX_FOLDED = 64  # elements of an array of sizes


def size_array(*, sizes: tuple[int, ...], shape: tuple[int, ...], dtype: Any) -> Any:
    """Integers that follow from sizes."""
    made = np.array(sizes, dtype).reshape(shape)
    return made if shape else made[()]


def fill_array(*, value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array whose elements are all `value`."""
    return np.full(shape, value, dtype)


def range_array(*, start: int, stop: int, step: int, dtype: Any) -> Any:
    """The integers from `start` to `stop` in steps."""
    return np.arange(start, stop, step, dtype)


def infer_static_shape(*, shape: Any, dtype: Any, **static: Any) -> Spec:
    """The static shape and dtype."""
    return Spec((tuple(shape), np.dtype(dtype)))


def infer_range_shape(*, start: Any, stop: Any, step: Any, dtype: Any) -> Spec:
    """One axis, with an element for each step."""
    return Spec(((max_size((stop - start + step - 1) // step, 0),), np.dtype(dtype)))


_max_sizes = np.frompyfunc(max_size, 2, 1)
_min_sizes = np.frompyfunc(min_size, 2, 1)


def _reduce_by(ufunc: Any) -> Callable[..., Any]:
    return lambda x, axis, keepdims: ufunc.reduce(x, axis=axis, keepdims=keepdims)


def _take(x: Any, indices: Any, axis: int) -> Any:
    return x.take(np.asarray(indices, np.int64), axis=axis)


FOLDS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "cast": lambda x, dtype: x,
    "concat": lambda *xs, axis: np.concatenate(xs, axis),
    "discretize": lambda x, dtype: x,
    "floordiv_integers": np.floor_divide,
    "floormod_integers": np.remainder,
    "gather": _take,
    "identity": lambda x: x,
    "maximum": _max_sizes,
    "minimum": _min_sizes,
    "multiply": np.multiply,
    "negative": np.negative,
    "reduce_max": _reduce_by(_max_sizes),
    "reduce_prod": _reduce_by(np.multiply),
    "reduce_sum": _reduce_by(np.add),
    "reshape": lambda x, shape, rank: x.reshape(shape),
    "slice_": lambda x, key, rank: x[key],
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "stop_gradient": lambda x: x,
    "subtract": np.subtract,
    "take": _take,
    "unstack": lambda x, axis: tuple(np.moveaxis(x, axis, 0)),
}
"""By the name of a primitive, the same function of arrays of sizes."""


def fold_sizes(op: Any, arrays: list[Any], static: dict[str, Any]) -> Any:
    """The results of a primitive on arrays of ints and symbolic sizes, as a tuple; else None."""
    fold = FOLDS.get(op.name)
    if fold is None or sum(a.size for a in arrays) > MAX_FOLDED:
        return None
    try:
        made = fold(*arrays, **static)
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return None
    results = made if op.outputs else (made,)
    return tuple([np.asarray(one, object) for one in results])


def as_size_array(value: Any) -> Any:
    """An operand as an array of ints and symbolic sizes; None if it is not an integer."""
    if type(value) is Dim:
        return np.array(value, object)
    dims = getattr(value, "dims", None)
    if dims is not None:
        return dims
    if hasattr(value, "number"):  # a value of a trace
        return None
    raw = np.asarray(value)
    if raw.dtype.kind not in "iu" or raw.size > MAX_FOLDED:
        return None
    return raw.astype(object)


def has_only_numbers(array: Any) -> bool:
    """Whether an array of sizes has no symbolic ones."""
    return not any(type(size) is Dim for size in array.flat)


def make_size_array(sizes: Any) -> Any:
    """An array of these sizes."""
    made = np.empty(len(sizes), object)
    made[:] = sizes
    return made


def make_integers(array: Any, dtype: Any) -> Any:
    """An array of sizes without symbolic ones as a raw array."""
    made = array.astype(dtype)
    return made if made.ndim else made[()]


def is_integer_dtype(dtype: Any) -> bool:
    """Whether a dtype is of integers."""
    return np.dtype(dtype).kind in "iu"
