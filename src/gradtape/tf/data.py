"""tf.data: datasets and their iterators."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from gradtape.core.tensor import Tensor
from gradtape.pipeline.base import AUTOTUNE as AUTOTUNE
from gradtape.pipeline.base import INFINITE as INFINITE_CARDINALITY
from gradtape.pipeline.base import UNKNOWN as UNKNOWN_CARDINALITY
from gradtape.pipeline.dataset import Dataset as Dataset
from gradtape.pipeline.dataset import DatasetSpec as DatasetSpec
from gradtape.pipeline.dataset import assert_cardinality
from gradtape.pipeline.iterator import Iterator as Iterator
from gradtape.pipeline.iterator import IteratorSpec as IteratorSpec
from gradtape.pipeline.iterator import NumpyIterator as NumpyIterator
from gradtape.pipeline.optional import Optional
from gradtape.pipeline.options import (
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
)
from gradtape.pipeline.options import Options as Options
from gradtape.pipeline.options import ThreadingOptions as ThreadingOptions
from gradtape.pipeline.record import FixedLengthRecordDataset as FixedLengthRecordDataset
from gradtape.pipeline.record import TextLineDataset as TextLineDataset
from gradtape.pipeline.record import TFRecordDataset as TFRecordDataset

Transformation = Callable[[Dataset], Dataset]


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements of a dataset."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """What describes the elements of a dataset or an iterator."""
    return dataset_or_iterator.element_spec


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element as an Optional, which is empty after the last one."""
    return iterator.get_next_as_optional()


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """A transformation, for `apply`, that prefetches; there is one kind of memory.

    Args:
        device: accepted for TensorFlow's sake.
        buffer_size: as in `Dataset.prefetch`; AUTOTUNE if None.
    """
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """A transformation, for `apply`, that changes nothing: there is one kind of memory."""
    return lambda dataset: dataset.take(-1)


def _method(name: str) -> Callable[..., Transformation]:
    """The older spelling of a method, as a transformation for `apply`."""
    method = getattr(Dataset, name)

    def spelling(*args: Any, **kwargs: Any) -> Transformation:
        return lambda dataset: method(dataset, *args, **kwargs)

    spelling.__name__, spelling.__doc__ = name, f"`Dataset.{name}` as a transformation for `apply`."
    return spelling


def enumerate_dataset(start: int = 0) -> Transformation:
    """`Dataset.enumerate` as a transformation for `apply`."""
    return lambda dataset: dataset.enumerate(start)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`Dataset.shuffle`, then `Dataset.repeat`, as a transformation for `apply`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Any,
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`Dataset.map`, then `Dataset.batch`, as a transformation for `apply`."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


experimental = SimpleNamespace(
    AUTOTUNE=AUTOTUNE,
    INFINITE_CARDINALITY=INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY=UNKNOWN_CARDINALITY,
    AutoShardPolicy=AutoShardPolicy,
    AutotuneOptions=AutotuneOptions,
    Counter=Dataset.counter,
    DistributeOptions=DistributeOptions,
    ExternalStatePolicy=ExternalStatePolicy,
    OptimizationOptions=OptimizationOptions,
    Optional=Optional,
    RandomDataset=Dataset.random,
    ThreadingOptions=ThreadingOptions,
    assert_cardinality=assert_cardinality,
    bucket_by_sequence_length=_method("bucket_by_sequence_length"),
    cardinality=cardinality,
    choose_from_datasets=Dataset.choose_from_datasets,
    copy_to_device=copy_to_device,
    enumerate_dataset=enumerate_dataset,
    get_next_as_optional=get_next_as_optional,
    get_single_element=get_single_element,
    get_structure=get_structure,
    group_by_window=_method("group_by_window"),
    ignore_errors=_method("ignore_errors"),
    load=Dataset.load,
    map_and_batch=map_and_batch,
    prefetch_to_device=prefetch_to_device,
    sample_from_datasets=Dataset.sample_from_datasets,
    save=Dataset.save,
    scan=_method("scan"),
    shuffle_and_repeat=shuffle_and_repeat,
    take_while=_method("take_while"),
    unbatch=_method("unbatch"),
    unique=_method("unique"),
)
