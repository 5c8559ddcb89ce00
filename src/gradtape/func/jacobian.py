"""Forward-mode products and jacobians: jvp, hvp, jacfwd, jacrev, hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import public
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.func.argument import (
    Argnums,
    Sources,
    as_tensors,
    check_function,
    split_aux,
)
from gradtape.func.gradient import check_cotangent, check_scalar, is_plain_leaf, watch_leaves
from gradtape.ops.initial_cotangent import make_identity_rows
from gradtape.ops.shape import reshape, transpose
from gradtape.tape.forward_accumulator import ForwardAccumulator
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tape.source import current_value


@public
def jvp(function: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Compute a function and its derivative along `tangents`.

    Args:
        function: function of tensors and of nested structures of them.
        primals: a tuple or list of its arguments, or a single argument that is neither.
        tangents: the direction, in the same structure.
        has_aux: whether `function` returns `(value, aux)`; `aux` is not differentiated.

    Returns:
        `(value, tangent)`, or `(value, tangent, aux)`.

    Example:
        >>> value, slope = gradtape.func.jvp(tf.sin, (0.0,), (1.0,))
        >>> float(slope)
        1.0
    """
    check_function("jvp", function, has_aux)
    given = only_argument(primals)
    if has_aux is False and is_plain_leaf(given):
        leaf = make_tensor(given._array)
        with ForwardAccumulator(leaf, only_argument(tangents)) as accumulator:
            value = as_tensors(function(leaf))
        tangent = accumulator.jvp(value, UnconnectedGradients.ZERO)
        del accumulator  # before the leaf, whose end it would be told of
        return value, tangent
    args, directions = as_arguments(primals), as_arguments(tangents)
    nest.assert_same_structure(args, directions)
    sources = Sources("jvp", args, tuple(range(len(args))))
    with ForwardAccumulator(sources.leaves, nest.flatten(directions)) as accumulator:
        value, aux = split_aux("jvp", function(*sources.args), has_aux)
    value = as_tensors(value)
    tangent = accumulator.jvp(value, UnconnectedGradients.ZERO)
    return (value, tangent, aux) if has_aux else (value, tangent)


def as_arguments(primals: Any) -> tuple[Any, ...]:
    """Arguments as a tuple; anything but a tuple or list is the only one."""
    return tuple(primals) if type(primals) in (tuple, list) else (primals,)


def only_argument(primals: Any) -> Any:
    """The argument in a tuple or list of one; anything else as it is."""
    return primals[0] if type(primals) in (tuple, list) and len(primals) == 1 else primals


@public
def hvp(function: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """Product of the Hessian of a scalar function with `tangents`.

    It differentiates the gradient along `tangents`, and costs a few times what the gradient costs.

    Args:
        function: function whose value is a scalar.
        primals: a tuple or list of its arguments, or a single argument that is neither.
        tangents: the vector, in the same structure.

    Returns:
        The product in the structure of `primals`.

    Example:
        >>> gradtape.func.hvp(lambda x: tf.reduce_sum(x**3), tf.constant([1.0, 2.0]),
        ...                   tf.constant([1.0, 0.0])).numpy()
        array([6., 0.], dtype=float32)
    """
    check_function("hvp", function)
    given, direction = only_argument(primals), only_argument(tangents)
    if is_plain_leaf(given) and not nest.is_nested(direction):
        leaf = make_tensor(given._array)
        outer, gradient = record_gradient("hvp", function, (leaf,), leaf)
        weight = check_cotangent(gradient, direction, "hvp")
        product = convert(outer.gradient(gradient, leaf, weight, UnconnectedGradients.ZERO))
        return product if given is primals else (product,)
    args = as_arguments(primals)
    directions = as_arguments(tangents)
    nest.assert_same_structure(args, directions)
    sources = Sources("hvp", args, tuple(range(len(args))))
    outer, gradients = record_gradient("hvp", function, sources.args, sources.leaves)
    weights = [
        check_cotangent(g, v, "hvp")
        for g, v in zip(gradients, nest.flatten(directions), strict=True)
    ]
    found = outer.gradient(gradients, sources.leaves, weights, UnconnectedGradients.ZERO)
    products = sources.pack([convert(one) for one in found])
    return products if type(primals) in (tuple, list) else products[0]


def record_gradient(op: str, function: Any, args: Any, leaves: Any) -> tuple[GradientTape, Any]:
    """The gradient of a scalar function by `leaves`, dense, and a tape that recorded it."""
    with GradientTape(False, False) as outer:
        watch_leaves(outer, leaves)
        with GradientTape(False, False) as inner:
            watch_leaves(inner, leaves)
            value = function(*args)
        if type(value) is not EagerTensor or value._array.shape:
            value = check_scalar(op, value)
        found = inner.gradient(value, leaves, None, UnconnectedGradients.ZERO)
        if type(found) is not EagerTensor:
            found = [convert(g) for g in found] if type(leaves) is list else convert(found)
    return outer, found


@public
def jacrev(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that returns the Jacobian of `function`, computed in reverse mode.

    Use it where the value has fewer elements than the arguments.

    Args:
        function: function whose value is a tensor or a nested structure of tensors.
        argnums: position or positions of the arguments to differentiate by.
        has_aux: whether `function` returns `(value, aux)`.

    Returns:
        A function of the same arguments. It has the structure of the value, and at each leaf the
        structure of the arguments, with tensors of shape value.shape + argument.shape.

    Example:
        >>> gradtape.func.jacrev(lambda x: x * x)(tf.constant([1.0, 2.0])).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)
    """
    check_function("jacrev", function, has_aux)

    @functools.wraps(function, updated=())
    def compute(*args: Any, **kwargs: Any) -> Any:
        given, leaves, pack = choose_sources("jacrev", args, argnums)
        with GradientTape(False, False) as tape:
            watch_leaves(tape, leaves)
            value = function(*given, **kwargs)
        if has_aux:
            value, aux = split_aux("jacrev", value, has_aux)
        result = differentiate_value(tape, as_tensors(value), leaves, pack)
        return (result, aux) if has_aux else result

    return public(compute)


def choose_sources(op: str, args: tuple[Any, ...], argnums: Argnums) -> tuple[Any, Any, Any]:
    """The arguments to pass on, what to differentiate by, and the function that packs results.

    A first argument that is a plain leaf is the only source; other sources are a list.
    """
    if type(argnums) is int and argnums == 0 and args and is_plain_leaf(args[0]):
        leaf = make_tensor(args[0]._array)
        return (leaf, *args[1:]), leaf, convert
    sources = Sources(op, args, argnums)
    return sources.args, sources.leaves, lambda found: sources.pack([convert(g) for g in found])


def differentiate_value(tape: GradientTape, value: Any, leaves: Any, pack: Any) -> Any:
    """The Jacobian of each tensor of a value; uses the tape up."""
    if not nest.is_nested(value):
        return differentiate_tensor(tape, value, leaves, pack)
    tape._persistent = True
    return nest.pack_sequence_as(
        value, [differentiate_tensor(tape, leaf, leaves, pack) for leaf in nest.flatten(value)]
    )


def differentiate_tensor(tape: GradientTape, tensor: Any, leaves: Any, pack: Any) -> Any:
    """The Jacobian of a tensor; of a scalar it is the gradient."""
    is_plain = type(tensor) is EagerTensor
    if not tensor._array.shape if is_plain else tensor.shape.rank == 0:
        return pack(tape.gradient(tensor, leaves, None, UnconnectedGradients.ZERO))
    return pack(tape.jacobian(tensor, leaves, UnconnectedGradients.ZERO))


@public
def jacfwd(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that returns the Jacobian of `function`, computed in forward mode.

    Use it where the arguments have fewer elements than the value.

    Args:
        function: function whose value is a tensor or a nested structure of tensors.
        argnums: position or positions of the arguments to differentiate by.
        has_aux: whether `function` returns `(value, aux)`.

    Returns:
        As for `jacrev`.

    Example:
        >>> gradtape.func.jacfwd(lambda x: x * x)(tf.constant([1.0, 2.0])).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)
    """
    check_function("jacfwd", function, has_aux)

    @functools.wraps(function, updated=())
    def compute(*args: Any, **kwargs: Any) -> Any:
        sources = Sources("jacfwd", args, argnums)
        if not sources.leaves:
            raise ValueError("jacfwd: the arguments at argnums must have tensors. Received none.")
        columns = []
        for leaf in sources.leaves:
            current = current_value(leaf)._array
            size = prod(current.shape)
            basis = make_tensor(make_identity_rows(0, size, current.shape, current.dtype))
            with ForwardAccumulator._batch_accumulator([leaf], [basis]) as accumulator:
                value, aux = split_aux("jacfwd", function(*sources.args, **kwargs), has_aux)
            value = as_tensors(value)
            slopes = accumulator.jvp(value, unconnected_gradients="zero")
            columns.append([move_basis_last(t, current.shape) for t in nest.flatten(slopes)])
        rows = [sources.pack(list(row)) for row in zip(*columns, strict=True)]
        result = rows[0] if not nest.is_nested(value) else nest.pack_sequence_as(value, rows)
        return (result, aux) if has_aux else result

    return public(compute)


def move_basis_last(slopes: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Tangents along all basis vectors (n, *value) as a Jacobian (*value, *argument)."""
    own = slopes._array.shape
    n = len(own)
    last: Tensor = transpose(slopes, perm=(*range(1 - n, 0), -n))
    result: Tensor = reshape(last, shape=own[1:] + shape, rank=n)
    return result


@public
def hessian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Make a function that returns the Hessian of `function`.

    Args:
        function: function whose value is a tensor, usually a scalar.
        argnums: position or positions of the arguments to differentiate by.

    Returns:
        A function of the same arguments. For a scalar value and one tensor of shape s, it returns
        a tensor of shape s + s; otherwise the structure of `jacrev` of `jacrev`.

    Example:
        >>> gradtape.func.hessian(lambda x: tf.reduce_sum(x**3))(tf.constant([1.0, 2.0])).numpy()
        array([[ 6.,  0.],
               [ 0., 12.]], dtype=float32)
    """
    check_function("hessian", function)

    @functools.wraps(function, updated=())
    def compute(*args: Any, **kwargs: Any) -> Any:
        given, leaves, pack = choose_sources("hessian", args, argnums)
        with GradientTape(False, False) as outer:
            watch_leaves(outer, leaves)
            with GradientTape(False, False) as inner:
                watch_leaves(inner, leaves)
                value = function(*given, **kwargs)
            first = differentiate_value(inner, as_tensors(value), leaves, pack)
        return differentiate_value(outer, first, leaves, pack)

    return public(compute)
