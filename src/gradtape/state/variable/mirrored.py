"""MirroredVariable: a variable with the same value on all replicas.

The replicas share one storage, so that an update happens once. With the aggregation NONE, a replica
writes to a copy of its own, as in TensorFlow. The first such write splits the variable: it then has
one copy for each replica.
"""

from __future__ import annotations

import weakref
from typing import Any

from gradtape.core.enums import VariableAggregation, VariableSynchronization
from gradtape.core.replica import (
    EVERY_REPLICA,
    current_replica_number,
    replica_state,
    split_count,
)
from gradtape.state.variable.distributed import (
    Apply,
    DistributedVariable,
    SeparateCopies,
    as_written_value,
    check_mean_dtype,
)
from gradtape.state.variable.storage import active_trace
from gradtape.tape.indexed_slices import IndexedSlices

SUMMED_SCATTERS = ("add", "sub")  # scatters of reduced slices that have a meaning


class MirroredVariable(DistributedVariable):
    """A variable with the same value on all replicas.

    Attributes:
        _dependents: specializations of functions whose graphs use the shared storage.
    """

    _dependents: weakref.WeakSet[Any]

    @classmethod
    def _create(cls, strategy: Any, **facts: Any) -> MirroredVariable:
        variable: MirroredVariable = super()._create(strategy, **facts)
        variable._dependents = weakref.WeakSet()
        if variable._synchronization is VariableSynchronization.AUTO:
            variable._synchronization = VariableSynchronization.ON_WRITE
        return variable

    def _write(self, value: Any, apply: Apply) -> Any:
        number = current_replica_number(self._strategy)
        if number is None or number == EVERY_REPLICA:
            return self._write_everywhere(value, apply)
        if replica_state.updated_replica is not None:
            return self._write_copy(number, value, apply)
        if self._aggregation is VariableAggregation.NONE:
            return self._write_copy(number, value, apply)
        replica = replica_state.replica
        if replica.num_replicas_in_sync == 1:
            return apply(self, value)
        check_mean_dtype(self, value)

        def aggregate_and_write(strategy: Any, written: Any) -> Any:
            reduced = strategy.extended._aggregate(written, self._aggregation)
            return self._write_everywhere(reduced, apply)

        value = as_written_value(value, self._dtype)
        return replica._meet(aggregate_and_write, (value,), {}, f"the assignment to {self._name!r}")

    def _scatter_rows(self, how: str, slices: Any) -> Any:
        self._check_scatter(how, slices)
        return super()._scatter_rows(how, slices)

    def _check_scatter(self, how: str, slices: Any) -> None:
        """Raise NotImplementedError if the scatter of aggregated slices has no meaning."""
        allowed = (VariableAggregation.NONE, VariableAggregation.ONLY_FIRST_REPLICA)
        is_replica = replica_state.replica is not None and replica_state.updated_replica is None
        if (
            is_replica
            and isinstance(slices, IndexedSlices)
            and how not in SUMMED_SCATTERS
            and self._aggregation not in allowed
        ):
            raise NotImplementedError(
                f"scatter_{how} is only supported for mirrored variables (variables created "
                "within certain `tf.distribute.Strategy` scope) with NONE or "
                f"`ONLY_FIRST_REPLICA` aggregation, got: {self._aggregation}."
            )

    def _separate(self) -> None:
        """Give every replica a copy; graphs that use the shared storage are traced again."""
        if self._copies:
            return
        copies = self._make_copies()
        trace = active_trace()
        if trace is not None:
            state = trace.versions.states.get(self._key)
            if state is not None and state.is_written:
                for copy in copies:
                    trace.write_variable(copy, state.newest)
            trace.is_stale = True
        self._copies = copies
        self.__class__ = SplitMirroredVariable
        split_count[0] += 1
        for dependent in list(self._dependents):
            dependent.forget()


class SplitMirroredVariable(SeparateCopies, MirroredVariable):
    """A mirrored variable whose replicas have copies of their own."""


SplitMirroredVariable.__name__ = MirroredVariable.__name__
