"""Variables in a trace: reads and writes make versions, which are values of the graph."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradtape.core.call_error import locate_caller
from gradtape.core.context import local
from gradtape.core.ledger import ledger, write
from gradtape.core.symbolic_tensor import (
    SymbolicTensor,
)
from gradtape.graph.failed_value import FailedValues
from gradtape.graph.open_size import make_open_version
from gradtape.graph.trace_op import INSTALL
from gradtape.graph.traced_value import raw_value
from gradtape.graph.variable_versions import VariableState, VariableVersions
from gradtape.state.variable.argument import VariableArgument


class VariableAccess:
    """The part of a trace that reads, writes and creates variables."""

    versions: VariableVersions
    failures: FailedValues
    _hidden_tapes: tuple[Any, ...]

    if TYPE_CHECKING:
        make_value: Any
        copy_value: Any
        as_traced: Any
        record_node: Any
        guard_value: Any
        is_abstract: bool

    def variable_state(self, variable: Any) -> VariableState:
        """The state of a variable in this trace.

        A size that assignments may change is unknown; a guard finds it in later calls.
        """
        states, key = self.versions.states, variable._key
        if key in states or type(variable) is VariableArgument:
            return self.versions.state_of(variable, self.make_value)
        shape = variable.shape
        if shape.is_fully_defined():
            return self.versions.state_of(variable, self.make_value)
        state = self.versions.state_of(variable, partial(make_open_version, self, shape))
        if not self.is_abstract:
            self.guard_value(state.initial._array, "shape")
        return state

    def read_variable(self, variable: Any) -> SymbolicTensor:
        """The newest version of a variable; reports the read to the tapes."""
        state = self.variable_state(variable)
        tensor, variable = state.newest, state.variable
        for known in (*self._hidden_tapes, *local.recorders[1:]):
            if tensor.uid not in known:
                known.on_variable_read(variable, tensor.uid)
        return tensor

    def write_variable(self, variable: Any, tensor: Any) -> None:
        """Make `tensor` the newest version of a variable; assignment stops the gradient."""
        state = self.variable_state(variable)
        lifted = self.as_traced(tensor)
        if self.failures:
            self.failures.raise_if_used([lifted])
        version = self.copy_value(lifted)
        self.record_node(INSTALL, (lifted,), {"key": variable._key}, (version,))
        state.write(version)
        if ledger.active:
            write("install", (lifted.uid,), version.uid)

    def create_variable(self, variable: Any, tensor: Any) -> Any:
        """Note that a variable is created; returns its initial raw array."""
        self.versions.created_at = self.versions.created_at or locate_caller()
        self.versions.created.append(variable)
        return raw_value(tensor)

    def on_variable_read(self, variable: Any, uid: int) -> None:
        """Do nothing: `read` already handles variables in a trace."""
