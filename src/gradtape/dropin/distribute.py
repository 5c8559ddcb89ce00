"""tf.distribute for one device: strategies with one replica, which call functions directly."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from enum import Enum
from types import SimpleNamespace
from typing import Any, NamedTuple


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


class InputContext(NamedTuple):
    """What a function that makes the dataset of a replica is told."""

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size of the one replica."""
        return global_batch_size


class StrategyExtended:
    """The part of a strategy that optimizers use."""

    worker_devices: tuple[str, ...] = ("/device:CPU:0",)
    parameter_devices: tuple[str, ...] = ("/device:CPU:0",)

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


class StrategyState(threading.local):
    """The strategy of this thread, and whether its code runs for all replicas at once."""

    def __init__(self) -> None:
        """Start with the default strategy, in its one replica."""
        self.strategy: Strategy = DEFAULT_STRATEGY
        self.is_cross_replica: bool = False


@contextlib.contextmanager
def use_strategy(strategy: Strategy, is_cross_replica: bool) -> Iterator[Strategy]:
    """Scope with this strategy."""
    before = STATE.strategy, STATE.is_cross_replica
    STATE.strategy, STATE.is_cross_replica = strategy, is_cross_replica
    try:
        yield strategy
    finally:
        STATE.strategy, STATE.is_cross_replica = before


class Strategy:
    """The default strategy: one replica, on this machine."""

    num_replicas_in_sync = 1

    def __init__(self) -> None:
        """Create a strategy with one replica."""
        self.extended = StrategyExtended()

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call `fn` once."""
        if not callable(fn):
            raise TypeError(f"Strategy.run: fn must be callable. Received {fn!r}.")
        with use_strategy(self, is_cross_replica=False):
            return fn(*args, **(kwargs or {}))

    def scope(self) -> Any:
        """Scope in which this is the strategy."""
        return use_strategy(self, is_cross_replica=self is not DEFAULT_STRATEGY)

    def gather(self, value: Any, axis: int) -> Any:
        """The value of the one replica."""
        return value

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that the function returns."""
        return dataset_fn(InputContext())

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
        """The strategy of this thread."""
        return STATE.strategy

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The value itself."""
        return value

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call `merge_fn` with the strategy."""
        strategy = STATE.strategy
        with use_strategy(strategy, is_cross_replica=True):
            return merge_fn(strategy, *args, **(kwargs or {}))


DEFAULT_STRATEGY = Strategy()
STATE: StrategyState = StrategyState()
REPLICA_CONTEXT = ReplicaContext()


class OneDeviceStrategy(Strategy):
    """One replica on a given device.

    Args:
        device: the name of the device, such as "/cpu:0".
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.extended.worker_devices = self.extended.parameter_devices = (str(device),)


class MirroredStrategy(Strategy):
    """One replica on one device; more devices are not supported.

    Args:
        devices: at most one name; None for the CPU.
        cross_device_ops: has no effect here.

    Raises:
        NotImplementedError: if there are several devices.
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        names = ["/cpu:0"] if devices is None else list(devices)
        if len(names) > 1:
            raise NotImplementedError(
                f"tf.distribute.MirroredStrategy: gradtape supports one device only. Received "
                f"{names}."
            )
        super().__init__()
        self.extended.worker_devices = self.extended.parameter_devices = tuple(names)


def get_replica_context() -> ReplicaContext | None:
    """The one replica; None inside the scope of a strategy, outside of `run`."""
    return None if STATE.is_cross_replica else REPLICA_CONTEXT


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


TPU_STRATEGY = make_unavailable_strategy("TPUStrategy")

distribute = SimpleNamespace(
    DistributedDataset=DistributedDataset,
    DistributedIterator=DistributedIterator,
    DistributedValues=DistributedValues,
    InputContext=InputContext,
    MirroredStrategy=MirroredStrategy,
    MultiWorkerMirroredStrategy=make_unavailable_strategy("MultiWorkerMirroredStrategy"),
    OneDeviceStrategy=OneDeviceStrategy,
    ReduceOp=ReduceOp,
    ReplicaContext=ReplicaContext,
    Strategy=Strategy,
    StrategyExtended=StrategyExtended,
    TPUStrategy=TPU_STRATEGY,
    experimental=SimpleNamespace(TPUStrategy=TPU_STRATEGY),
    get_replica_context=get_replica_context,
    get_strategy=lambda: STATE.strategy,
    has_strategy=lambda: STATE.strategy is not DEFAULT_STRATEGY,
    in_cross_replica_context=lambda: STATE.is_cross_replica,
)

distribute_internal = SimpleNamespace(
    interim=SimpleNamespace(maybe_merge_call=maybe_merge_call),
    strategy_supports_no_merge_call=lambda: True,
)
