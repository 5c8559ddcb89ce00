"""Variables in a trace: reads and writes make versions, which are values of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core.call_error import locate_caller
from gradtape.core.context import local
from gradtape.core.ledger import ledger, write
from gradtape.core.symbolic_tensor import (
    SymbolicTensor,
)
from gradtape.graph.failed_value import FailedValues
from gradtape.graph.trace_op import INSTALL
from gradtape.graph.traced_value import raw_value
from gradtape.graph.variable_versions import VariableState, VariableVersions


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

    def variable_state(self, variable: Any) -> VariableState:
        """The state of a variable in this trace."""
        return self.versions.state_of(variable, self.make_value)

    def read_variable(self, variable: Any) -> SymbolicTensor:
        """The newest version of a variable; reports the read to the tapes."""
        state = self.versions.state_of(variable, self.make_value)
        tensor, variable = state.newest, state.variable
        for known in (*self._hidden_tapes, *local.recorders[1:]):
            if tensor.uid not in known:
                known.on_variable_read(variable, tensor.uid)
        return tensor

    def write_variable(self, variable: Any, tensor: Any) -> None:
        """Make `tensor` the newest version of a variable; assignment stops the gradient."""
        state = self.versions.state_of(variable, self.make_value)
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
