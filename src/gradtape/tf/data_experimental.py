"""tf.data.experimental: older spellings, and what has no method of `Dataset`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.tensor import Tensor
from gradtape.pipeline.base import AUTOTUNE as AUTOTUNE
from gradtape.pipeline.base import INFINITE, UNKNOWN
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.dataset import assert_cardinality as assert_cardinality
from gradtape.pipeline.iterator import Iterator
from gradtape.pipeline.optional import Optional as Optional
from gradtape.pipeline.options import AutoShardPolicy as AutoShardPolicy
from gradtape.pipeline.options import AutotuneOptions as AutotuneOptions
from gradtape.pipeline.options import DistributeOptions as DistributeOptions
from gradtape.pipeline.options import ExternalStatePolicy as ExternalStatePolicy
from gradtape.pipeline.options import OptimizationOptions as OptimizationOptions
from gradtape.pipeline.options import ThreadingOptions as ThreadingOptions

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN

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


Counter = Dataset.counter
RandomDataset = Dataset.random
bucket_by_sequence_length = _method("bucket_by_sequence_length")
choose_from_datasets = Dataset.choose_from_datasets
group_by_window = _method("group_by_window")
ignore_errors = _method("ignore_errors")
load = Dataset.load
sample_from_datasets = Dataset.sample_from_datasets
save = Dataset.save
scan = _method("scan")
take_while = _method("take_while")
unbatch = _method("unbatch")
unique = _method("unique")
