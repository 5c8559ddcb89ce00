"""Hash tables: Python dictionaries on the host, behind tf.lookup."""

from __future__ import annotations

from collections import deque
from itertools import repeat
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.errors import FailedPreconditionError, InvalidArgumentError, public
from gradtape.core.lock import Lock
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.state.checkpoint.trackable import TrackableResource


class TableEntries:
    """The contents of a table: Python keys and values; a value that is a row is an array.

    Attributes:
        values_by_key: the value of each key.
        is_filled: whether the table was filled.
    """

    def __init__(self, dtype: Any, row_shape: tuple[int, ...] = ()) -> None:
        """Start empty; a value has this NumPy dtype and shape."""
        self.dtype = dtype
        self.row_shape = row_shape
        self.values_by_key: dict[Any, Any] = {}
        self.is_filled = False
        self.lock = Lock()

    def as_list(self, values: Any) -> list[Any]:
        """An array of values as a list of values."""
        rows = np.reshape(values, (-1, *self.row_shape))
        return list(rows) if self.row_shape else rows.tolist()

    def to_array(self, values: list[Any], shape: tuple[int, ...]) -> Any:
        """The array of values for keys of this shape."""
        out = np.empty((len(values), *self.row_shape), self.dtype)
        if values:
            out[...] = values
        whole = out.reshape(shape + self.row_shape)
        return whole if whole.shape else whole[()]

    def look_up(self, keys: Any, default: Any) -> Any:
        """The values of raw keys. Missing keys get `default`: one value for all, or one for each.

        Raises:
            FailedPreconditionError: if the table was never filled.
        """
        if not self.is_filled:
            raise FailedPreconditionError("lookup: Table not initialized.")
        flat, others = np.ravel(keys).tolist(), self.as_list(default)
        each = repeat(others[0]) if len(others) == 1 else others
        return self.to_array(list(map(self.values_by_key.get, flat, each)), np.shape(keys))

    def to_pairs(self, keys: Any, values: Any) -> tuple[list[Any], list[Any]]:
        """Raw keys and values as lists of Python values.

        Raises:
            InvalidArgumentError: if their shapes do not match.
        """
        wanted = np.shape(keys) + self.row_shape
        if np.shape(values) != wanted:
            raise InvalidArgumentError(
                f"lookup: Expected shape {list(wanted)} for value, got {list(np.shape(values))}."
            )
        return np.ravel(keys).tolist(), self.as_list(values)

    def fill(self, keys: Any, values: Any) -> None:
        """Set the entries of an immutable table.

        Raises:
            FailedPreconditionError: if a key has two different values.
        """
        names, rows = self.to_pairs(keys, values)
        entries = dict(zip(names, rows, strict=True))
        if len(entries) < len(names):
            for name, row in zip(names, rows, strict=True):
                if not np.array_equal(entries[name], row):
                    raise FailedPreconditionError(
                        f"lookup: HashTable has different value for same key. Key {name!r} has "
                        f"{entries[name]} and trying to add value {row}."
                    )
        self.values_by_key, self.is_filled = entries, True

    def insert(self, keys: Any, values: Any) -> None:
        """Add or replace entries."""
        entries = dict(zip(*self.to_pairs(keys, values), strict=True))
        with self.lock:
            self.values_by_key.update(entries)

    def replace(self, keys: Any, values: Any) -> None:
        """Replace all entries."""
        entries = dict(zip(*self.to_pairs(keys, values), strict=True))
        with self.lock:
            self.values_by_key = entries

    def remove(self, keys: Any) -> None:
        """Remove entries; missing keys are ignored."""
        removed = np.ravel(keys).tolist()
        with self.lock:
            deque(map(self.values_by_key.pop, removed, repeat(None)), maxlen=0)


class LookupTable(TrackableResource):
    """Base class of lookup tables."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str) -> None:
        """Create an empty table."""
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._default = convert(default_value, self._value_dtype)
        self._entries = TableEntries(self._default._array.dtype, self._default._array.shape)
        self._name = name

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._name

    @public
    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values, as two tensors.

        Args:
            name: has no effect here.

        Returns:
            A pair of tensors.
        """
        held = dict(self._entries.values_by_key)
        keys = np.array(list(held), self._key_dtype.as_numpy_dtype)
        return make_tensor(keys), make_tensor(
            self._entries.to_array(list(held.values()), keys.shape)
        )


def check_keys(keys: Any, dtype: DType) -> Tensor:
    """Convert keys to a tensor of `dtype`.

    Raises:
        TypeError: if they have another dtype.
    """
    tensor = keys if isinstance(keys, Tensor) else convert(keys)
    if tensor.dtype is not dtype:
        raise TypeError(f"Dtype of argument `keys` must be {dtype!r}, received: {tensor.dtype!r}")
    return tensor
