"""tf.data.experimental: older names of Dataset methods, and functions that have no method."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import check_instance, describe
from gradtape.core.convert import convert
from gradtape.core.errors import OutOfRangeError, public
from gradtape.core.tensor import Tensor
from gradtape.pipeline.base import AUTOTUNE as AUTOTUNE
from gradtape.pipeline.base import INFINITE, UNKNOWN
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.dataset import assert_cardinality as assert_cardinality
from gradtape.pipeline.element.element import END
from gradtape.pipeline.iterator import Iterator
from gradtape.pipeline.optional import Optional as Optional
from gradtape.pipeline.options import AutoShardPolicy as AutoShardPolicy
from gradtape.pipeline.options import AutotuneOptions as AutotuneOptions
from gradtape.pipeline.options import DistributeOptions as DistributeOptions
from gradtape.pipeline.options import ExternalStatePolicy as ExternalStatePolicy
from gradtape.pipeline.options import OptimizationOptions as OptimizationOptions
from gradtape.pipeline.options import ThreadingOptions as ThreadingOptions
from gradtape.pipeline.source.csv import CsvDataset as CsvDataset
from gradtape.pipeline.source.csv import make_csv_dataset as make_csv_dataset
from gradtape.tf.data.example_dataset import TFRecordWriter as TFRecordWriter
from gradtape.tf.data.example_dataset import (
    make_batched_features_dataset as make_batched_features_dataset,
)
from gradtape.tf.data.example_dataset import parse_example_dataset as parse_example_dataset
from gradtape.tf.data.grouping import Reducer as Reducer
from gradtape.tf.data.grouping import group_by_reducer as group_by_reducer
from gradtape.tf.data.grouping import pad_to_cardinality as pad_to_cardinality
from gradtape.tf.data.grouping import parallel_interleave as parallel_interleave
from gradtape.tf.data.source import DatasetInitializer as DatasetInitializer
from gradtape.tf.data.source import RandomDataset as RandomDataset
from gradtape.tf.data.source import SqlDataset as SqlDataset
from gradtape.tf.data.source import from_list as from_list
from gradtape.tf.data.source import index_table_from_dataset as index_table_from_dataset
from gradtape.tf.data.source import table_from_dataset as table_from_dataset
from gradtape.tf.public_op import name_functions

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN

Transformation = Callable[[Dataset], Dataset]


@public
def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements of a dataset.

    Args:
        dataset: a Dataset.

    Returns:
        An int64 scalar: the number, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

    Example:
        >>> tf.data.experimental.cardinality(tf.data.Dataset.range(5)).numpy()
        np.int64(5)
    """
    check_instance(dataset, Dataset, "dataset")
    return dataset.cardinality()


@public
def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset.

    Args:
        dataset: a Dataset.

    Returns:
        A structure of tensors.

    Example:
        >>> tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(7)).numpy()
        np.int32(7)
    """
    check_instance(dataset, Dataset, "dataset")
    return dataset.get_single_element()


@public
def at(dataset: Dataset, index: Any) -> Any:
    """The element of a dataset at an index.

    Args:
        dataset: any dataset; the elements before `index` are produced and skipped.
        index: counted from 0.

    Returns:
        A structure of tensors.

    Raises:
        OutOfRangeError: if `index` is out of range.

    Note:
        TensorFlow raises an error for datasets without random access, such as filtered ones.

    Example:
        >>> tf.data.experimental.at(tf.data.Dataset.range(5), 3).numpy()
        np.int64(3)
    """
    check_instance(dataset, Dataset, "dataset")
    place = int(convert(index, dtypes.int64)._array)
    found = next(iter(dataset.skip(place)), END) if place >= 0 else END
    if found is END:
        raise OutOfRangeError(f"at: index {place} is out of range of the dataset.")
    return found


@public
def get_structure(dataset_or_iterator: Any) -> Any:
    """The element spec of a dataset or an iterator.

    Args:
        dataset_or_iterator: a Dataset or an iterator.

    Returns:
        A structure of specs.
    """
    if not isinstance(dataset_or_iterator, (Dataset, Iterator)):
        raise TypeError(
            "dataset_or_iterator must be a Dataset or an Iterator. Received "
            f"{describe(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


@public
def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element as an Optional; empty after the last one.

    Args:
        iterator: an iterator of a Dataset.

    Returns:
        An Optional.
    """
    check_instance(iterator, Iterator, "iterator")
    return iterator.get_next_as_optional()


@public
def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """A transformation, for `apply`, that prefetches to host memory.

    Args:
        device: has no effect here.
        buffer_size: as in `Dataset.prefetch`; AUTOTUNE if None.

    Returns:
        A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


@public
def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """A transformation, for `apply`, that copies nothing: elements stay in host memory.

    Args:
        target_device: has no effect here.
        source_device: has no effect here.

    Returns:
        A function for `Dataset.apply`.
    """

    def copy(dataset: Dataset) -> Dataset:
        result = dataset.take(-1)._label_as("_CopyToDeviceDataset")
        result._size = UNKNOWN
        return result

    return copy


def _make_transformation(name: str, method_name: str = "") -> Callable[..., Transformation]:
    """Make the older form of a Dataset method: a transformation for `apply`."""
    method = getattr(Dataset, method_name or name)
    parameters = inspect.signature(method).parameters.values()
    signature = inspect.Signature([p for p in parameters if p.name not in ("self", "name")])

    @public
    def transformation(*args: Any, **kwargs: Any) -> Transformation:
        bound = signature.bind(*args, **kwargs)
        return lambda dataset: method(dataset, *bound.args, **bound.kwargs)

    transformation.__name__ = name
    transformation.__doc__ = f"""`Dataset.{method.__name__}` as a transformation for `apply`.

    It has the parameters of that method.

    Returns:
        A function that takes a Dataset and returns one.
    """
    transformation.__signature__ = signature  # type: ignore[attr-defined]
    return transformation


@public
def choose_from_datasets(
    datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """The older name of `Dataset.choose_from_datasets`.

    Args:
        datasets: a list of Datasets.
        choice_dataset: a Dataset of int64 scalars: which dataset is next.
        stop_on_empty_dataset: whether to end when one of them ends.

    Returns:
        A Dataset.
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


@public
def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """The older name of `Dataset.sample_from_datasets`.

    Args:
        datasets: a list of Datasets.
        weights: the probability of each, or None.
        seed: an integer or None.
        stop_on_empty_dataset: whether to end when one of them ends.

    Returns:
        A Dataset.
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


@public
def save(
    dataset: Dataset,
    path: Any,
    compression: Any = None,
    shard_func: Any = None,
    checkpoint_args: Any = None,
) -> None:
    """The older name of `Dataset.save`.

    Args:
        dataset: a Dataset.
        path: a folder.
        compression: None or "GZIP".
        shard_func: function of an element that returns the number of its shard.
        checkpoint_args: has no effect here.

    Returns:
        None.
    """
    check_instance(dataset, Dataset, "dataset")
    dataset.save(path, compression, shard_func, checkpoint_args)


@public
def load(
    path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None
) -> Dataset:
    """The older name of `Dataset.load`.

    Args:
        path: the folder that `save` wrote.
        element_spec: the spec of elements, or None.
        compression: None or "GZIP".
        reader_func: function of a Dataset of shards that returns the Dataset of elements.

    Returns:
        A Dataset.
    """
    return Dataset.load(path, element_spec, compression, reader_func)


@public
def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:  # noqa: N802 - its name
    """The older name of `Dataset.counter`.

    Args:
        start: the first number.
        step: the difference of neighbours.
        dtype: the dtype of the numbers.

    Returns:
        A Dataset.
    """
    return Dataset.counter(start, step, dtype)


@public
def enumerate_dataset(start: int = 0) -> Transformation:
    """`Dataset.enumerate` as a transformation for `apply`.

    Args:
        start: the first number.

    Returns:
        A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.enumerate(start)


@public
def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`Dataset.shuffle`, then `Dataset.repeat`, as a transformation for `apply`.

    Args:
        buffer_size: the number of elements to draw from.
        count: the number of repetitions, or None.
        seed: an integer or None.

    Returns:
        A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


@public
def map_and_batch(
    map_func: Any,
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`Dataset.map`, then `Dataset.batch`, as a transformation for `apply`.

    Args:
        map_func: function of an element.
        batch_size: the number of elements of a batch.
        num_parallel_batches: has no effect here.
        drop_remainder: whether to drop a last batch that is smaller.
        num_parallel_calls: the number of threads, or None.

    Returns:
        A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


bucket_by_sequence_length = _make_transformation("bucket_by_sequence_length")
dense_to_ragged_batch = _make_transformation("dense_to_ragged_batch", "ragged_batch")
group_by_window = _make_transformation("group_by_window")
ignore_errors = _make_transformation("ignore_errors")
rejection_resample = _make_transformation("rejection_resample")
scan = _make_transformation("scan")
snapshot = _make_transformation("snapshot")
dense_to_sparse_batch = _make_transformation("sparse_batch")
take_while = _make_transformation("take_while")
unbatch = _make_transformation("unbatch")
unique = _make_transformation("unique")

name_functions(__name__, globals())
