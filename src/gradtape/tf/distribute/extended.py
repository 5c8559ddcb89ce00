"""StrategyExtended: the part of a strategy that optimizers and other libraries use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.enums import VariableAggregation, VariableSynchronization
from gradtape.core.errors import public
from gradtape.core.per_replica import (
    DistributedValues,
    Mirrored,
    PerReplica,
    ReplicaValues,
    merge_replicas,
    select_replica,
)
from gradtape.core.replica import (
    EVERY_REPLICA,
    replica_state,
    use_replica_state,
    use_updated_replica,
)
from gradtape.core.tensor import Tensor
from gradtape.core.worker_group import SINGLE_WORKER, WorkerGroup
from gradtape.graph.graph_similarity import are_same_values
from gradtape.ops.elementwise import identity
from gradtape.state.variable.distributed import DistributedVariable, ReplicaVariable
from gradtape.state.variable.mirrored import MirroredVariable
from gradtape.state.variable.sync_on_read import SyncOnReadVariable
from gradtape.tf.distribute.reduction import ReduceOp, as_reduce_op, gather_all, reduce_all


class StrategyExtended:
    """The part of a strategy that optimizers and other libraries use.

    Attributes:
        _group: the workers of the strategy.
        _mesh: the accelerators of the replicas; empty if the replicas run on the host.
    """

    def __init__(
        self,
        strategy: Any,
        devices: Iterable[str] = ("/device:CPU:0",),
        group: WorkerGroup = SINGLE_WORKER,
        mesh: Sequence[Any] = (),
    ) -> None:
        """Describe a strategy with one replica for each device."""
        self._mesh = tuple(mesh)
        self._strategy = strategy
        self._devices = tuple(devices)
        self._group = group

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas of this process."""
        return self._devices

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the copies of variables in this process."""
        return self._devices

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices) * self._group.size

    @property
    def experimental_require_static_shapes(self) -> bool:
        """False: batches may have any size."""
        return False

    def _in_multi_worker_mode(self) -> bool:
        """Whether there are several processes."""
        return self._group.size > 1

    def _use_merge_call(self) -> bool:
        """True: replicas meet by `merge_call`."""
        return True

    @property
    def _num_workers(self) -> int:
        return self._group.size

    def _create_variable(self, next_creator: Callable[..., Any], **facts: Any) -> Any:
        """Create a variable of the strategy; inside replicas, all of them create it together."""
        replica = replica_state.replica
        if replica is None:
            return self._create_distributed(next_creator, facts)

        def create() -> Any:
            return self._create_distributed(next_creator, facts)

        if replica._run is None:
            with use_replica_state(self._strategy, None):
                return create()
        name = str(facts.get("name") or "Variable")
        return replica._run.share_variable(replica._local_number, name, create)

    def _create_distributed(self, next_creator: Callable[..., Any], facts: dict[str, Any]) -> Any:
        synchronization = facts.get("synchronization", VariableSynchronization.AUTO)
        if synchronization is VariableSynchronization.NONE:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with tf.distribute "
                f"strategy. Please change the `synchronization` for variable: {facts.get('name')}"
            )
        if isinstance(next_creator, partial):  # functions of an outer `variable_creator_scope`
            facts = {**facts, **describe_variable(next_creator(**facts))}
        cls: type[DistributedVariable] = MirroredVariable
        if synchronization is VariableSynchronization.ON_READ:
            cls = SyncOnReadVariable
        variable = cls._create(self._strategy, **facts)
        if self._group.size > 1:
            variable._share_initial_value(self._group)
        return variable

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable was created in the scope of this strategy.

        Args:
            v: a variable.

        Returns:
            A bool.
        """
        return getattr(v, "distribute_strategy", None) is self._strategy

    @public
    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Scope for variables that belong to another one.

        Args:
            colocate_with_variable: a variable of this strategy.

        Returns:
            A context manager.

        Raises:
            ValueError: if it is not a variable of this strategy.
        """
        if not self.variable_created_in_scope(colocate_with_variable):
            raise ValueError(
                "`colocate_vars_with` must be passed a variable created in this "
                "tf.distribute.Strategy.scope(). Received "
                f"{type(colocate_with_variable).__name__}."
            )
        return contextlib.nullcontext()

    def value_container(self, value: Any) -> Any:
        """The distributed variable that a copy belongs to, or the value itself.

        Args:
            value: a variable, a copy of one, or another value.

        Returns:
            A variable or the value.
        """
        return value._variable if isinstance(value, ReplicaVariable) else value

    def read_var(self, v: Any) -> Any:
        """The value of a variable.

        Args:
            v: a variable of this strategy.

        Returns:
            A tensor.
        """
        return v.read_value()

    @public
    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Call `fn` on the copies of a variable, in cross-replica context.

        Args:
            var: a variable of this strategy.
            fn: function of a copy and of the replica's arguments. It may assign to `var` and to
                other variables of the strategy. Where the replicas share a value, it is called
                once for all of them.
            args: arguments; of PerReplica values each copy gets its own.
            kwargs: arguments by name.
            group: whether to return one value; otherwise a tuple of the results.

        Returns:
            The results of `fn`.

        Inside a replica, all replicas meet here first.
        """
        replica = replica_state.replica
        if self._num_replicas_in_sync == 1:
            mine = select_replica(0, (tuple(args), dict(kwargs or {})))
            result = fn(var, *mine[0], **mine[1])
            return result if group else (result,)
        if replica is not None:

            def update_merged(strategy: Any, *merged: Any, **named: Any) -> Any:
                return self.update(var, fn, merged, named, group)

            return replica._meet(update_merged, tuple(args), dict(kwargs or {}), "extended.update")
        given = (tuple(args), dict(kwargs or {}))
        count = len(self._devices)
        if self._can_update_once(var, given):
            mine = select_replica(0, given)
            with use_updated_replica(EVERY_REPLICA):
                result = fn(var, *mine[0], **mine[1])
            results = [result] * count
        else:
            var._separate()
            results = []
            for i, copy in enumerate(var.values):
                mine = select_replica(i, given)
                with use_updated_replica(i):
                    results.append(fn(copy, *mine[0], **mine[1]))
        if not group:
            return tuple(results)
        return merge_replicas(results, Mirrored)

    def _can_update_once(self, var: Any, given: Any) -> bool:
        """Whether an update computes the same for all replicas."""
        if not isinstance(var, MirroredVariable):
            return not isinstance(var, DistributedVariable)
        if len(self._devices) == 1:
            return True
        leaves = [leaf for leaf in nest.flatten(given) if isinstance(leaf, ReplicaValues)]
        return not var._copies and all(are_same_values(leaf.values) for leaf in leaves)

    def _aggregate(self, value: Any, aggregation: VariableAggregation) -> Any:
        """The value that is written for those that all replicas write."""
        if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return value.values[0] if isinstance(value, ReplicaValues) else value
        op = ReduceOp.from_variable_aggregation(aggregation)
        return self._reduce_values(value, op.value)

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call `fn` on each replica, as `Strategy.run`.

        Args:
            fn: a function.
            args: its arguments; a per-replica value gives each replica its own.
            kwargs: its keyword arguments.

        Returns:
            The results of all replicas.
        """
        return self._strategy._call_for_each_replica(fn, tuple(args), dict(kwargs or {}))

    def _reduce_values(self, value: Any, op: str) -> Any:
        """Reduce one value over all replicas."""
        reduction = as_reduce_op(op)
        if isinstance(value, Mirrored) and reduction is ReduceOp.MEAN:
            return value.values[0]
        if isinstance(value, DistributedVariable):
            value = PerReplica([copy.read_value() for copy in value.values])
        if not isinstance(value, DistributedValues):
            if self._num_replicas_in_sync == 1 or (
                reduction is ReduceOp.MEAN and self._group.size == 1
            ):
                return value
            if self._group.size == 1:
                raise ValueError(
                    f"A non-DistributedValues value {value} cannot be reduced with the given "
                    f"reduce op {reduction}. All replicas share this value: multiply it, or pass "
                    "what strategy.run returned."
                )
            value = PerReplica([value])
        count = len(value.values) * self._group.size
        return reduce_all([value.values], reduction, self._group, count)[0]

    @public
    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Reduce a value over all replicas.

        Args:
            reduce_op: a ReduceOp, or "SUM" or "MEAN".
            value: a PerReplica value, or one that all replicas share.
            destinations: a variable or device; every replica gets the result.
            options: has no effect here.

        Returns:
            The reduced value.
        """
        return self._mirror(self._reduce_values(value, as_reduce_op(reduce_op).value))

    @public
    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """Reduce several values over all replicas.

        Args:
            reduce_op: a ReduceOp, or "SUM" or "MEAN".
            value_destination_pairs: pairs as the arguments of `reduce_to`.
            options: has no effect here.

        Returns:
            A list of reduced values.
        """
        return [self.reduce_to(reduce_op, value, place) for value, place in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The value for every replica.

        Args:
            tensor: a tensor.
            destinations: has no effect here.

        Returns:
            A distributed value.
        """
        return self._mirror(tensor) if isinstance(tensor, Tensor) else tensor

    def _mirror(self, value: Any) -> Any:
        """A value for every replica; tensors of their own, so that each replica returns its own."""
        if len(self._devices) == 1:
            return value
        own = identity if isinstance(value, Tensor) else (lambda each: each)
        return Mirrored([own(value) for _ in self._devices])

    def _gather_values(self, value: Any, axis: int) -> Any:
        """Join the values of all replicas along `axis`."""
        values = value.values if isinstance(value, DistributedValues) else (value,)
        return gather_all(values, axis, self._group)


def make_context_error() -> RuntimeError:
    """The error for a method that is called inside a replica."""
    return RuntimeError(
        "Method requires being in cross-replica context, use get_replica_context().merge_call()"
    )


def describe_variable(variable: Any) -> dict[str, Any]:
    """The arguments of `tf.Variable` that make a variable like this one."""
    return {
        "initial_value": np.array(variable),
        "trainable": variable.trainable,
        "name": variable.name.removesuffix(":0"),
        "dtype": variable.dtype,
        "constraint": variable.constraint,
        "shape": variable.shape,
    }
