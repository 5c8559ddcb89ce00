"""Reductions of the values of several replicas: over this process, then over the workers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.enums import VariableAggregation
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.core.worker_group import WorkerGroup
from gradtape.graph.host_function import call_on_host
from gradtape.ops.collective import all_reduce
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.array.concat_split import concat
from gradtape.tf.math.add_n import add_n
from gradtape.tf.math.elementwise import truediv


class ReduceOp(Enum):
    """How the values of several replicas are reduced to one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The reduction that corresponds to a variable's aggregation.

        Raises:
            ValueError: if there is none.
        """
        reductions = {
            VariableAggregation.SUM: ReduceOp.SUM,
            VariableAggregation.MEAN: ReduceOp.MEAN,
        }
        if aggregation not in reductions:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to "
                "`tf.distribute.ReduceOp` type."
            )
        return reductions[aggregation]


def as_reduce_op(op: Any) -> ReduceOp:
    """A ReduceOp from itself or from its name.

    Raises:
        ValueError: if there is no such reduction.
    """
    return op if isinstance(op, ReduceOp) else ReduceOp(str(op).upper())


def reduce_all(
    values: Sequence[Sequence[Any]], op: ReduceOp, group: WorkerGroup, count: int
) -> list[Any]:
    """Reduce several values at once; the workers exchange all of them in one collective.

    Args:
        values: for each value the tensors, or IndexedSlices, of the replicas of this process.
        op: the reduction.
        group: the workers.
        count: the number of replicas of all workers, by which a mean divides.
    """
    sums = [sum_replicas(each) for each in values]
    dense = [i for i, total in enumerate(sums) if isinstance(total, Tensor)]
    if group.size > 1:
        if dense:
            reduced = all_reduce(*[sums[i] for i in dense], reduction="SUM", group=group)
            for i, total in zip(dense, reduced, strict=True):
                sums[i] = total
        sums = [
            total if isinstance(total, Tensor) else gather_slices(total, group) for total in sums
        ]
    return sums if op is ReduceOp.SUM or count == 1 else [divide_total(t, count) for t in sums]


def sum_replicas(values: Sequence[Any]) -> Any:
    """The sum of tensors, or the IndexedSlices of all replicas together."""
    if not any(isinstance(value, IndexedSlices) for value in values):
        tensors = [convert(value) for value in values]
        return tensors[0] if len(tensors) == 1 else add_n(tensors)
    if len(values) == 1:
        return values[0]
    if all(isinstance(value, IndexedSlices) for value in values):
        return IndexedSlices(
            concat([convert(value.values) for value in values], 0),
            concat([convert(value.indices) for value in values], 0),
            values[0].dense_shape,
        )
    return add_n([convert(value) for value in values])


def divide_total(total: Any, count: int) -> Any:
    """A sum divided by the number of replicas."""
    if isinstance(total, IndexedSlices):
        return IndexedSlices(truediv(total.values, count), total.indices, total.dense_shape)
    return truediv(total, count)


def gather_slices(slices: IndexedSlices, group: WorkerGroup) -> IndexedSlices:
    """The IndexedSlices of all workers together."""
    return IndexedSlices(
        gather_over_workers(convert(slices.values), group),
        gather_over_workers(convert(slices.indices), group),
        slices.dense_shape,
    )


def gather_all(values: Sequence[Any], axis: int, group: WorkerGroup) -> Tensor:
    """The tensors of all replicas of all workers, joined along `axis`; a single one as it is."""
    tensors = [convert(value) for value in values]
    if len(tensors) == 1 and group.size == 1:
        return tensors[0]
    check_gathered(tensors, axis)
    joined = tensors[0] if len(tensors) == 1 else concat(tensors, axis)
    return gather_over_workers(joined, group, axis) if group.size > 1 else joined


def check_gathered(tensors: Sequence[Tensor], axis: int) -> None:
    """Raise ValueError unless tensors can be joined along `axis`."""
    for tensor in tensors:
        rank = tensor.shape.rank
        if not rank or not -rank <= axis < rank:
            raise ValueError(
                f"gather: axis must be one of the value's axes. Received axis {axis} and a value "
                f"of shape {tensor.shape}. A scalar has no axis: use tf.expand_dims first."
            )


def check_reduced_axis(tensor: Tensor, axis: Any) -> None:
    """Raise ValueError, as TensorFlow does, unless the tensor has the axis or axes."""
    rank = tensor.shape.rank
    for each in axis if isinstance(axis, (list, tuple)) else [axis]:
        if rank is not None and isinstance(each, int) and not -rank <= each < rank:
            raise ValueError(
                f"reduce: invalid reduction dimension {each} for an input with {rank} "
                "dimension(s). Use axis=None to reduce over replicas only."
            )


def describe_gathered(tensor: Any, group: WorkerGroup, axis: int = 0) -> TensorSpec:
    """The spec of the tensors of all workers, joined along `axis`."""
    sizes = tensor.shape.as_list()
    sizes[axis] = None
    return TensorSpec(sizes, tensor.dtype)


@call_on_host(describe_gathered, draws=True)
def gather_over_workers(tensor: Any, group: WorkerGroup, axis: int = 0) -> Tensor:
    """The tensors of all workers, joined along `axis`."""
    return make_tensor(np.concatenate(group.all_gather(np.asarray(tensor._array)), axis))
