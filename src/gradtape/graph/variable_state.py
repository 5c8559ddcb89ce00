"""The versions of a variable in a trace."""

from __future__ import annotations

from typing import Any

from gradtape.core.symbolic_tensor import SymbolicTensor


class VariableState:
    """A variable in a trace: its version before the call, and its newest version."""

    __slots__ = ("initial", "is_written", "newest", "stored", "variable")

    def __init__(self, variable: Any, first: SymbolicTensor, stored: Any) -> None:
        """`first` stands for the version before the call, which is `stored`."""
        self.variable = variable
        self.stored = stored
        self.initial = first
        self.newest: SymbolicTensor = first
        self.is_written = False
