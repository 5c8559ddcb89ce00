"""VariableArgument: what a traced function gets in place of a variable among its arguments."""

from __future__ import annotations

from typing import Any

from gradtape.state.variable.variable import UnreadVariable, Variable


class VariableArgument(UnreadVariable):
    """An alias of a variable that was passed to a function.

    The function may also capture the same variable. The trace tells the two apart by this class, so
    that the trace can serve calls with other variables.
    """

    name = Variable.name

    @property
    def _target_variable(self) -> Variable:
        return self

    def _read(self) -> Any:
        return Variable._read(self)

    def _current_version(self) -> Any:
        return Variable._current_version(self)

    def _assignment_result(self, read_value: bool = True) -> Any:
        return Variable._assignment_result(self, read_value)

    def ref(self) -> Any:
        """A hashable reference to the variable."""
        return self._variable.ref()


VariableArgument.__name__ = Variable.__name__


def make_variable_argument(variable: Variable) -> VariableArgument:
    """Make the alias of a variable that a traced function gets."""
    argument = VariableArgument()
    argument._variable = variable
    return argument
