"""SyncOnReadVariable: a variable with a copy for each replica, which are combined when it is read.

Metrics use it: replicas accumulate without communication, and only the result is reduced.
"""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.dtypes import float64
from gradtape.core.enums import VariableAggregation
from gradtape.core.per_replica import PerReplica, ReplicaValues
from gradtape.core.ports import ConversionPort
from gradtape.core.replica import (
    EVERY_REPLICA,
    current_replica_number,
    replica_state,
    use_updated_replica,
)
from gradtape.core.tensor import Tensor
from gradtape.ops.elementwise import divide
from gradtape.state.variable.distributed import Apply, DistributedVariable, SeparateCopies
from gradtape.state.variable.variable import Variable


class SyncOnReadVariable(SeparateCopies, DistributedVariable):
    """A variable whose copies are reduced when it is read in cross-replica context."""

    @classmethod
    def _create(cls, strategy: Any, **facts: Any) -> SyncOnReadVariable:
        variable: SyncOnReadVariable = super()._create(strategy, **facts)
        variable._copies = variable._make_copies()
        return variable

    def _is_replica(self) -> bool:
        """Whether this thread uses the copy of one replica."""
        number = current_replica_number(self._strategy)
        return number is not None and number != EVERY_REPLICA

    def _read(self) -> Tensor:
        if self._is_replica():
            return super()._read()
        with use_updated_replica(None if replica_state.replica is None else EVERY_REPLICA):
            values = [Variable._read(copy) for copy in self._all_copies()]
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return values[0]
        if self._aggregation is VariableAggregation.NONE:
            raise ValueError(
                "Could not convert from `tf.VariableAggregation` VariableAggregation.NONE to "
                f"`tf.distribute.ReduceOp` type. The variable {self.name!r} can only be read "
                "inside a replica."
            )
        mean = self._aggregation is VariableAggregation.MEAN
        reduced: Tensor = self._strategy.extended._reduce_values(
            PerReplica(values), "MEAN" if mean else "SUM"
        )
        return reduced

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self._read().__array__(copy=True)  # type: ignore[attr-defined]
        return array if dtype is None else array.astype(dtype, copy=False)

    def _write(self, value: Any, apply: Apply) -> Any:
        number = current_replica_number(self._strategy)
        if number is not None and number != EVERY_REPLICA:
            return self._write_copy(number, value, apply)
        return self._write_everywhere(value, apply)

    def _replace(self, value: Any, read_value: bool) -> Any:
        is_summed = self._aggregation is VariableAggregation.SUM and not self._is_replica()
        if is_summed and not isinstance(value, ReplicaValues):
            value = self._divide_by_replicas(convert(value, self._dtype))
        return super()._replace(value, read_value)

    def _divide_by_replicas(self, tensor: Tensor) -> Tensor:
        """What each replica holds of a total."""
        count = self._strategy.num_replicas_in_sync
        if count == 1:
            return tensor
        if self._dtype.is_floating or self._dtype.is_complex:
            return divide(tensor, convert(count, self._dtype))
        real = divide(ConversionPort.cast(tensor, float64), convert(count, float64))
        return ConversionPort.cast(real, self._dtype)

    def _apply_delta(self, function: Any, operation: Any, delta: Any, read_value: bool) -> Any:
        if self._aggregation is VariableAggregation.SUM and not self._is_replica():
            name = "assign_add" if operation.__name__ == "add" else "assign_sub"
            raise ValueError(
                f"SyncOnReadVariable does not support `{name}` in cross-replica context when "
                "aggregation is set to `tf.VariableAggregation.SUM`."
            )
        return super()._apply_delta(function, operation, delta, read_value)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The value in cross-replica context; with the aggregation NONE, that of replica 0."""
        if self._aggregation is VariableAggregation.NONE:
            return super()._serialize_to_tensors()
        return {"VARIABLE_VALUE": self._read()}
