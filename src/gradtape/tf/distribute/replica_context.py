"""ReplicaContext: what the code of one replica sees of the others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.lazy_array import TracedArray
from gradtape.core.per_replica import PerReplica, merge_replicas, select_replica
from gradtape.core.replica import use_replica_state
from gradtape.core.symbolic_tensor import make_symbolic
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops.elementwise import identity
from gradtape.tape.custom_gradient_step import (
    make_custom_step,
    record_on_tapes,
)
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tape.source import to_current_trace
from gradtape.tf.array.gather import gather
from gradtape.tf.array.range import range as make_range
from gradtape.tf.array.shape import shape as shape_of
from gradtape.tf.distribute.reduction import (
    ReduceOp,
    as_reduce_op,
    check_gathered,
    gather_all,
    reduce_all,
)
from gradtape.tf.math.reduce import reduce_sum


class ReplicaContextBase:
    """The context of one replica while `Strategy.run` calls its function.

    Attributes:
        _local_number: the number of the replica in this process.
        _local_count: the number of replicas in this process.
        _run: the `LockStepRun` of all replicas of this process, or None if there is only one.
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any, run: Any = None) -> None:
        self._strategy = strategy
        self._replica_id = make_tensor(np.int32(replica_id_in_sync_group))
        self._local_count = len(strategy.extended.worker_devices)
        first = strategy.extended._group.rank * self._local_count
        self._local_number = int(replica_id_in_sync_group) - first
        self._run = run
        self._scope = contextlib.ExitStack()

    @property
    def strategy(self) -> Any:
        """The strategy of the replica."""
        return self._strategy

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of the replica among those of all workers."""
        return self._replica_id

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas of all workers."""
        count: int = self._strategy.num_replicas_in_sync
        return count

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of the replica."""
        return (self._strategy.extended.worker_devices[self._local_number],)

    def __enter__(self) -> Any:
        """Run for this replica within the scope."""
        self._scope.enter_context(use_replica_state(self._strategy, self))
        return self

    def __exit__(self, *error: Any) -> None:
        """End the scope."""
        self._scope.close()

    def _meet(self, function: Any, args: Any, kwargs: Any, label: str) -> Any:
        """Call `function` once for all replicas, with the merged arguments of all."""
        if self._run is not None:
            return self._run.meet(self._local_number, function, args, kwargs, label)
        with use_replica_state(self._strategy, None):
            merged = function(self._strategy, *args, **kwargs)
        return select_replica(0, merged)

    @public
    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Call `merge_fn` once for all replicas, in cross-replica context.

        Args:
            merge_fn: function of the strategy and of the arguments of all replicas; arguments that
                differ arrive as PerReplica values.
            args: arguments of this replica.
            kwargs: arguments by name.

        Returns:
            The result; of a PerReplica value the part of this replica.

        Raises:
            RuntimeError: if the replicas do not all call it, or call it inside a nested function.
        """
        return self._meet(merge_fn, tuple(args), dict(kwargs or {}), "merge_call")


class ReplicaContext(ReplicaContextBase):
    """The context of one replica while `Strategy.run` calls its function.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> def add_up():
        ...     context = tf.distribute.get_replica_context()
        ...     return context.all_reduce("SUM", tf.constant(context.replica_id_in_sync_group + 1))
        >>> [int(x) for x in strategy.experimental_local_results(strategy.run(add_up))]
        [3, 3]
    """

    @public
    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Reduce a value over all replicas; every replica gets the result.

        Gradients pass through: the gradient of a sum is the sum of the replicas' gradients.

        Args:
            reduce_op: a ReduceOp, or "SUM" or "MEAN".
            value: a tensor, IndexedSlices, or a nested structure of them.
            options: has no effect here.

        Returns:
            The reduced value.

        Note:
            As in TensorFlow, a tensor object that all replicas of a process share counts once.
        """
        op = as_reduce_op(reduce_op)
        leaves = [as_leaf(leaf) for leaf in nest.flatten(value)]
        reduced = self._meet(
            partial(reduce_leaves, op=op), (leaves,), {}, f"all_reduce of {len(leaves)} values"
        )
        outs = list(map(make_own_handle, reduced))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        self._record(
            [outs[i] for i in places],
            [leaves[i] for i in places],
            lambda *g: self.all_reduce(op, list(g)),
        )
        return nest.pack_sequence_as(value, outs)

    @public
    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Join the tensors of all replicas along an axis; every replica gets the result.

        Args:
            value: a tensor, or a nested structure of tensors; only sizes along `axis` may differ.
            axis: the axis.
            options: has no effect here.

        Returns:
            The joined tensors.

        Raises:
            ValueError: if there are several replicas and `value` has no such axis.
        """
        leaves = [convert(leaf) for leaf in nest.flatten(value)]
        if self.num_replicas_in_sync == 1:
            return nest.pack_sequence_as(value, list(map(identity, leaves)))
        check_gathered(leaves, axis)
        gathered = self._meet(
            partial(gather_leaves, axis=axis), (leaves,), {}, f"all_gather of {len(leaves)} values"
        )
        outs = list(map(make_own_handle, gathered))

        def differentiate(*g: Any) -> list[Any]:
            totals = self.all_reduce(ReduceOp.SUM, list(g))
            return [
                self._take_own_part(total, leaf, axis)
                for total, leaf in zip(totals, leaves, strict=True)
            ]

        self._record(outs, leaves, differentiate)
        return nest.pack_sequence_as(value, outs)

    def _take_own_part(self, total: Any, leaf: Any, axis: int) -> Any:
        """The part of a joined tensor that this replica has contributed."""
        axis %= leaf.shape.rank
        sizes = self.all_gather(shape_of(leaf)[axis : axis + 1], 0)
        is_before = np.arange(self.num_replicas_in_sync) < int(self._replica_id)
        before = reduce_sum(sizes * make_tensor(is_before.astype(np.int32)))
        return gather(total, before + make_range(shape_of(leaf)[axis]), axis=axis)

    def _record(self, outs: list[Any], inputs: list[Any], differentiate: Any) -> None:
        """Let the tapes of this replica record a collective."""
        recorders = local.recorders
        tapes = recorders[1:] if recorders and recorders[0].is_trace else recorders
        inputs = list(map(to_current_trace, inputs))
        if outs and any(t.uid in tape for tape in tapes for t in inputs):
            record_on_tapes(tapes, outs, inputs, make_custom_step(outs, inputs, differentiate))


def as_leaf(value: Any) -> Any:
    """A value of an all_reduce; replicas that read a variable have read different tensors."""
    if isinstance(value, (Tensor, IndexedSlices)):
        return value
    tensor = convert(value)
    return identity(tensor) if hasattr(value, "_target_variable") else tensor


def make_own_handle(value: Any) -> Any:
    """A tensor of this replica for a result that the replicas share."""
    if not isinstance(value, Tensor):
        return value
    raw = value._array
    return make_symbolic(raw) if isinstance(raw, TracedArray) else make_tensor(raw)


def reduce_leaves(strategy: Any, leaves: list[Any], op: ReduceOp) -> list[Any]:
    """Reduce the merged leaves of all replicas."""
    extended = strategy.extended
    values = [leaf.values if isinstance(leaf, PerReplica) else (leaf,) for leaf in leaves]
    if op is ReduceOp.MEAN:
        return [
            reduce_all([each], op, extended._group, len(each) * extended._group.size)[0]
            for each in values
        ]
    return reduce_all(values, op, extended._group, strategy.num_replicas_in_sync)


def gather_leaves(strategy: Any, leaves: list[Any], axis: int) -> list[Any]:
    """Join the merged leaves of all replicas."""
    extended = strategy.extended
    count = len(extended.worker_devices)
    values = [leaf.values if isinstance(leaf, PerReplica) else (leaf,) * count for leaf in leaves]
    return [gather_all(each, axis, extended._group) for each in values]


class DefaultReplicaContext(ReplicaContext):
    """The context outside every strategy: one replica."""

    _local_number = 0
    _local_count = 1
    _run = None

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._replica_id = make_tensor(np.int32(0))


def merge_results(results: list[Any]) -> Any:
    """One structure from the results of all replicas."""
    return results[0] if len(results) == 1 else merge_replicas(results)
