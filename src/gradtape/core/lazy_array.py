"""Lazy arrays: shape and dtype are known, and `seen` fetches the value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class LazyArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Takes the place of a raw array; any access to the value calls `seen`."""

    __slots__ = ("dtype", "shape")

    shape: tuple[int, ...]
    dtype: Any

    def value(self) -> Any:
        """The raw value."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size * int(self.dtype.itemsize)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The value as an array; a copy if `copy` is true."""
        return np.array(self.value(), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a ufunc to the values."""
        return getattr(ufunc, method)(*map(materialize, inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a NumPy function to the values; `np.shape` and the like need no value."""
        fact = SHAPE_FUNCTIONS.get(func)
        if fact and len(args) == 1 and not kwargs:
            return getattr(self, fact)
        return func(*materialize(args), **materialize(kwargs))

    def __getattr__(self, name: str) -> Any:
        """Get any other attribute from the value, except those that would bypass `__array__`."""
        if name in ("__array_interface__", "__array_struct__"):  # they describe bfloat16 as bytes
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __getitem__(self, key: Any) -> Any:
        """Elements of the value."""
        return self.value()[materialize(key)]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the value."""
        return iter(self.value())

    def __len__(self) -> int:
        """The size of the first axis."""
        return self.shape[0]

    def __bool__(self) -> bool:
        """The truth of the value."""
        return bool(self.value())

    def __int__(self) -> int:
        """The value as an int."""
        return int(self.value())

    def __float__(self) -> float:
        """The value as a float."""
        return float(self.value())

    def __complex__(self) -> complex:
        """The value as a complex number."""
        return complex(self.value())

    def __index__(self) -> int:
        """The value as an index."""
        return int(self.value().__index__())


SHAPE_FUNCTIONS = {np.shape: "shape", np.ndim: "ndim", np.size: "size"}  # these need no value


def materialize(value: Any) -> Any:
    """Replace lazy arrays by their values, also in nested tuples, lists and dicts."""
    if isinstance(value, LazyArray):
        return value.value()
    if isinstance(value, (tuple, list)) and any(
        isinstance(v, (LazyArray, tuple, list)) for v in value
    ):
        return type(value)(materialize(v) for v in value)
    if isinstance(value, dict):
        return {key: materialize(v) for key, v in value.items()}
    return value
