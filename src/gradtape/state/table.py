"""Hash tables: keys to values, in the hands of the host."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from gradtape.core.errors import FailedPreconditionError, InvalidArgumentError


class Entries:
    """What a table holds: each key, as a Python value, with the raw row of its value."""

    def __init__(self, dtype: Any, row_shape: tuple[int, ...] = ()) -> None:
        """None yet, of this NumPy dtype; a value has this shape."""
        self.dtype = dtype
        self.row_shape = row_shape
        self.held: dict[Any, Any] = {}
        self.ready = False
        self.lock = threading.Lock()

    def find(self, keys: Any, default: Any) -> Any:
        """The values of raw keys; `default`, one for all or one for each, where there is none.

        Raises:
            FailedPreconditionError: if the table was never filled.
        """
        if not self.ready:
            raise FailedPreconditionError("lookup: Table not initialized.")
        flat = np.ravel(keys)
        out = np.empty((flat.size, *self.row_shape), self.dtype)
        out[...] = np.reshape(default, (-1, *self.row_shape))
        found = list(map(self.held.get, flat.tolist()))
        there = [i for i, value in enumerate(found) if value is not None]
        if there:
            out[there] = np.stack([value for value in found if value is not None])
        whole = out.reshape(np.shape(keys) + self.row_shape)
        return whole if whole.shape else whole[()]

    def pairs(self, keys: Any, values: Any) -> dict[Any, Any]:
        """Raw keys and values as entries.

        Raises:
            InvalidArgumentError: if their shapes do not fit.
        """
        wanted = np.shape(keys) + self.row_shape
        if np.shape(values) != wanted:
            raise InvalidArgumentError(
                f"lookup: Expected shape {list(wanted)} for value, got {list(np.shape(values))}."
            )
        rows = np.reshape(values, (-1, *self.row_shape))
        return dict(zip(np.ravel(keys).tolist(), map(np.asarray, rows), strict=True))

    def fill(self, keys: Any, values: Any) -> None:
        """Give a table that does not change its entries.

        Raises:
            FailedPreconditionError: if a key has two different values.
        """
        entries = self.pairs(keys, values)
        rows = np.reshape(values, (-1, *self.row_shape))
        for key, value in zip(np.ravel(keys).tolist(), rows, strict=True):
            if not np.array_equal(entries[key], value):
                raise FailedPreconditionError(
                    f"lookup: HashTable has different value for same key. Key {key!r} has "
                    f"{entries[key]} and trying to add value {value}."
                )
        self.held, self.ready = entries, True

    def insert(self, keys: Any, values: Any) -> None:
        """Add entries, or change them."""
        entries = self.pairs(keys, values)
        with self.lock:
            self.held = self.held | entries

    def remove(self, keys: Any) -> None:
        """Take entries out; keys without one do not matter."""
        gone = set(np.ravel(keys).tolist())
        with self.lock:
            self.held = {key: value for key, value in self.held.items() if key not in gone}

    def listed(self, key_dtype: Any) -> tuple[Any, Any]:
        """All keys and values."""
        held = self.held
        keys = np.array(list(held), key_dtype)
        if not held:
            return keys, np.empty((0, *self.row_shape), self.dtype)
        values = np.empty((len(held), *self.row_shape), self.dtype)
        values[...] = np.stack(list(held.values()))
        return keys, values
