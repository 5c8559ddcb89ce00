"""Reverse-mode transforms: grad, value_and_grad, vjp, per_example_grad."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from gradtape.core import nest
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import public
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.func.argument import (
    Argnums,
    Sources,
    as_tensors,
    check_argnums,
    check_function,
    split_aux,
)
from gradtape.func.vmap import vmap
from gradtape.tape.gradient_tape import GradientTape

P = ParamSpec("P")
A = TypeVar("A")  # the first argument: its gradient has the same type
R = TypeVar("R")


@overload
def value_and_grad(
    function: Callable[Concatenate[A, P], R],
) -> Callable[Concatenate[A, P], tuple[R, A]]: ...
@overload
def value_and_grad(
    function: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[P, Any]: ...
@public
def value_and_grad(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that returns the value of `function` and its gradient.

    Args:
        function: function whose value is a scalar.
        argnums: position or positions of the arguments to differentiate by. Such an argument is a
            tensor, a variable, a module (its trainable variables count) or a nested structure.
        has_aux: whether `function` returns `(value, aux)`; `aux` is not differentiated.

    Returns:
        A function of the same arguments that returns `(value, gradient)`, or
        `((value, aux), gradient)` with `has_aux`. The gradient has the structure of the argument,
        with a list for a module, and is a tuple if `argnums` is one.

    Example:
        >>> value, gradient = gradtape.func.value_and_grad(lambda x: x * x)(3.0)
        >>> float(value), float(gradient)
        (9.0, 6.0)
    """
    check_function("value_and_grad", function, has_aux)
    is_simple = type(argnums) is int and argnums == 0 and has_aux is False

    @functools.wraps(function, updated=())
    def compute(*args: Any, **kwargs: Any) -> Any:
        if is_simple and args and is_plain_leaf(args[0]):
            return differentiate_leaf("value_and_grad", function, args, kwargs)
        return differentiate("value_and_grad", function, argnums, has_aux, args, kwargs)

    return public(compute)


@overload
def grad(function: Callable[Concatenate[A, P], Any]) -> Callable[Concatenate[A, P], A]: ...
@overload
def grad(
    function: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[P, Any]: ...
@public
def grad(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that returns the gradient of `function`.

    Args:
        function: function whose value is a scalar.
        argnums: position or positions of the arguments to differentiate by. Such an argument is a
            tensor, a variable, a module (its trainable variables count) or a nested structure.
        has_aux: whether `function` returns `(value, aux)`; `aux` is not differentiated.

    Returns:
        A function of the same arguments that returns the gradient, or `(gradient, aux)` with
        `has_aux`. An argument that the value does not depend on has a gradient of zeros.

    Example:
        >>> cube = lambda x: x**3
        >>> float(gradtape.func.grad(gradtape.func.grad(cube))(2.0))
        12.0
    """
    check_function("grad", function, has_aux)
    is_simple = type(argnums) is int and argnums == 0 and has_aux is False

    @functools.wraps(function, updated=())
    def compute(*args: Any, **kwargs: Any) -> Any:
        if is_simple and args and is_plain_leaf(args[0]):
            return differentiate_leaf("grad", function, args, kwargs)[1]
        value, gradient = differentiate("grad", function, argnums, has_aux, args, kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return public(compute)


def differentiate(
    op: str, function: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any
) -> tuple[Any, Any]:
    """The value, with the auxiliary data if there is any, and the gradient."""
    sources = Sources(op, args, argnums)
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(sources.leaves)
        value, aux = split_aux(op, function(*sources.args, **kwargs), has_aux)
    value = check_scalar(op, value)
    found = tape.gradient(value, sources.leaves, unconnected_gradients="zero")
    return (value, aux) if has_aux else value, sources.pack(found)


def is_plain_leaf(value: Any) -> bool:
    """Whether an argument is a tensor of floats, and nothing records."""
    return type(value) is EagerTensor and value._array.dtype.kind == "f" and not local.recorders


def differentiate_leaf(op: str, function: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Fast path of `differentiate` for a first argument that is a plain leaf."""
    leaf = make_tensor(args[0]._array)
    with GradientTape(False, False) as tape:
        tape._watch_tensor(leaf)
        value = function(leaf, *args[1:], **kwargs)
    if type(value) is not EagerTensor or value._array.shape:
        value = check_scalar(op, value)
    return value, tape.gradient(value, leaf, None, UnconnectedGradients.ZERO)


def check_scalar(op: str, value: Any) -> Any:
    """The value of the function as a tensor.

    Raises:
        ValueError: if it is not a scalar.
    """
    value = as_tensors(value)
    shape = getattr(getattr(value, "_array", None), "shape", None)
    if shape != ():
        got = f"shape {list(shape)}" if shape is not None else f"{type(value).__name__}"
        raise ValueError(
            f"{op}: the function must return a scalar. Received {got}. Use tf.reduce_sum, or vjp "
            "or jacrev."
        )
    return value


@public
def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Compute a function and return the function of its vector-Jacobian products.

    Args:
        function: function of tensors, variables, modules and structures of them.
        *primals: its arguments; all of them are differentiated.
        has_aux: whether `function` returns `(value, aux)`; `aux` is not differentiated.

    Returns:
        `(value, pull_back)`, or `(value, pull_back, aux)`. `pull_back` takes a cotangent in the
        structure of the value and returns a tuple with the gradient of each argument. It can be
        called several times.

    Example:
        >>> value, pull_back = gradtape.func.vjp(lambda x, y: x * y, 3.0, 4.0)
        >>> [float(g) for g in pull_back(tf.constant(1.0))]
        [4.0, 3.0]
    """
    check_function("vjp", function, has_aux)
    if not primals:
        raise TypeError("vjp: there must be at least one argument. Received none.")
    tape = GradientTape(True, False)
    leaves = None if has_aux else copy_plain_leaves(primals)
    if leaves is not None:
        with tape:
            if type(leaves) is list:
                for leaf in leaves:
                    tape._watch_tensor(leaf)
                value = function(*leaves)
            else:
                tape._watch_tensor(leaves)
                value = function(leaves)
        if type(value) is not EagerTensor:
            value = as_tensors(value)
        return value, functools.partial(pull_back, tape, value, leaves, tuple)
    sources = Sources("vjp", primals, tuple(range(len(primals))))
    with tape:
        tape.watch(sources.leaves)
        value, aux = split_aux("vjp", function(*sources.args), has_aux)
    value = as_tensors(value)
    pull = functools.partial(pull_back, tape, value, sources.leaves, sources.pack)
    return (value, pull, aux) if has_aux else (value, pull)


def copy_plain_leaves(args: tuple[Any, ...]) -> Any:
    """New tensors in place of plain leaves: one, or a list of several; None for other arguments."""
    if len(args) == 1:
        return make_tensor(args[0]._array) if is_plain_leaf(args[0]) else None
    return [make_tensor(arg._array) for arg in args] if all(map(is_plain_leaf, args)) else None


def watch_leaves(tape: GradientTape, leaves: Any) -> None:
    """Watch a plain leaf, or a list of sources."""
    if type(leaves) is EagerTensor:
        tape._watch_tensor(leaves)
    else:
        tape.watch(leaves)


@public
def pull_back(tape: GradientTape, value: Any, leaves: Any, pack: Any, cotangents: Any) -> Any:
    """The gradients of the sources of `vjp`, in a tuple, for cotangents of its value."""
    if type(value) is EagerTensor:
        given = check_cotangent(value, cotangents)
    else:
        nest.assert_same_structure(value, cotangents)
        given = nest.map_structure(check_cotangent, value, cotangents)
    found = tape.gradient(value, leaves, given, UnconnectedGradients.ZERO)
    return pack(found) if type(leaves) is list else (found,)


def check_cotangent(value: Any, cotangent: Any, op: str = "vjp") -> Any:
    """The cotangent of a result as a tensor.

    Raises:
        TypeError, ValueError: if its dtype or shape is not that of the result.
    """
    if type(cotangent) is EagerTensor and type(value) is EagerTensor:
        mine, its = value._array, cotangent._array
        if mine.dtype == its.dtype and mine.shape == its.shape:
            return cotangent
    given = convert(cotangent, dtype=None if isinstance(cotangent, Tensor) else value.dtype)
    if given.dtype != value.dtype:
        raise TypeError(
            f"{op}: a cotangent must have the dtype of the value, {value.dtype.name}. Received "
            f"{given.dtype.name}."
        )
    if not given.shape.is_compatible_with(value.shape):
        raise ValueError(
            f"{op}: a cotangent must have the shape of the value, {value.shape}. Received "
            f"{given.shape}."
        )
    return given


@public
def per_example_grad(
    function: Callable[..., Any], argnums: Argnums = 0, in_axes: Any = None, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that returns the gradient for each example of a batch.

    It is `vmap` of `grad`: all examples are differentiated at once.

    Args:
        function: function of shared arguments and of one example, whose value is a scalar.
        argnums: position or positions of the arguments to differentiate by.
        in_axes: for each argument the axis of the examples, or None if all examples share it. By
            default, the arguments at `argnums` are shared, and the examples of the others are
            along their first axis.
        has_aux: whether `function` returns `(value, aux)`.

    Returns:
        A function whose results have the examples along their first axis.

    Example:
        >>> w = tf.Variable([1.0, 2.0])
        >>> loss = lambda w, x: tf.reduce_sum(w * x) ** 2
        >>> gradtape.func.per_example_grad(loss)(w, tf.constant([[1.0, 0.0], [0.0, 1.0]])).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)
    """
    check_function("per_example_grad", function, has_aux)
    gradient = grad(function, argnums, has_aux)

    @functools.wraps(function, updated=())
    def compute(*args: Any, **kwargs: Any) -> Any:
        axes = in_axes
        if axes is None:
            shared = check_argnums("per_example_grad", argnums, len(args))
            axes = tuple(None if i in shared else 0 for i in range(len(args)))
        return vmap(gradient, axes)(*args, **kwargs)

    return public(compute)
