"""Variables of a distribution strategy: what all variables with copies on replicas share.

A variable of a strategy is its own first copy. Further copies exist only where replicas may hold
different values: see `mirrored` and `sync_on_read`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.context import no_recording
from gradtape.core.convert import convert
from gradtape.core.enums import VariableAggregation
from gradtape.core.per_replica import DistributedValues, ReplicaValues
from gradtape.core.replica import (
    EVERY_REPLICA,
    current_replica_number,
    replica_state,
    use_updated_replica,
)
from gradtape.core.tensor import Tensor
from gradtape.ops.elementwise import identity
from gradtape.state.variable.variable import UnreadVariable, Variable
from gradtape.tape.indexed_slices import IndexedSlices

Apply = Callable[[Variable, Any], Any]  # a write: the copy and the value


class ReplicaCopy(Variable):
    """The storage of one replica after the first; it does not ask creators of variables."""


ReplicaCopy.__name__ = Variable.__name__


class DistributedVariable(Variable, DistributedValues):
    """A variable that was created in the scope of a strategy.

    Attributes:
        _strategy: the strategy.
        _copies: the copies of the replicas after the first; empty if all share one value.
    """

    _strategy: Any
    _copies: tuple[Variable, ...] = ()

    @classmethod
    def _create(cls, strategy: Any, **facts: Any) -> Any:
        """Create a variable of `strategy`; `facts` are the arguments of `tf.Variable`."""
        variable = cls(**facts)
        variable._strategy = strategy
        return variable

    @property
    def distribute_strategy(self) -> Any:
        """The strategy in whose scope the variable was created."""
        return self._strategy

    @property
    def values(self) -> tuple[Any, ...]:
        """The copies of the replicas of this process."""
        return tuple([make_replica_variable(self, i) for i in range(self._copy_count)])

    @property
    def _copy_count(self) -> int:
        return len(self._strategy.extended.worker_devices)

    @property
    def _values(self) -> tuple[Any, ...]:
        return self.values

    def __repr__(self) -> str:
        lines = [f"  {i}: {value!r}" for i, value in enumerate(self.values)]
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"

    def _current_copy(self) -> Variable | None:
        """The copy that this thread uses, if it is not the first one; else None."""
        copies = self._copies
        if not copies:
            return None
        number = current_replica_number(self._strategy)
        return None if number is None or number < 1 else copies[number - 1]

    def _make_copies(self) -> tuple[Variable, ...]:
        """New copies for the replicas after the first, with the stored value."""
        stored = Variable._stored_version(self)
        facts: dict[str, Any] = {
            "trainable": self._trainable,
            "shape": self._shape,
            "constraint": self._constraint,
            "aggregation": self._aggregation,
        }
        with no_recording():
            copies = [ReplicaCopy(stored, **facts) for _ in range(1, self._copy_count)]
        for i, copy in enumerate(copies, 1):
            copy._name = f"{self._name}/replica_{i}"
        return tuple(copies)

    def _share_initial_value(self, group: Any) -> None:
        """Give all workers the value of the chief."""
        with no_recording():
            array = group.broadcast(self._stored_version()._array, 0)
            for copy in self._all_copies():
                Variable._install(copy, array)

    def _all_copies(self) -> Iterable[Variable]:
        return (self, *self._copies)

    def _write(self, value: Any, apply: Apply) -> Any:
        """Write `value` by `apply`, which takes the copy and the value."""
        raise NotImplementedError

    def _write_everywhere(self, value: Any, apply: Apply) -> Any:
        """Write the same value, or that of each replica, to all copies."""
        with use_updated_replica(None if replica_state.replica is None else EVERY_REPLICA):
            if isinstance(value, ReplicaValues) and not is_mirrored(value):
                self._separate()
                pairs = zip(self._all_copies(), value.values, strict=True)
            else:
                shared = value.values[0] if isinstance(value, ReplicaValues) else value
                pairs = zip(self._all_copies(), [shared] * (1 + len(self._copies)), strict=True)
            results = [apply(copy, each) for copy, each in pairs]
        return results[0]

    def _write_copy(self, number: int, value: Any, apply: Apply) -> Any:
        """Write to the copy of one replica only."""
        if self._copy_count > 1:
            self._separate()
        if isinstance(value, ReplicaValues):
            value = value.values[number]
        return apply(self._copies[number - 1] if number else self, value)

    def _separate(self) -> None:
        """Let every replica have a copy of its own."""

    def _replace(self, value: Any, read_value: bool) -> Any:
        return self._write(value, lambda copy, v: Variable._replace(copy, v, read_value))

    def _apply_delta(self, function: Any, operation: Any, delta: Any, read_value: bool) -> Any:
        def apply(copy: Variable, value: Any) -> Any:
            return Variable._apply_delta(copy, function, operation, value, read_value)

        return self._write(delta, apply)

    def _assign_slice(self, key: Any, value: Any, name: str | None = None) -> Any:
        return self._write(value, lambda copy, v: Variable._assign_slice(copy, key, v))

    def _scatter_rows(self, how: str, slices: Any) -> Any:
        return self._write(slices, lambda copy, v: Variable._scatter_rows(copy, how, v))

    def _scatter_positions(self, how: str, indices: Any, updates: Any) -> Any:
        return self._write(
            updates, lambda copy, v: Variable._scatter_positions(copy, how, indices, v)
        )


class SeparateCopies:
    """Methods of a variable whose replicas have copies of their own."""

    _current_copy: Callable[[], Variable | None]

    @property
    def _key(self) -> int:
        copy = self._current_copy()
        number: int = vars(self)["_key"] if copy is None else copy._key
        return number

    @_key.setter
    def _key(self, number: int) -> None:
        vars(self)["_key"] = number

    @property
    def _target_variable(self) -> Any:
        copy = self._current_copy()
        return self if copy is None else copy

    def _stored_version(self) -> Tensor:
        copy = self._current_copy()
        return Variable._stored_version(self if copy is None else copy)  # type: ignore[arg-type]

    def _current_version(self) -> Tensor:
        copy = self._current_copy()
        return Variable._current_version(self if copy is None else copy)  # type: ignore[arg-type]

    def _read(self) -> Tensor:
        copy = self._current_copy()
        return Variable._read(self if copy is None else copy)  # type: ignore[arg-type]

    def _install(self, raw: Any) -> None:
        copy = self._current_copy()
        Variable._install(self if copy is None else copy, raw)  # type: ignore[arg-type]

    def _update(self, function: Callable[..., Any], *args: Any) -> None:
        copy = self._current_copy()
        Variable._update(self if copy is None else copy, function, *args)  # type: ignore[arg-type]


class ReplicaVariable(UnreadVariable):
    """The copy of a distributed variable that belongs to one replica, as `values` shows it."""

    _replica: int

    def _distributed_container(self) -> Any:
        """The variable whose copy this is."""
        return self._variable

    @property
    def name(self) -> str:
        """The name of the variable; after the first replica, with its number."""
        suffix = f"/replica_{self._replica}" if self._replica else ""
        return f"{self._variable._name}{suffix}:0"

    @property
    def device(self) -> str:
        """The device of the replica."""
        variable: Any = self._variable
        device: str = variable._strategy.extended.worker_devices[self._replica]
        return device

    __repr__ = Variable.__repr__

    @property
    def _key(self) -> Any:  # type: ignore[override]
        return self._call("__getattribute__", "_key")

    @property
    def _target_variable(self) -> Any:
        return self._call("__getattribute__", "_target_variable")

    def _call(self, method: str, *args: Any) -> Any:
        with use_updated_replica(self._replica):
            return getattr(self._variable, method)(*args)

    def _stored_version(self) -> Tensor:
        tensor: Tensor = self._call("_stored_version")
        return tensor

    def _current_version(self) -> Tensor:
        tensor: Tensor = self._call("_current_version")
        return tensor

    def _read(self) -> Tensor:
        tensor: Tensor = self._call("_read")
        return tensor

    def _install(self, raw: Any) -> None:
        self._call("_install", raw)

    def _update(self, function: Callable[..., Any], *args: Any) -> None:
        self._call("_update", function, *args)

    def _assignment_result(self, read_value: bool = True) -> Any:
        return self._call("_assignment_result", read_value)

    def _replace(self, value: Any, read_value: bool) -> Any:
        return self._call("_replace", value, read_value)

    def _apply_delta(self, function: Any, operation: Any, delta: Any, read_value: bool) -> Any:
        return self._call("_apply_delta", function, operation, delta, read_value)

    def _assign_slice(self, key: Any, value: Any, name: str | None = None) -> Any:
        return self._call("_assign_slice", key, value)

    def _scatter_rows(self, how: str, slices: Any) -> Any:
        return self._call("_scatter_rows", how, slices)

    def _scatter_positions(self, how: str, indices: Any, updates: Any) -> Any:
        return self._call("_scatter_positions", how, indices, updates)


ReplicaVariable.__name__ = Variable.__name__


def make_replica_variable(variable: DistributedVariable, replica: int) -> ReplicaVariable:
    """Make the object that stands for one replica's copy of a variable."""
    made = ReplicaVariable()
    made._variable, made._replica = variable, replica
    return made


def as_written_value(value: Any, dtype: Any) -> Any:
    """A value that a replica writes, ready to be reduced over the replicas.

    Replicas that read the same variable have read different tensors, as in TensorFlow.
    """
    if isinstance(value, (Tensor, IndexedSlices, bool, int, float, complex)):
        return value
    tensor = convert(value, dtype)
    return identity(tensor) if hasattr(value, "_target_variable") else tensor


def is_mirrored(value: ReplicaValues) -> bool:
    """Whether the values of all replicas are handles on one array."""
    first = getattr(value.values[0], "_array", None)
    return first is not None and all(
        getattr(each, "_array", None) is first for each in value.values
    )


def check_mean_dtype(variable: Variable, value: Any) -> None:
    """Raise ValueError if replicas write the mean of tensors to a variable of integers."""
    is_mean = variable._aggregation is VariableAggregation.MEAN
    if is_mean and not variable.dtype.is_floating and isinstance(value, (Tensor, ReplicaValues)):
        raise ValueError(
            "Cannot update non-float variables with tf.VariableAggregation.MEAN aggregation in "
            "replica context. Either change the variable dtype to float or update it in "
            "cross-replica context."
        )
