"""The types of `tf.function` for type checkers: a compiled function keeps its signature.

`__init__.pyi` refers to this module; nothing imports it when a program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from gradtape.jit.concrete_function import ConcreteFunction

P = ParamSpec("P")
Rest = ParamSpec("Rest")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")
Result = TypeVar("Result")


class CompiledFunction(Protocol[P, R_co]):
    """What `@tf.function` makes of a Python function with the parameters P and the result R_co."""

    @property
    def name(self) -> str:
        """The name of the Python function."""

    @property
    def python_function(self) -> Callable[P, R_co]:
        """The Python function."""

    @property
    def input_signature(self) -> Any:
        """The specs of the arguments, or None."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run the compiled function."""

    @overload
    def __get__(self, instance: None, owner: type) -> CompiledFunction[P, R_co]: ...
    @overload
    def __get__(
        self: CompiledFunction[Concatenate[S, Rest], Result], instance: S, owner: type
    ) -> CompiledFunction[Rest, Result]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """As an attribute of an object: a method."""

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one signature."""

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced."""

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces."""


class FunctionDecorator(Protocol):
    """What `tf.function(jit_compile=True)` returns."""

    def __call__(self, func: Callable[P, Result]) -> CompiledFunction[P, Result]:
        """Compile a Python function."""


@overload
def function(
    func: Callable[P, Result],
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> CompiledFunction[P, Result]: ...
@overload
def function(
    func: None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> FunctionDecorator: ...
def function(*args: Any, **kwargs: Any) -> Any:
    """See `jit/function.py`."""
