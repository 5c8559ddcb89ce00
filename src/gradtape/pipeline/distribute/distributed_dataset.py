"""DistributedDataset: a dataset whose elements hold a value for each replica."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.context import current_trace
from gradtape.core.errors import InvalidArgumentError, NotFoundError
from gradtape.core.log import get_log
from gradtape.core.per_replica import PerReplica, PerReplicaSpec
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import make_tensor
from gradtape.core.worker_group import WorkerGroup
from gradtape.pipeline.base import UNKNOWN, DatasetBase, make_dataset
from gradtape.pipeline.distribute.input_context import InputContext
from gradtape.pipeline.distribute.rebatch import (
    cut_batches,
    divide_batch,
    divide_batch_spec,
    group_elements,
    has_static_shape,
    take_rows,
)
from gradtape.pipeline.element.structure import map_element
from gradtape.pipeline.file_shard import FilePoint, start_with_shard
from gradtape.pipeline.graph_iterator import TracedIterator
from gradtape.pipeline.iterator import Iterator as DatasetIterator
from gradtape.pipeline.options import AutoShardPolicy


class DistributedIterator(DatasetIterator):
    """One iteration over a DistributedDataset."""


class DistributedDataset(CompositeTensor, Iterable[Any]):
    """A dataset whose elements hold a PerReplica value for each tensor."""

    def __init__(self, dataset: Any, strategy: Any) -> None:
        """Wrap `dataset`, whose elements are merged already."""
        self._dataset = dataset
        self._strategy = strategy

    @property
    def element_spec(self) -> Any:
        """Spec of the elements: PerReplicaSpec, or plain specs if there is one replica."""
        return self._dataset.element_spec

    @property
    def _type_spec(self) -> DistributedDatasetSpec:
        return DistributedDatasetSpec(self.element_spec)

    @property
    def cardinality(self) -> int:
        """The number of elements; negative if it is infinite or unknown."""
        return self._dataset._size

    def __iter__(self) -> Iterator[Any]:
        """Start an iteration; inside a `tf.function`, at every call of its graph."""
        stage = current_trace()
        return TracedIterator(stage[0], self) if stage else DistributedIterator(self._dataset)


class DistributedDatasetSpec(TypeSpec):
    """The spec of a DistributedDataset, which contains the element spec."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def value_type(self) -> Any:
        """The class DistributedDataset."""
        return DistributedDataset

    @property
    def _component_specs(self) -> Any:
        return self._element_spec

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)


def distribute_dataset(dataset: Any, strategy: Any) -> DistributedDataset:
    """Divide the batches of a dataset among the replicas of all workers.

    Every worker reads the dataset and takes its own rows of each batch. So the workers together
    see each batch once, and all make the same number of steps. With the policy OFF each worker
    sees all rows. If the dataset reads files, the policies FILE and AUTO divide the files
    instead.
    """
    if isinstance(dataset, DistributedDataset):
        return dataset
    if not isinstance(dataset, DatasetBase):
        raise ValueError(
            "experimental_distribute_dataset: the argument must be a tf.data.Dataset. Received "
            f"{type(dataset).__name__}."
        )
    extended = strategy.extended
    count, group = len(extended.worker_devices), extended._group
    parts, first = count * group.size, count * group.rank
    if parts == 1:
        return DistributedDataset(dataset, strategy)
    options: Any = dataset._options
    policy = options.experimental_distribute.auto_shard_policy
    if group.size > 1:
        point = choose_file_point(dataset, policy, group.size)
        if point is not None or policy is AutoShardPolicy.OFF:
            return distribute_own_rows(dataset, point, strategy)

    def divide(elements: Iterator[Any]) -> Iterator[Any]:
        for element in elements:
            yield merge_elements(divide_batch(element, parts)[first : first + count])

    def spec() -> Any:
        return repeat_spec(divide_batch_spec(dataset.element_spec, parts), count)

    spec()  # refuses elements that are no batches
    return DistributedDataset(dataset._transform(divide, spec, dataset._size), strategy)


def choose_file_point(dataset: Any, policy: Any, workers: int) -> FilePoint | None:
    """Where the files of a dataset are divided; None if its rows are divided instead.

    Raises:
        NotFoundError: if the policy is FILE and the dataset does not read files.
    """
    if policy not in (AutoShardPolicy.AUTO, AutoShardPolicy.FILE):
        return None
    point: FilePoint | None = dataset._file_point
    if point is None or not point.reads_files():
        if policy is AutoShardPolicy.FILE:
            raise NotFoundError(
                "experimental_distribute_dataset: with AutoShardPolicy.FILE, the dataset must read "
                "files in one place of its pipeline, and must not cache before that. Use "
                "AutoShardPolicy.DATA."
            )
        return None
    files = point.count()
    if 0 <= files < workers:
        get_log().warning(
            "tf.distribute: the dataset has %d files for %d workers. Each worker reads all files "
            "and takes its rows of each batch, as with AutoShardPolicy.DATA.",
            files,
            workers,
        )
        return None
    return point


def distribute_own_rows(dataset: Any, point: FilePoint | None, strategy: Any) -> DistributedDataset:
    """Let each worker use all rows that it reads: those of its files, or, without `point`, all.

    A worker's batch serves several steps, so that a step has as many rows as a batch.
    """
    extended = strategy.extended
    count, group = len(extended.worker_devices), extended._group
    parts, first = count * group.size, count * group.rank
    spec = divide_batch_spec(dataset.element_spec, parts)

    def start() -> Iterator[Any]:
        elements = start_with_shard(dataset._start, point, group.rank, group.size)
        return cut_batches(elements, parts, range(first, first + count))

    batches = make_dataset(start, lambda: spec, UNKNOWN, dataset._options, [dataset])
    return distribute_batches(batches, strategy)


def distribute_from_function(
    dataset_fn: Callable[[InputContext], Any], strategy: Any
) -> DistributedDataset | Any:
    """Distribute the dataset that a function makes for this worker."""
    extended = strategy.extended
    count, group = len(extended.worker_devices), extended._group
    context = InputContext(group.size, group.rank, count * group.size)
    dataset = dataset_fn(context)
    if not isinstance(dataset, DatasetBase):
        raise ValueError(
            "distribute_datasets_from_function: the function must return a tf.data.Dataset. "
            f"Received {type(dataset).__name__}."
        )
    if type(strategy).__name__ == "DefaultStrategy":
        return dataset
    return distribute_batches(dataset, strategy)


def distribute_batches(dataset: Any, strategy: Any) -> DistributedDataset:
    """Give consecutive batches of a worker's dataset to its replicas; all workers end together."""
    extended = strategy.extended
    count, group = len(extended.worker_devices), extended._group
    if group.size > 1:
        dataset = agree_on_end(dataset, group)
    if count == 1:
        return DistributedDataset(dataset, strategy)
    spec = dataset.element_spec
    fills = not has_static_shape(spec)

    def group_batches(elements: Iterator[Any]) -> Iterator[Any]:
        return map(merge_elements, group_elements(elements, count, spec, fills))

    size = dataset._size
    if size > 0:
        size = -(-size // count) if fills else size // count
    made = dataset._transform(group_batches, lambda: repeat_spec(spec, count), size)
    return DistributedDataset(made, strategy)


def agree_on_end(dataset: Any, group: WorkerGroup) -> Any:
    """A dataset that ends on all workers at once: those without data get empty batches.

    The workers ask each other before each element. A worker that stopped alone would leave the
    others in a collective. If the batch size is fixed, all end with the first.
    """
    spec = dataset.element_spec
    rule = "MIN" if has_static_shape(spec) else "MAX"

    def continue_together(elements: Iterator[Any]) -> Iterator[Any]:
        last: Any = None
        for element in elements:
            if not group.all_reduce([HAS_DATA], rule)[0]:
                return
            last = element
            yield element
        while group.all_reduce([~HAS_DATA], rule)[0]:
            yield make_empty_batch(last, spec)

    return dataset._transform(continue_together, lambda: spec, -2)


HAS_DATA = np.ones(1, bool)


def make_empty_batch(element: Any, spec: Any) -> Any:
    """A batch without rows, like `element`, or, if that is None, of the spec."""
    if element is not None:
        return map_element(lambda leaf: take_rows(leaf, 0, 0), element)

    def make_empty(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            raise InvalidArgumentError(
                "distribute_datasets_from_function: the dataset of each worker must have at least "
                f"one element if it has ragged or sparse tensors. Received {leaf!r} without data."
            )
        sizes = [size or 0 for size in leaf.shape.as_list()]
        return make_tensor(np.zeros(sizes, leaf.dtype.as_numpy_dtype))

    return map_element(make_empty, spec)


def merge_elements(pieces: Any) -> Any:
    """One element from those of all replicas of this process."""
    if len(pieces) == 1:
        return pieces[0]
    return map_element(lambda *leaves: None if leaves[0] is None else PerReplica(leaves), *pieces)


def repeat_spec(spec: Any, count: int) -> Any:
    """The spec of merged elements."""
    if count == 1:
        return spec
    return map_element(lambda leaf: PerReplicaSpec(*[leaf] * count), spec)
