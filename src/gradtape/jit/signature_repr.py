"""Printing of the signatures of traced functions, in TensorFlow's format."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from gradtape.core import nest
from gradtape.core.spec import TensorSpec


def drop_spec_names(value: Any) -> Any:
    """A structure with the names removed from its specs."""

    def leaf(one: Any) -> Any:
        return TensorSpec(one.shape, one.dtype) if isinstance(one, TensorSpec) else one

    return nest.map_structure(leaf, value)


class Literal:
    """A Python value that is part of a signature."""

    def __init__(self, value: Any) -> None:
        """Stand for `value`."""
        self.value = value

    def __repr__(self) -> str:
        """TensorFlow's format."""
        return f"Literal[{self.value!r}]"


def as_annotation(value: Any) -> Any:
    """An argument as an annotation: a spec, a structure of them, or a literal."""
    value = drop_spec_names(value)
    has_spec = any(isinstance(leaf, TensorSpec) for leaf in nest.flatten(value))
    return value if has_spec else Literal(value)


def make_function_type(
    parameters: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], returned: Any
) -> inspect.Signature:
    """A signature whose annotations are the specs of arguments and results."""
    described = dict(zip(parameters.parameters, args, strict=False)) | kwargs
    shown = [
        parameter.replace(annotation=as_annotation(described[name]), default=parameter.empty)
        for name, parameter in parameters.parameters.items()
        if name in described
    ]
    return inspect.Signature(shown, return_annotation=drop_spec_names(returned))


def format_signature(kind: inspect.Signature, captures: list[Any]) -> str:
    """The arguments, results and captures as readable lines."""
    lines = ["Input Parameters:"]
    lines += [f"  {p.name} ({p.kind.name}): {p.annotation!r}" for p in kind.parameters.values()]
    lines += ["Output Type:", f"  {kind.return_annotation!r}", "Captures:"]
    lines += [f"  {id(c)}: {TensorSpec(c.shape, c.dtype)!r}" for c in captures] or ["  None"]
    return "\n".join(lines)


class ConcreteFunctionBase:
    """What concrete functions of this process and of loaded models have in common."""

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The name of the Python function."""

        @property
        def structured_outputs(self) -> Any:
            """Specs of the results."""

        @property
        def function_type(self) -> Any:
            """The signature, with specs as annotations."""

        @property
        def variables(self) -> tuple[Any, ...]:
            """Variables that the function uses."""

        @property
        def captured_inputs(self) -> list[Any]:
            """Tensors that the function captures."""

    @property
    def output_shapes(self) -> Any:
        """Shapes of the results."""
        return nest.map_structure(lambda s: s and s.shape, self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """Dtypes of the results."""
        return nest.map_structure(lambda s: s and s.dtype, self.structured_outputs)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Trainable variables that the function uses."""
        return tuple(v for v in self.variables if v.trainable)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The arguments and results as readable lines.

        Args:
            verbose: whether to list the results, too.

        Returns:
            A string of several lines.
        """
        return format_signature(self.function_type, self.captured_inputs)

    def __repr__(self) -> str:
        """TensorFlow's format."""
        return f"<ConcreteFunction {self.name} at {hex(id(self))}>"

    def __str__(self) -> str:
        """TensorFlow's format."""
        return f"ConcreteFunction {self.pretty_printed_signature()}"
