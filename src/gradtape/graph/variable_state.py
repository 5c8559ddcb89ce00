"""The versions of a variable in a trace."""

from __future__ import annotations

from typing import Any

from gradtape.core.symbolic_tensor import SymbolicTensor


class VariableState:
    """A variable in a trace: its version before the call, and its newest version."""

    __slots__ = ("initial", "is_written", "newest", "variable")

    def __init__(self, variable: Any, first: SymbolicTensor) -> None:
        """`first` is the version before the call."""
        self.variable = variable
        self.initial = first
        self.newest: SymbolicTensor = first
        self.is_written = False
