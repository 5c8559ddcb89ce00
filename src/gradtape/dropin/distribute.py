"""tf.distribute for one device: the default strategy, which calls functions directly."""

from __future__ import annotations

import contextlib
from enum import Enum
from types import SimpleNamespace
from typing import Any


class ReduceOp(Enum):
    """How the values of several replicas are reduced to one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The reduction that corresponds to a variable's aggregation."""
        return ReduceOp.MEAN if aggregation.name == "MEAN" else ReduceOp.SUM


class DistributedDataset:
    """A dataset split among replicas; for isinstance checks, there are no instances."""


class DistributedIterator:
    """An iterator over a DistributedDataset; for isinstance checks, there are no instances."""


class DistributedValues:
    """A value for each replica; for isinstance checks, there are no instances."""


class StrategyExtended:
    """The part of a strategy that optimizers use."""

    def update(
        self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Call `fn` on the one copy of a variable."""
        return fn(var, *args, **(kwargs or {}))

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Scope without effect: there is one device."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        """True: every variable belongs to the default strategy."""
        return True


class Strategy:
    """The default strategy: one replica, on this machine."""

    num_replicas_in_sync = 1

    def __init__(self) -> None:
        """Create a strategy with one replica."""
        self.extended = StrategyExtended()

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call `fn` once."""
        return fn(*args, **(kwargs or {}))

    def scope(self) -> Any:
        """Scope without effect."""
        return contextlib.nullcontext(self)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that the function returns."""
        return dataset_fn(
            SimpleNamespace(num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1)
        )

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of the one replica."""
        return (value,)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The value itself, or its sum or mean along `axis`."""
        if axis is None:
            return value
        from gradtape.tf.api import math

        mean = getattr(reduce_op, "name", reduce_op) == "MEAN"
        return (math.reduce_mean if mean else math.reduce_sum)(value, axis)


class ReplicaContext:
    """The one replica."""

    num_replicas_in_sync = 1
    replica_id_in_sync_group = 0

    @property
    def strategy(self) -> Strategy:
        """The default strategy."""
        return DEFAULT_STRATEGY

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The value itself."""
        return value

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call `merge_fn` with the strategy."""
        return merge_fn(DEFAULT_STRATEGY, *args, **(kwargs or {}))


DEFAULT_STRATEGY = Strategy()
REPLICA_CONTEXT = ReplicaContext()


def make_unavailable_strategy(name: str) -> type:
    """Make a strategy class for isinstance checks; its constructor raises."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"tf.distribute.{name}: gradtape supports one device only.")

    return type(
        name,
        (Strategy,),
        {"__init__": refuse, "is_refusal": True, "__doc__": "Not supported: several devices."},
    )


def maybe_merge_call(fn: Any, strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Call `fn` with the strategy."""
    return fn(strategy, *args, **kwargs)


distribute = SimpleNamespace(
    DistributedDataset=DistributedDataset,
    DistributedIterator=DistributedIterator,
    DistributedValues=DistributedValues,
    MirroredStrategy=make_unavailable_strategy("MirroredStrategy"),
    MultiWorkerMirroredStrategy=make_unavailable_strategy("MultiWorkerMirroredStrategy"),
    ReduceOp=ReduceOp,
    ReplicaContext=ReplicaContext,
    Strategy=Strategy,
    StrategyExtended=StrategyExtended,
    TPUStrategy=make_unavailable_strategy("TPUStrategy"),
    get_replica_context=lambda: REPLICA_CONTEXT,
    get_strategy=lambda: DEFAULT_STRATEGY,
    has_strategy=lambda: False,
    in_cross_replica_context=lambda: False,
)

distribute_internal = SimpleNamespace(
    interim=SimpleNamespace(maybe_merge_call=maybe_merge_call),
    strategy_supports_no_merge_call=lambda: True,
)
