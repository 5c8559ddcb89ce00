"""How variables begin: checks and conversions of arguments, and variables made of their parts."""

from __future__ import annotations

from typing import Any

from gradtape.core.context import current_trace, use_recorders
from gradtape.core.convert import convert
from gradtape.core.tensor import (
    Tensor,
)


def make_initial_value(initial_value: Any, dtype: Any) -> Tensor:
    """The initial value as a tensor, computed without active tapes."""
    with use_recorders(current_trace()):
        value = initial_value() if callable(initial_value) else initial_value
        try:
            return convert(value, dtype)
        except ValueError as error:
            raise ValueError(f"initial_value: {error}") from None


def check_enum(enum: Any, value: Any, what: str, name: str | None) -> Any:
    """Return `value` if it is a member of `enum`.

    Raises:
        ValueError: if it is not.
    """
    if not isinstance(value, enum):
        raise ValueError(
            f"tf.Variable: Invalid variable {what} mode: {value!r} for variable: {name}."
        )
    return value


def rebuild_variable(value: Tensor, name: str, facts: dict[str, Any]) -> Any:
    """Make a variable from its parts; `name` includes its scopes."""
    from gradtape.state.variable.variable import Variable

    variable = Variable(value, **facts)
    variable._name = name
    return variable
