"""tf.distribute for one device: the default strategy, which calls through."""

from __future__ import annotations

import contextlib
from enum import Enum
from types import SimpleNamespace
from typing import Any


class ReduceOp(Enum):
    """How values of several replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The reduction that a variable's aggregation asks for."""
        return ReduceOp.MEAN if aggregation.name == "MEAN" else ReduceOp.SUM


class DistributedDataset:
    """A dataset dealt out to several replicas; there are none here."""


class DistributedIterator:
    """An iterator over a DistributedDataset; there are none here."""


class DistributedValues:
    """A value for each of several replicas; there are none here."""


class StrategyExtended:
    """What optimizers ask of a strategy."""

    def update(
        self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Call `fn` on the one copy of a variable."""
        return fn(var, *args, **(kwargs or {}))

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A scope that changes nothing: there is one device."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        """Every variable belongs to the default strategy."""
        return True


class Strategy:
    """The default strategy: one replica, on this machine."""

    num_replicas_in_sync = 1

    def __init__(self) -> None:
        """One replica."""
        self.extended = StrategyExtended()

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call `fn` once."""
        return fn(*args, **(kwargs or {}))

    def scope(self) -> Any:
        """A scope that changes nothing."""
        return contextlib.nullcontext(self)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that the function makes."""
        return dataset_fn(
            SimpleNamespace(num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1)
        )

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of the one replica."""
        return (value,)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The value itself; along `axis`, its sum or mean."""
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
        return DEFAULT

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The value itself."""
        return value

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call `merge_fn` with the strategy."""
        return merge_fn(DEFAULT, *args, **(kwargs or {}))


DEFAULT = Strategy()
REPLICA = ReplicaContext()


def unavailable(name: str) -> type:
    """A class that exists to be asked for by isinstance, and cannot be made."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"tf.distribute.{name}: gradtape runs on one device.")

    return type(
        name,
        (Strategy,),
        {"__init__": refuse, "is_refusal": True, "__doc__": "Several devices; gradtape has one."},
    )


def maybe_merge_call(fn: Any, strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Call `fn` with the strategy."""
    return fn(strategy, *args, **kwargs)


distribute = SimpleNamespace(
    DistributedDataset=DistributedDataset,
    DistributedIterator=DistributedIterator,
    DistributedValues=DistributedValues,
    MirroredStrategy=unavailable("MirroredStrategy"),
    MultiWorkerMirroredStrategy=unavailable("MultiWorkerMirroredStrategy"),
    ReduceOp=ReduceOp,
    ReplicaContext=ReplicaContext,
    Strategy=Strategy,
    StrategyExtended=StrategyExtended,
    TPUStrategy=unavailable("TPUStrategy"),
    get_replica_context=lambda: REPLICA,
    get_strategy=lambda: DEFAULT,
    has_strategy=lambda: False,
    in_cross_replica_context=lambda: False,
)

internal = SimpleNamespace(
    interim=SimpleNamespace(maybe_merge_call=maybe_merge_call),
    strategy_supports_no_merge_call=lambda: True,
)
