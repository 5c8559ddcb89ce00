"""tf.lookup: static tables and their initializers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer, describe
from gradtape.core.convert import convert
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import with_shape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor
from gradtape.files.csv import parse_float, parse_int
from gradtape.files.text import read_lines
from gradtape.graph.raw_function import apply_raw
from gradtape.state.checkpoint.trackable import Trackable
from gradtape.state.hash_table import LookupTable, TableEntries, check_keys
from gradtape.tf.api.strings import as_string
from gradtape.tf.array.mask import where
from gradtape.tf.strings.hash_bucket import to_hash_bucket_fast


class TextFileIndex:
    """Special column indices: the whole line, and the line number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """Initializes a table with `keys` and their `values`.

    Example:
        >>> pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        >>> table = tf.lookup.StaticHashTable(pairs, default_value=-1)
        >>> table.lookup(tf.constant(["b", "c"])).numpy()
        array([ 2, -1], dtype=int32)
    """

    @public
    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        """Convert both to tensors of these dtypes; None infers the dtype."""
        self._keys = convert(keys, key_dtype)
        self._values = convert(values, value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._keys.dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._values.dtype

    def initialize(self, table: Any) -> None:
        """Fill a table.

        Args:
            table: a table.

        Returns:
            None.
        """
        table._entries.fill(self._keys._array, self._values._array)


class TextFileInitializer:
    """Initializes a table from the lines of a file.

    Args:
        filename: the file.
        key_dtype: string or int64.
        key_index: a column, or one of `TextFileIndex`.
        value_dtype: string or a numeric dtype.
        value_index: as `key_index`.
        vocab_size: how many lines to read, an error if there are fewer; all if None.
        delimiter: the separator of columns.
        name: has no effect here.
        value_index_offset: added to values that are line numbers.
    """

    @public
    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        """Check the arguments; the file is read when a table is created."""
        self._filename = filename
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        parts = [("key", key_index, self.key_dtype), ("value", value_index, self.value_dtype)]
        for what, index, dtype in parts:
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"Invalid `{what}_index`. It should be >= -2. Received {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
                raise ValueError(f"`{what}_dtype` must be int64 if `{what}_index` is -1: {dtype!r}")
            if index == TextFileIndex.WHOLE_LINE and not (
                dtype is dtypes.string or dtype.is_integer
            ):
                raise ValueError(
                    f"`{what}_dtype` should be string or an integer if `{what}_index` is -2: "
                    f"{dtype!r}"
                )
        self._key_value_index = key_index, value_index
        self._vocab_size, self._delimiter = vocab_size, delimiter.encode()
        self._offset = value_index_offset

    def initialize(self, table: Any) -> None:
        """Fill a table.

        Args:
            table: a table.

        Returns:
            None.

        Raises:
            NotFoundError: if the file does not exist.
            InvalidArgumentError: if a line lacks a column, or there are too few lines.
        """
        path = self._filename
        lines = list(read_lines(path.numpy() if isinstance(path, Tensor) else path))
        if self._vocab_size is not None:
            if len(lines) < self._vocab_size:
                raise InvalidArgumentError(
                    f"lookup: Invalid vocab_size in {path}: expected {self._vocab_size} lines "
                    f"but got "
                    f"{len(lines)}."
                )
            lines = lines[: self._vocab_size]
        keys, values = (self._column(lines, index) for index in self._key_value_index)
        if self._key_value_index[1] == TextFileIndex.LINE_NUMBER:
            values = [value + self._offset for value in values]
        table._entries.fill(
            parse_column(keys, self.key_dtype), parse_column(values, self.value_dtype)
        )

    def _column(self, lines: list[bytes], index: int) -> list[Any]:
        if index == TextFileIndex.LINE_NUMBER:
            return list(range(len(lines)))
        if index == TextFileIndex.WHOLE_LINE:
            return list(lines)
        return [self._cell(line, index, number) for number, line in enumerate(lines)]

    def _cell(self, line: bytes, index: int, number: int) -> bytes:
        """The column `index` of a line."""
        row = line.split(self._delimiter)
        if len(row) <= index:
            raise InvalidArgumentError(
                f"lookup: Invalid number of columns in {self._filename} line {number} "
                f"({line[:100]!r}): expected at least {index + 1}, got {len(row)}."
            )
        return row[index]


def parse_column(column: list[Any], dtype: DType) -> Any:
    """A column of a file as a raw array."""
    if dtype is dtypes.string:
        return np.array(column, object)
    kind = np.dtype(dtype.as_numpy_dtype)
    parse = parse_int if kind.kind in "iu" else parse_float
    try:
        return np.array([cell if isinstance(cell, int) else parse(cell) for cell in column], kind)
    except (ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"lookup: {error} in a column of {dtype.name}.") from None


def map_keys(function: Any, keys: Any) -> Any:
    """Apply `function` to the values of a dense, sparse or ragged tensor of keys."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, function(keys.values), keys.dense_shape)
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(function(keys.flat_values))
    return function(keys)


def look_up_spec(keys: Any, default: Any, entries: Any) -> Any:
    """Spec of the result of `look_up_raw`."""
    return Spec((keys.shape, default.dtype))


@with_shape(look_up_spec)
def look_up_raw(keys: Any, default: Any, entries: TableEntries) -> Any:
    """Look up raw keys; the result is a raw array."""
    return entries.look_up(keys, default)


class StaticHashTable(LookupTable):
    """A table whose entries never change.

    Args:
        initializer: provides the entries.
        default_value: the value of missing keys.
        name: of the table.
        experimental_is_anonymous: has no effect here.
    """

    @public
    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """Create the table and fill it."""
        if not hasattr(initializer, "key_dtype") or not hasattr(initializer, "initialize"):
            raise TypeError(
                "initializer must be a table initializer, such as tf.lookup."
                f"KeyValueTensorInitializer. Received {describe(initializer)}."
            )
        key_and_value = initializer.key_dtype, initializer.value_dtype
        super().__init__(*key_and_value, default_value, name or "hash_table")
        initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """The value of missing keys."""
        return self._default

    @public
    def size(self, name: str | None = None) -> Tensor:
        """How many entries there are.

        Args:
            name: has no effect here.

        Returns:
            An int64 scalar.
        """
        return convert(len(self._entries.values_by_key), dtypes.int64)

    @public
    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`, a dense, sparse or ragged tensor.

        Args:
            keys: a tensor of keys.
            name: has no effect here.

        Returns:
            Values, in the form of `keys`.

        Raises:
            TypeError: if the keys are of another dtype.
            FailedPreconditionError: if the table was never filled.
        """
        return map_keys(self._look_up_dense, keys)

    __getitem__ = lookup

    def _look_up_dense(self, keys: Any) -> Tensor:
        tensor = check_keys(keys, self._key_dtype)
        result: Tensor = apply_raw(look_up_raw, tensor, self._default, self._entries)
        return result


class StaticVocabularyTable(Trackable):
    """Maps words to ids; unknown words are hashed to bucket ids after the last id.

    Args:
        initializer: words with int64 ids from 0 on; None hashes all words to buckets.
        num_oov_buckets: the number of buckets for unknown words.
        lookup_key_dtype: the dtype of keys; by default the initializer's, or string.
        name: has no effect here.
        experimental_is_anonymous: has no effect here.
    """

    @public
    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """Create the table and fill it."""
        num_oov_buckets = as_integer(num_oov_buckets, "num_oov_buckets")
        if num_oov_buckets <= 0:
            raise ValueError(
                f"`num_oov_buckets` must be > 0. Received {num_oov_buckets}. "
                "Use StaticHashTable for a table without buckets."
            )
        self._num_buckets = num_oov_buckets
        self._table = None if initializer is None else StaticHashTable(initializer, -1)
        if self._table is not None and self._table.value_dtype is not dtypes.int64:
            raise TypeError(
                f"Invalid `value_dtype`, expected {dtypes.int64!r} but got "
                f"{self._table.value_dtype!r}."
            )
        own = dtypes.string if self._table is None else self._table.key_dtype
        self._key_dtype = own if lookup_key_dtype is None else as_dtype(lookup_key_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of ids."""
        return dtypes.int64

    @public
    def size(self, name: str | None = None) -> Tensor:
        """The number of words and buckets.

        Args:
            name: has no effect here.

        Returns:
            An int64 scalar.
        """
        return convert(self._count_words() + self._num_buckets, dtypes.int64)

    def _count_words(self) -> int:
        return 0 if self._table is None else len(self._table._entries.values_by_key)

    @public
    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of `keys`, a dense, sparse or ragged tensor.

        Args:
            keys: a tensor of keys.
            name: has no effect here.

        Returns:
            Ids, in the form of `keys`.

        Raises:
            TypeError: if the keys are of another dtype.
        """
        return map_keys(self._look_up_ids, keys)

    __getitem__ = lookup

    def _look_up_ids(self, keys: Any) -> Tensor:
        tensor = check_keys(keys, self._key_dtype)
        words = tensor if tensor.dtype is dtypes.string else as_string(tensor)
        buckets = to_hash_bucket_fast(words, self._num_buckets) + self._count_words()
        if self._table is None:
            return buckets
        own = self._table.key_dtype
        numbers = self._table.lookup(tensor if own is tensor.dtype else convert(tensor, own))
        result: Tensor = where(numbers == -1, buckets, numbers)
        return result
