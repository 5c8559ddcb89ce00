"""tf.lookup.experimental: mutable tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import INT64
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, describe_as
from gradtape.graph.side_effect import side_effect
from gradtape.state.hash_table import LookupTable, TableEntries, check_keys

__all__ = ["DenseHashTable", "MutableHashTable"]

ENTRY_NAMES = ("table-keys", "table-values")  # in a checkpoint, as in TensorFlow


def look_up(keys: Tensor, default: Tensor, entries: TableEntries) -> Tensor:
    """Look up keys in the current entries."""
    return make_tensor(entries.look_up(keys._array, default._array))


def describe_values(keys: Tensor, default: Tensor, entries: TableEntries) -> Spec:
    """Result rule of `look_up`."""
    return Spec(((*keys._array.shape, *entries.row_shape), default._array.dtype))


def count_entries(entries: TableEntries) -> Tensor:
    """Count the current entries."""
    return make_tensor(np.int64(len(entries.values_by_key)))


# `draws=True`: compiled functions call these each time, because the table may have changed.
look_up_on_host = call_on_host(describe_values, draws=True)(look_up)
count_entries_on_host = call_on_host(describe_as(dtype=INT64), draws=True)(count_entries)


@side_effect()
def insert_entries(keys: Tensor, values: Tensor, entries: TableEntries) -> None:
    """Add entries."""
    entries.insert(keys._array, values._array)


@side_effect()
def remove_entries(keys: Tensor, entries: TableEntries) -> None:
    """Remove entries."""
    entries.remove(keys._array)


class MutableHashTable(LookupTable):
    """A table whose entries can be added, changed and removed.

    Args:
        key_dtype: the dtype of keys.
        value_dtype: the dtype of values.
        default_value: the value of missing keys; all values have its shape.
        name: of the table.
        checkpoint: has no effect here: entries are not part of checkpoints.
        experimental_is_anonymous: has no effect here.

    Example:
        >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        >>> table.insert(tf.constant(["a"]), tf.constant([5], tf.int64))
        >>> table.lookup(tf.constant(["a", "b"])).numpy()
        array([ 5, -1])
    """

    @public
    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """An empty table."""
        super().__init__(key_dtype, value_dtype, default_value, name)
        self._entries.is_filled = True

    @public
    def size(self, name: str | None = None) -> Tensor:
        """How many entries there are.

        Args:
            name: has no effect here.

        Returns:
            An int64 scalar.
        """
        return count_entries_on_host(self._entries)

    @public
    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Add entries, or change existing ones.

        Args:
            keys: a tensor of keys.
            values: a tensor of values.
            name: has no effect here.

        Returns:
            None.

        Raises:
            InvalidArgumentError: if the shapes do not match.
        """
        tensor = self._check_keys(convert(keys, self._key_dtype))
        insert_entries(tensor, convert(values, self._value_dtype), self._entries)

    @public
    def remove(self, keys: Any, name: str | None = None) -> None:
        """Remove entries; missing keys are ignored.

        Args:
            keys: a tensor of keys.
            name: has no effect here.

        Returns:
            None.

        Raises:
            TypeError: if the keys are of another dtype.
        """
        remove_entries(self._check_keys(check_keys(keys, self._key_dtype)), self._entries)

    erase = remove

    @public
    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """The values of `keys`.

        Args:
            keys: a tensor, or a ragged one.
            dynamic_default_values: a default value, or one for each key.
            name: has no effect here.

        Returns:
            A tensor of values.
        """
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self.lookup(keys.flat_values, dynamic_default_values))
        given = dynamic_default_values
        default = self._default if given is None else convert(given, self._value_dtype)
        return look_up_on_host(
            self._check_keys(convert(keys, self._key_dtype)), default, self._entries
        )

    __getitem__ = lookup

    def _check_keys(self, keys: Tensor) -> Tensor:
        return keys

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The entries, for a checkpoint."""
        return dict(zip(ENTRY_NAMES, self.export(), strict=True))

    def _check_restored_tensors(self, tensors: dict[str, Any]) -> None:
        """Raise if a saved table does not have one value of the right shape for each key."""
        saved: list[Any] = [tensors.get(name) for name in ENTRY_NAMES]
        shapes = ["nothing" if raw is None else list(np.shape(raw)) for raw in saved]
        row_shape = self._entries.row_shape
        if any(raw is None for raw in saved) or np.size(saved[1]) != np.size(saved[0]) * math.prod(
            row_shape
        ):
            raise InvalidArgumentError(
                f"restore: a table must have one value of shape {list(row_shape)} for each key. "
                f"Received keys of shape {shapes[0]} and values of shape {shapes[1]}. Restore the "
                "table from a checkpoint of the same kind of table."
            )

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Replace all entries."""
        keys, values = (restored_tensors[name]._array for name in ENTRY_NAMES)
        keys = np.ravel(keys)
        self._entries.replace(keys, np.reshape(values, (len(keys), *self._entries.row_shape)))


class DenseHashTable(MutableHashTable):
    """A mutable table with two reserved keys.

    Args:
        key_dtype: the dtype of keys.
        value_dtype: the dtype of values.
        default_value: the value of missing keys.
        empty_key: a key that programs must not use.
        deleted_key: another key that programs must not use.
        initial_num_buckets: has no effect here.
        name: of the table.
        checkpoint: has no effect here: entries are not part of checkpoints.
        experimental_is_anonymous: has no effect here.
    """

    @public
    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """An empty table."""
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)
        reserved = [convert(key, self._key_dtype) for key in (empty_key, deleted_key)]
        self._reserved_keys = dict(zip(("empty_key", "deleted_key"), reserved, strict=True))

    def _check_keys(self, keys: Tensor) -> Tensor:
        check_reserved_keys(keys, self._reserved_keys)
        return keys

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Replace all entries; TensorFlow also saves its unused buckets, with reserved keys."""
        super()._restore_from_tensors(restored_tensors)
        for key in self._reserved_keys.values():
            self._entries.remove(key._array)


@side_effect(fails_only=True)
def check_reserved_keys(keys: Tensor, reserved: dict[str, Tensor]) -> None:
    """Raise if a key is reserved."""
    for name, key in reserved.items():
        if (keys._array == key._array).any():
            raise InvalidArgumentError(f"lookup: Using the {name} as a table key is not allowed.")
