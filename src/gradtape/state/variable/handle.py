"""VariableHandle: what stands for a variable where TensorFlow has its resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtape.core import dtypes
from gradtape.core.shapes import TensorShape

if TYPE_CHECKING:
    from gradtape.state.variable.variable import Variable


class VariableHandle:
    """The result of `tf.Variable.handle`; handles of the same variable are equal."""

    __slots__ = ("variable",)

    dtype = dtypes.resource
    shape = TensorShape([])

    def __init__(self, variable: Variable) -> None:
        self.variable = variable

    @property
    def _target_variable(self) -> Variable:
        """The variable that a tape watches for this handle."""
        return self.variable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableHandle) and other.variable is self.variable

    def __hash__(self) -> int:
        return hash(self.variable._key)
