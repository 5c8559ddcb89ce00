"""Gradients defined by the user: custom_gradient, recompute_grad, grad_pass_through."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from gradtape.core import nest
from gradtape.core.context import current_stage, local, use_recorders
from gradtape.core.convert import convert
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.ops.elementwise import identity
from gradtape.tape.custom_gradient_step import (
    record_custom_gradient,
)
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tape.ragged_gradient import differentiable_part, replace_differentiable_part
from gradtape.tape.source import current_value, variable_of

P = ParamSpec("P")
R = TypeVar("R")


class VariableWatcher(dict[int, Any]):
    """A recorder that only collects the trainable variables that are read."""

    unmarked = False
    is_trace = False

    def __init__(self) -> None:
        """Start without variables."""
        self.variables: dict[int, Any] = {}

    def on_variable_read(self, variable: Any, uid: int) -> None:
        """Add a variable that is being read, if it is trainable."""
        if variable.trainable:
            self.variables[variable._key] = variable


class CustomGradientFunction:
    """A function with a custom gradient; a method's `self` does not count as an argument."""

    def __init__(self, decorator: Callable[[Any], Any], f: Any, call: Any) -> None:
        """`decorator` made `call`, which runs in place of `f`."""
        self._decorator = decorator
        self._f = f
        self._call = public(call)
        functools.update_wrapper(self, f)
        with contextlib.suppress(TypeError, ValueError):
            self.__signature__ = inspect.signature(f)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self._call(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The method of an instance."""
        return self if instance is None else self._decorator(self._f.__get__(instance, owner))


@overload
def custom_gradient(f: Callable[P, tuple[R, Any]]) -> Callable[P, R]: ...
@overload
def custom_gradient(f: None = None) -> Any: ...
@public
def custom_gradient(f: Any = None) -> Any:
    """Define the gradient of a function.

    Args:
        f: function that returns `(result, grad_fn)`. `grad_fn` takes a cotangent for each
            result and returns a gradient, or None, for each argument. If `f` reads variables
            that are not arguments, `grad_fn` must accept `variables=` and
            return `(grads, grads_of_variables)`.

    Returns:
        A function of the same arguments that returns `result`.

    Example:
        >>> @tf.custom_gradient
        ... def clipped(x):
        ...     return tf.identity(x), lambda g: tf.clip_by_value(g, -1.0, 1.0)
        >>> x = tf.Variable(2.0)
        >>> with tf.GradientTape() as tape:
        ...     y = 10.0 * clipped(x)
        >>> tape.gradient(y, x).numpy()
        np.float32(1.0)
    """
    if f is None:
        return custom_gradient

    def call(*args: Any, **kwargs: Any) -> Any:
        watcher = VariableWatcher()
        with use_recorders((*local.recorders, watcher)):
            answer = f(*args, **kwargs)
        if not (isinstance(answer, (tuple, list)) and len(answer) == 2 and callable(answer[1])):
            raise TypeError(
                f"custom_gradient: {function_name(f)} must return (result, grad_fn). Received "
                f"{answer!r}."
            )
        result, grad_fn = answer
        return attach_gradient(f, result, grad_fn, args, kwargs, watcher)

    return CustomGradientFunction(custom_gradient, f, call)


def function_name(f: Any) -> str:
    """A function's name, for error messages."""
    return getattr(f, "__name__", repr(f))


def attach_gradient(
    f: Any, result: Any, grad_fn: Any, args: Any, kwargs: Any, watcher: VariableWatcher
) -> Any:
    """New handles on `result`, recorded with `grad_fn` as their gradient."""
    flat_args = [differentiable_part(t) for t in nest.flatten(args)]
    flat_result = nest.flatten(result)
    given = map(argument_variable, flat_args + nest.flatten(kwargs))
    keys = {variable._key for variable in given if variable is not None}
    variables = [v for key, v in watcher.variables.items() if key not in keys]
    if variables and not accepts_variables(grad_fn):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', "
            f"since function uses variables: {variables}"
        )
    inputs = [convert(t) for t in [*flat_args, *variables] if has_tensor_value(t)]
    places = [i for i, t in enumerate([*flat_args, *variables]) if has_tensor_value(t)]

    def grad(*parts: Tensor) -> list[Any]:
        cotangents = map(replace_differentiable_part, flat_result, parts)
        if variables:
            answer, more = grad_fn(*cotangents, variables=variables)
            more = list(more)
            if len(more) != len(variables):
                raise ValueError(
                    f"custom_gradient: grad_fn of {function_name(f)} must return a gradient for "
                    f"each of "
                    f"{len(variables)} variables. Received {len(more)}."
                )
        else:
            answer, more = grad_fn(*cotangents), []
        flat = [differentiable_part(t) for t in nest.flatten(answer)]
        if len(flat) != len(flat_args):
            raise ValueError(
                f"custom_gradient: grad_fn of {function_name(f)} is expected to return "
                f"{len(flat_args)} "
                f"gradients, but returned {len(flat)} instead."
            )
        answers = [*flat, *more]
        return [answers[i] for i in places]

    results = [convert(differentiable_part(t)) for t in flat_result]
    outs = record_custom_gradient(results, inputs, grad)
    return nest.pack_sequence_as(result, list(map(replace_differentiable_part, flat_result, outs)))


def argument_variable(thing: Any) -> Any:
    """The variable behind an argument, also under Keras's autocast."""
    variable = variable_of(thing)
    if variable is None and hasattr(thing, "_should_act_as_resource_variable"):
        return variable_of(thing._value)
    return variable


def has_tensor_value(thing: Any) -> bool:
    """Whether an argument can carry a gradient."""
    return isinstance(current_value(thing), Tensor)


def accepts_variables(grad_fn: Any) -> bool:
    """Whether `grad_fn` can be called with `variables=`."""
    spec = inspect.getfullargspec(grad_fn)
    return "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None


# Pairs (save, restore) for state that a recomputation must see again, such as random generators'.
RECOMPUTE_STATE: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = []


@public
def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
    """Recompute `f` in the backward pass instead of keeping its intermediate results.

    Args:
        f: function of tensors.

    Returns:
        A function with the same values and gradients that keeps only its arguments alive.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        watcher = VariableWatcher()
        states = [save() for save, _ in RECOMPUTE_STATE]
        with use_recorders((*current_stage(), watcher)):
            result = f(*args, **kwargs)
        given = [variable_of(t) for t in nest.flatten((args, kwargs))]
        variables = [v for v in watcher.variables.values() if all(v is not g for g in given)]
        inputs = [convert(t) for t in [*nest.flatten(args), *variables] if has_tensor_value(t)]

        def grad(*cotangents: Tensor) -> list[Any]:
            now = [save() for save, _ in RECOMPUTE_STATE]
            try:
                for (_, restore), state in zip(RECOMPUTE_STATE, states, strict=True):
                    restore(state)
                with GradientTape() as tape:
                    again_args, again_kwargs = nest.map_structure(copy_argument, (args, kwargs))
                    sources = [
                        t for t in [*nest.flatten(again_args), *variables] if has_tensor_value(t)
                    ]
                    tape.watch([t for t in sources if t.dtype.is_floating or t.dtype.is_complex])
                    again = f(*again_args, **again_kwargs)
            finally:
                for (_, restore), state in zip(RECOMPUTE_STATE, now, strict=True):
                    restore(state)
            answers = tape.gradient(
                nest.flatten(again),
                sources,
                output_gradients=list(cotangents),
                unconnected_gradients=UnconnectedGradients.ZERO,
            )
            return [convert(answer) for answer in answers]

        outs = record_custom_gradient([convert(t) for t in nest.flatten(result)], inputs, grad)
        return nest.pack_sequence_as(result, outs)

    return CustomGradientFunction(recompute_grad, f, call)


def copy_argument(thing: Any) -> Any:
    """Copy an argument for the second run: the same tensor may have been passed twice."""
    return identity(convert(thing)) if has_tensor_value(thing) else thing


@public
def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """Treat `f` as the identity in the backward pass; variables that `f` reads get no gradient.

    Args:
        f: function whose results have the shapes of its arguments.

    Returns:
        A function that returns the values of `f`.
    """

    @functools.wraps(f)
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*upstream: Any, variables: Any = None) -> Any:
            return upstream if variables is None else (upstream, [None] * len(variables))

        return f(*args, **kwargs), grad

    return custom_gradient(passing)
