"""tf.data.experimental: datasets of lists, random numbers and databases, and tables of datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.core import dtypes, nest
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, UnknownError, public
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.base import UNKNOWN, make_dataset
from gradtape.pipeline.dataset import Dataset, assert_cardinality
from gradtape.pipeline.element.structure import (
    as_element,
    detach_tensor,
    element_spec_of,
    flatten_element,
    map_element,
)
from gradtape.tf.lookup.hash_table import StaticHashTable, StaticVocabularyTable


@public
def from_list(elements: Any, name: str | None = None) -> Dataset:
    """A dataset of the elements of a list, which may differ in shape.

    Args:
        elements: a list of structures of tensors with the same nested structure.
        name: has no effect here.

    Returns:
        A Dataset.

    Example:
        >>> dataset = tf.data.experimental.from_list([(1, [1]), (2, [2, 3])])
        >>> [(int(n), row.numpy().tolist()) for n, row in dataset]
        [(1, [1]), (2, [2, 3])]
    """
    if not isinstance(elements, list) or not elements:
        raise ValueError(
            f"from_list: elements must be a list that is not empty. Received {elements!r:.60}. Use "
            "tf.data.Dataset.range(0) for an empty dataset."
        )
    found = [as_element(element) for element in elements]
    specs = [element_spec_of(element) for element in found]
    for spec in specs[1:]:
        nest.assert_same_structure(specs[0], spec)
    spec = map_element(
        lambda first, *others: first.most_specific_common_supertype(others), specs[0], *specs[1:]
    )
    if None in flatten_element(spec):
        raise TypeError(f"from_list: elements must have the same dtypes. Received {specs}.")
    dataset = make_dataset(
        lambda: (map_element(detach_tensor, element) for element in found), lambda: spec, len(found)
    )
    return dataset._label_as("_ListDataset")


class RandomDataset(Dataset):
    """An infinite dataset of random integers: an older name of `Dataset.random`.

    Args:
        seed: determines the numbers, together with `tf.random.set_seed`.
        rerandomize_each_iteration: whether each iteration draws new numbers.
        name: has no effect here.
    """

    @public
    def __init__(
        self,
        seed: Any = None,
        rerandomize_each_iteration: Any = None,
        name: str | None = None,
    ) -> None:
        """As `Dataset.random`."""
        source = Dataset.random(seed, rerandomize_each_iteration)
        super().__init__(source._start, lambda: source.element_spec, source._size)
        self._random_sources = source._random_sources


class SqlDataset(Dataset):
    """The rows of the result of a query of an SQLite database.

    Args:
        driver_name: "sqlite".
        data_source_name: the file of the database.
        query: the query.
        output_types: the dtypes of the columns, as a tuple.
    """

    @public
    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        """The query runs when an iteration starts."""
        driver, path, text = (
            convert(given, dtypes.string)._array[()].decode()
            for given in (driver_name, data_source_name, query)
        )
        spec = map_element(lambda dtype: TensorSpec((), dtype), output_types)
        kinds = [one.dtype for one in flatten_element(spec)]

        def rows() -> Iterator[Any]:
            if driver != "sqlite":
                raise InvalidArgumentError(
                    f"SqlDataset: driver_name must be 'sqlite'. Received {driver!r}."
                )
            for row in run_query(path, text):
                if len(row) != len(kinds):
                    raise InvalidArgumentError(
                        f"SqlDataset: The number of columns in query ({len(row)}) must match the "
                        f"number of elements in output_types ({len(kinds)})."
                    )
                cells = tuple(as_cell(v, kind) for v, kind in zip(row, kinds, strict=True))
                yield cells if isinstance(spec, tuple) else cells[0]

        super().__init__(rows, lambda: spec, UNKNOWN)


def run_query(path: str, text: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query; the database is opened read-only."""
    import sqlite3  # here, because some builds of Python lack it

    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise InvalidArgumentError(f"SqlDataset: Failed to open database {path}: {error}") from None
    try:
        yield from connection.execute(text)
    except sqlite3.Error as error:
        raise UnknownError(f"SqlDataset: the query failed: {error}") from None
    finally:
        connection.close()


def as_cell(value: Any, kind: dtypes.DType) -> Any:
    """The value of a column as a scalar tensor; NULL is zero or the empty string."""
    if kind is dtypes.string:
        text = value if isinstance(value, (bytes, str)) else "" if value is None else str(value)
        return convert(text, kind)
    if kind is dtypes.bool:
        return make_tensor(np.bool_(bool(value)))
    scalar = np.dtype(kind.as_numpy_dtype).type
    return make_tensor(scalar(value or 0))


class DatasetInitializer:
    """Initializes a table from a dataset of pairs of scalars: a key and its value.

    Args:
        dataset: a Dataset of pairs.

    Example:
        >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
        >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), -1)
        >>> table.lookup(tf.constant(["b", "c"])).numpy()
        array([ 2, -1], dtype=int32)
    """

    @public
    def __init__(self, dataset: Dataset) -> None:
        """The dataset is read when a table is created."""
        spec = dataset.element_spec
        scalars = isinstance(spec, tuple) and all(
            isinstance(one, TensorSpec) and one.shape.rank == 0 for one in spec
        )
        if not scalars or len(spec) != 2:
            raise ValueError(
                f"DatasetInitializer: elements must be pairs of scalars. Received {spec}."
            )
        self.dataset = dataset
        self.key_dtype, self.value_dtype = spec[0].dtype, spec[1].dtype

    def initialize(self, table: Any) -> None:
        """Fill a table.

        Args:
            table: a table.
        """
        pairs = list(self.dataset)
        keys = np.array([key._array[()] for key, _ in pairs], self.key_dtype.as_numpy_dtype)
        values = np.array([v._array[()] for _, v in pairs], self.value_dtype.as_numpy_dtype)
        table._entries.fill(keys, values)


@public
def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: Any = None,
    hasher_spec: Any = None,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> StaticHashTable | StaticVocabularyTable:
    """A table of the pairs of a dataset.

    Args:
        dataset: a Dataset of pairs of scalars: a key and its value.
        num_oov_buckets: the number of buckets for unknown keys, if values are ids from 0 on.
        vocab_size: the number of pairs to read; all if None.
        default_value: the value of missing keys; -1 if None.
        hasher_spec: None: unknown keys are hashed by FarmHash.
        key_dtype: the dtype of keys.
        name: has no effect here.

    Returns:
        A StaticHashTable, or a StaticVocabularyTable if there are buckets.
    """
    if num_oov_buckets < 0:
        raise ValueError(f"table_from_dataset: num_oov_buckets must be >= 0: {num_oov_buckets}.")
    if vocab_size is not None and int(vocab_size) < 1:
        raise ValueError(f"table_from_dataset: vocab_size must be > 0. Received {vocab_size}.")
    kind = dtypes.as_dtype(key_dtype)
    if not kind.is_integer and kind is not dtypes.string:
        raise TypeError(f"table_from_dataset: keys must be integers or strings. Received {kind}.")
    initializer = DatasetInitializer(dataset)
    if default_value is None:
        if not (initializer.value_dtype.is_integer or initializer.value_dtype.is_floating):
            raise ValueError(
                "table_from_dataset: default_value must be given for values of "
                f"{initializer.value_dtype.name}."
            )
        default_value = -1
    if vocab_size is not None:
        count = int(vocab_size)
        initializer.dataset = dataset.take(count).apply(assert_cardinality(count))
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, kind)
    return StaticHashTable(initializer, default_value)


@public
def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: Any = -1,
    hasher_spec: Any = None,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> StaticHashTable | StaticVocabularyTable:
    """A table that maps each element of a dataset to its position.

    Args:
        dataset: a Dataset of scalars: the keys.
        num_oov_buckets: the number of buckets for unknown keys.
        vocab_size: the number of keys to read; all if None.
        default_value: the value of missing keys.
        hasher_spec: None: unknown keys are hashed by FarmHash.
        key_dtype: the dtype of keys.
        name: has no effect here.

    Returns:
        A StaticHashTable, or a StaticVocabularyTable if there are buckets.
    """
    pairs = dataset.enumerate().map(lambda place, key: (key, place))
    return table_from_dataset(
        pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype
    )
