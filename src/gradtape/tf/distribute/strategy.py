"""Strategy: runs a function on several replicas."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.per_replica import DistributedValues, PerReplica, select_replica
from gradtape.core.replica import replica_state, use_replica_state
from gradtape.jit.function import Function
from gradtape.jit.lockstep import LockStepRun, TracePlace
from gradtape.jit.run_mode import RunMode
from gradtape.pipeline.distribute.distributed_dataset import (
    distribute_dataset,
    distribute_from_function,
)
from gradtape.state.variable.creator import variable_creator_scope
from gradtape.state.variable.distributed import DistributedVariable
from gradtape.tf.distribute.extended import StrategyExtended, make_context_error
from gradtape.tf.distribute.reduction import (
    ReduceOp,
    as_reduce_op,
    check_reduced_axis,
    reduce_all,
)
from gradtape.tf.distribute.replica_context import (
    ReplicaContext,
    merge_results,
)
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import truediv
from gradtape.tf.math.reduce import reduce_sum


class Strategy:
    """Runs a function on several replicas; its subclasses say where the replicas are.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> with strategy.scope():
        ...     w = tf.Variable(3.0)
        >>> @tf.function
        ... def total(x):
        ...     return strategy.reduce("SUM", strategy.run(lambda y: w * y, args=(x,)), axis=None)
        >>> total(tf.constant(2.0)).numpy()
        np.float32(12.0)
    """

    def __init__(self, extended: StrategyExtended) -> None:
        """Use the devices and workers of `extended`."""
        self._extended = extended
        self._lifted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @property
    def extended(self) -> StrategyExtended:
        """The part that optimizers and other libraries use."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas of all workers."""
        return self._extended._num_replicas_in_sync

    @property
    def cluster_resolver(self) -> Any:
        """The description of the cluster, or None."""
        return None

    @contextlib.contextmanager
    def _enter_scope(self) -> Iterator[Strategy]:
        state = replica_state
        if state.replica is not None:
            raise make_context_error()
        if state.strategy is self:
            yield self
            return
        if state.strategy is not None:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {self} is not {state.strategy}"
            )
        with (
            use_replica_state(self, None),
            variable_creator_scope(self._extended._create_variable),
        ):
            yield self

    def scope(self) -> Any:
        """Scope in which variables belong to this strategy.

        Returns:
            A context manager.

        Raises:
            RuntimeError: on entering, inside a replica or in the scope of another strategy.
        """
        return self._enter_scope()

    def _check_cross_replica(self) -> None:
        """Raise RuntimeError inside a replica, or in the scope of another strategy."""
        if replica_state.replica is not None:
            raise make_context_error()
        if replica_state.strategy not in (None, self):
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {self} is not "
                f"{replica_state.strategy}"
            )

    @public
    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """Call `fn` on each replica.

        Inside a `tf.function`, the ops of all replicas become one graph. If `fn` is a
        `tf.function` itself, all calls together are traced as one function.

        Args:
            fn: the function.
            args: arguments; of PerReplica values each replica gets its own.
            kwargs: arguments by name.
            options: has no effect here.

        Returns:
            The results: PerReplica values where they differ between replicas.

        Raises:
            TypeError: if `fn` is not callable.
            RuntimeError: inside a replica, or if the replicas do not meet at the same collectives.
        """
        if not callable(fn):
            raise TypeError(f"Strategy.run: fn must be callable. Received {fn!r}.")
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"Strategy.run: args must be a list or tuple. Received {args!r:.60}.")
        self._check_cross_replica()
        if isinstance(fn, Function) and not RunMode.eager:
            return self._lift(fn)(tuple(args), dict(kwargs or {}))
        return self._call_for_each_replica(fn, tuple(args), dict(kwargs or {}))

    def _lift(self, fn: Function) -> Any:
        """A function that runs the Python function of `fn` on each replica."""
        known = self._lifted.get(fn)
        if known is None:
            python_function, strategy = fn.python_function, self

            def run_replicas(args: Any, kwargs: Any) -> Any:
                return strategy._call_for_each_replica(python_function, args, kwargs)

            options = {name: value for name, value in fn._options.items() if name != "choice"}
            known = self._lifted[fn] = Function(run_replicas, fn.name, None, **options)
        return known

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        extended = self._extended
        count = len(extended.worker_devices)
        first = extended._group.rank * count
        with self._keep_scope():
            if count == 1:
                TracePlace().start_marks(extended._mesh)
                mine = select_replica(0, (args, kwargs))
                with use_replica_state(self, self._make_context(first, None)):
                    return fn(*mine[0], **mine[1])
            run = LockStepRun(self, count)
            contexts = [self._make_context(first + i, run) for i in range(count)]
            calls = [make_call(fn, i, args, kwargs) for i in range(count)]
            return merge_results(run.run(contexts, calls))

    def _keep_scope(self) -> Any:
        """Scope of this strategy, for variables that replicas create."""
        return contextlib.nullcontext() if replica_state.strategy is self else self._enter_scope()

    def _make_context(self, number: int, run: Any) -> ReplicaContext:
        return ReplicaContext(self, number, run)

    @public
    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """Reduce a value over all replicas.

        Args:
            reduce_op: a ReduceOp, or "SUM" or "MEAN".
            value: what `run` has returned: a PerReplica value, or a nested structure of them.
            axis: None to reduce over replicas only; an axis of each replica's tensor to reduce
                over that axis, too. A mean then counts every element once, also if the replicas'
                batches have different sizes.

        Returns:
            A tensor, or a structure of tensors.

        Raises:
            ValueError: if a value is not that of several replicas, or does not have `axis`.

        Note:
            Scalars have no axis, so that `axis` has no effect on them; TensorFlow raises an error.
        """
        self._check_cross_replica()
        op = as_reduce_op(reduce_op)

        def reduce_leaf(leaf: Any) -> Any:
            if axis is None:
                return self._extended._reduce_values(leaf, op.value)
            return self._reduce_along_axis(leaf, op, axis)

        return nest.map_structure(reduce_leaf, value)

    def _reduce_along_axis(self, value: Any, op: ReduceOp, axis: int) -> Any:
        """Reduce over replicas and over an axis of each replica's tensor."""
        if isinstance(value, DistributedValues):
            tensors = [convert(each) for each in value.values]
        else:
            tensors = [convert(value)] * len(self._extended.worker_devices)
        if all(t.shape.rank == 0 for t in tensors):
            return self._extended._reduce_values(PerReplica(tensors), op.value)
        for tensor in tensors:
            check_reduced_axis(tensor, axis)
        group, count = self._extended._group, self.num_replicas_in_sync
        sums = [reduce_sum(t, axis) for t in tensors]
        if op is ReduceOp.SUM:
            return reduce_all([sums], op, group, count)[0]
        sizes = [count_along_axis(t, axis) for t in tensors]
        total, size = reduce_all([sums, sizes], ReduceOp.SUM, group, count)
        return truediv(total, cast(size, total.dtype))

    @public
    def gather(self, value: Any, axis: int) -> Any:
        """Join the tensors of all replicas along an axis.

        Args:
            value: a PerReplica value, or a nested structure of them.
            axis: the axis.

        Returns:
            A tensor.

        Raises:
            ValueError: if there are several tensors and they have no such axis.
        """
        self._check_cross_replica()
        return nest.map_structure(lambda leaf: self._extended._gather_values(leaf, axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process, as a tuple.

        Args:
            value: a result of `run`, or any value or structure.

        Returns:
            A tuple; for a structure, it has the structure of each replica.
        """
        if isinstance(value, DistributedValues):
            return value.values
        if not nest.is_nested(value):
            return (value,)
        count = len(self._extended.worker_devices)
        return tuple(select_replica(i, value) for i in range(count))

    unwrap = experimental_local_results

    @public
    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Divide the batches of a dataset among the replicas.

        Args:
            dataset: a dataset of batches; the batch size is that of all replicas together.
            options: an InputOptions; only `experimental_place_dataset_on_device` is checked.

        Returns:
            A DistributedDataset, whose elements have PerReplica values.

        Raises:
            ValueError: if the dataset has no batches.
        """
        return distribute_dataset(dataset, self)

    @public
    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """Distribute the dataset that a function makes for each worker.

        Args:
            dataset_fn: function of an InputContext; returns a dataset of batches for one replica.
            options: has no effect here.

        Returns:
            A DistributedDataset, whose elements have PerReplica values.
        """
        return distribute_from_function(dataset_fn, self)

    @public
    def experimental_distribute_values_from_function(self, value_fn: Any) -> Any:
        """The values that a function returns for each replica.

        Args:
            value_fn: function of a context with `replica_id_in_sync_group` and
                `num_replicas_in_sync`.

        Returns:
            A PerReplica value, or a structure of them.
        """
        from gradtape.tf.distribute.input import ValueContext

        count = len(self._extended.worker_devices)
        first = self._extended._group.rank * count
        contexts = [ValueContext(first + i, self.num_replicas_in_sync) for i in range(count)]
        values = [value_fn(context) for context in contexts]
        if count == 1:
            return values[0]
        return nest.map_structure(lambda *leaves: PerReplica(leaves), *values)

    @public
    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator over a distributed dataset; TensorFlow 1's name.

        Args:
            dataset: a Dataset.

        Returns:
            An iterator.
        """
        return iter(self.experimental_distribute_dataset(dataset))

    @public
    def make_input_fn_iterator(self, input_fn: Any, replication_mode: Any = None) -> Any:
        """An iterator over the dataset of a function; TensorFlow 1's name.

        Args:
            input_fn: function of an InputContext that returns a Dataset.
            replication_mode: has no effect here.

        Returns:
            An iterator.
        """
        return iter(self.distribute_datasets_from_function(input_fn))


def make_call(fn: Callable[..., Any], replica: int, args: Any, kwargs: Any) -> Any:
    """The call of one replica."""
    given, named = select_replica(replica, (args, kwargs))
    return lambda: fn(*given, **named)


def count_along_axis(tensor: Any, axis: int) -> Any:
    """The size of a tensor along an axis, as an integer tensor."""
    from gradtape.tf.array.shape import shape as shape_of

    return shape_of(tensor)[axis]


def is_variable_of(value: Any, strategy: Strategy) -> bool:
    """Whether a value is a variable of a strategy."""
    return isinstance(value, DistributedVariable) and value.distribute_strategy is strategy
