"""Functions of JAX for our tape, and our functions for JAX's transforms.

Derivatives of any order exist: where one framework records a backward pass of the other, the
pull-back crosses the border as a function of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from gradtape.core import nest
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.interop.bridge import (
    RecordedCall,
    as_eager_tensors,
    is_inexact,
    make_pull_back,
    name_like,
    tensor_from_dlpack,
)
from gradtape.ops.shape import zeros
from gradtape.tape.custom_gradient import custom_gradient


@public
def to_jax_array(tensor: Any) -> jax.Array:
    """An array of JAX with the value of `tensor`, in the memory of the tensor if JAX accepts it."""
    value = convert(tensor)
    try:
        return jax.dlpack.from_dlpack(value)
    except (TypeError, BufferError, RuntimeError, ValueError):  # such as bfloat16 and booleans
        return jnp.asarray(value.numpy())


@public
def from_jax_array(array: Any) -> Tensor:
    """A tensor that shares the memory of an array of JAX, if DLPack supports its dtype."""
    try:
        return tensor_from_dlpack(array)
    except (InvalidArgumentError, TypeError, BufferError, RuntimeError, ValueError):
        return convert(jax.device_get(array))


@public
def from_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of our tensors from one of JAX's arrays, which our tapes differentiate.

    Args:
        function: takes and returns arrays of JAX; the result may be a nested structure.

    Returns:
        A function of our tensors. Gradients of any order flow through our tapes.
    """

    def call(*args: Any) -> Any:
        return apply_jax(function, as_eager_tensors("from_jax", args))

    return public(name_like(function, call))


def apply_jax(function: Callable[..., Any], args: list[Tensor]) -> Any:
    """Apply a function of JAX to our tensors, with its gradient."""
    structure: list[Any] = []

    @custom_gradient
    def run(*tensors: Tensor) -> Any:
        inputs = [to_jax_array(t) for t in tensors]
        places = [i for i, t in enumerate(tensors) if is_inexact(t)]
        result, pull = jax.vjp(restrict(function, inputs, places), *[inputs[i] for i in places])
        structure.append(result)

        def grad(*cotangents: Any, variables: Any = None) -> Any:
            if local.recorders:
                found = compute_differentiable_gradients(
                    function, list(tensors), list(cotangents), places
                )
            else:
                gs = [to_jax_array(g) for g in cotangents]
                packed = nest.pack_sequence_as(result, gs) if nest.is_nested(result) else gs[0]
                found = [from_jax_array(g) for g in pull(packed)]
            answer: list[Any] = [None] * len(tensors)
            for i, g in zip(places, found, strict=True):
                answer[i] = g
            return answer if variables is None else (answer, [None] * len(variables))

        return [from_jax_array(leaf) for leaf in nest.flatten(result)], grad

    results = run(*args)
    return nest.pack_sequence_as(structure[0], list(results))


def restrict(function: Any, inputs: list[Any], places: list[int]) -> Callable[..., Any]:
    """`function` of the arguments at `places` only."""

    def call_with_places(*some: Any) -> Any:
        given = list(inputs)
        for i, value in zip(places, some, strict=True):
            given[i] = value
        return function(*given)

    return call_with_places


def compute_differentiable_gradients(
    function: Any, tensors: list[Any], cotangents: list[Any], places: list[int]
) -> list[Any]:
    """Gradients as a function of arguments and cotangents, which our tapes differentiate."""
    count = len(tensors)

    def pull_back(*values: Any) -> Any:
        inputs = list(values[:count])
        result, pull = jax.vjp(restrict(function, inputs, places), *[inputs[i] for i in places])
        gs = list(values[count:])
        return list(pull(nest.pack_sequence_as(result, gs) if nest.is_nested(result) else gs[0]))

    return list(apply_jax(pull_back, [*tensors, *cotangents]))


@public
def to_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of JAX's arrays from one of our tensors, for `jax.grad` and `jax.jit`.

    The function runs on the host, as a callback. It also runs once on zeros, which shows the shapes
    of its results.

    Args:
        function: takes and returns our tensors; the result may be a nested structure. It must be
            pure: our variables inside the function get no gradient.

    Returns:
        A function of arrays of JAX. Gradients of any order flow through JAX, in reverse mode.
    """

    def call(*args: Any) -> Any:
        return apply_ours(function, [jnp.asarray(a) for a in args])

    return name_like(function, call)


def apply_ours(function: Callable[..., Any], args: list[Any]) -> Any:
    """Apply our function to arrays of JAX, with its gradient."""
    examples = [make_tensor(zeros(a.shape, a.dtype)) for a in args]
    structure = function(*examples)
    specs = [
        jax.ShapeDtypeStruct(leaf.shape.as_list(), canonical_dtype(leaf))
        for leaf in map(convert, nest.flatten(structure))
    ]
    inexact = [jnp.issubdtype(a.dtype, jnp.inexact) for a in args]

    def compute(*arrays: Any) -> Any:
        results = RecordedCall(function, [from_host(a) for a in arrays]).results
        return [r.numpy().astype(s.dtype) for r, s in zip(results, specs, strict=True)]

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def run(*arrays: Any) -> Any:
        return jax.pure_callback(compute, specs, *arrays, vmap_method="sequential")

    def forward(*arrays: Any) -> Any:
        return run(*arrays), arrays

    def backward(arrays: Any, cotangents: Any) -> Any:
        pull_back = make_pull_back(function, len(arrays))
        found = iter(apply_ours(pull_back, [*arrays, *cotangents]))
        return tuple(next(found) if own else None for own in inexact)

    run.defvjp(forward, backward)
    return nest.pack_sequence_as(structure, list(run(*args)))


def from_host(array: Any) -> Tensor:
    """A tensor of an array that a callback of JAX passes."""
    return make_tensor(jax.device_get(array)[()])


def canonical_dtype(tensor: Tensor) -> Any:
    """The dtype that JAX uses for that of a tensor: float64 only if it is enabled."""
    return jax.dtypes.canonicalize_dtype(tensor.dtype.as_numpy_dtype)
