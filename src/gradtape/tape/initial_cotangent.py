"""Initial cotangents: the values with which a backward pass starts at its targets."""

from __future__ import annotations

import contextlib
from itertools import zip_longest
from typing import Any

from gradtape.core import nest
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.dtypes import is_differentiable, string
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lazy_array import TracedArray
from gradtape.core.log import get_log
from gradtape.core.ports import SizePort
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.ops.elementwise import conj
from gradtape.ops.initial_cotangent import make_ones
from gradtape.ops.reduce import broadcast_to
from gradtape.ops.shape import reshape
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tape.source import current_value


def initial_cotangents(target: Any, weights: Any) -> list[tuple[Tensor, Any]]:
    """Pairs of a target and its initial cotangent: raw ones, or a Tensor.

    Integer targets are included; no rule passes their cotangents on. String targets are left out.
    """
    if weights is None and type(target) is EagerTensor and is_differentiable(target._array.dtype):
        recorders = local.recorders
        if not recorders or not recorders[0].is_trace:  # the common case
            return [(target, make_ones(target._array))]
    return cotangents_of_all(nest.flatten(target), weights)


def cotangents_of_all(targets: list[Any], weights: Any) -> list[tuple[Tensor, Any]]:
    """`initial_cotangents` of a list of targets."""
    flat = [None] * len(targets) if weights is None else nest.flatten(weights)
    if len(flat) != len(targets):
        get_log().warning(
            "output_gradients: expected %d tensors, received %d. Missing tensors count as ones; "
            "extra tensors are ignored.",
            len(targets),
            len(flat),
        )
    if weights is not None and any(w is None for w in flat):
        raise ValueError("output_gradients: None values are not supported. Give zeros instead.")
    pairs = []
    for target, weight in zip_longest(targets, flat[: len(targets)]):
        if isinstance(target, IndexedSlices):
            target = target.values
        elif isinstance(target, RaggedTensor):
            target = target.flat_values
            weight = weight.flat_values if isinstance(weight, RaggedTensor) else weight
        tensor = current_value(target)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "GradientTape: targets must be Tensors or Variables. "
                f"Received {target!r} of type {type(target).__name__}."
            )
        if not is_differentiable(tensor._array.dtype):
            get_log().debug(
                "The dtype of the target tensor must be floating (e.g. tf.float32), got %r",
                tensor.dtype,
            )
        if tensor.dtype != string:
            pairs.append((tensor, target_cotangent(tensor, weight)))
    return pairs


def target_cotangent(target: Tensor, weight: Any) -> Any:
    """The initial cotangent of a target, conjugated: the backward pass works on conjugates."""
    if weight is None:
        raw = target._array
        if type(raw) is TracedArray and raw.trace.sizes is not None:
            return SizePort.make_filled(raw.shape, 1, raw.dtype)
        return make_ones(raw)
    seed = convert(weight)
    if seed.dtype != target.dtype:
        raise InvalidArgumentError(
            f"output_gradients: the dtype must be that of the target, {target.dtype.name}. "
            f"Received {seed.dtype.name}."
        )
    if seed._array.shape != target._array.shape:
        seed = broadcast_weight(seed, target)
    return conj(seed) if target.dtype.is_complex else seed


def broadcast_weight(seed: Tensor, target: Tensor) -> Tensor:
    """Broadcast a weight to its target; extra leading axes of length one are dropped."""
    shape, own = target._array.shape, seed._array.shape
    extra = max(len(own) - len(shape), 0)
    if own[:extra] == (1,) * extra:
        with contextlib.suppress(ValueError, InvalidArgumentError):
            seed = reshape(seed, shape=own[extra:], rank=len(own))
            result: Tensor = broadcast_to(seed, shape=shape, rank=len(own) - extra)
            return result
    raise InvalidArgumentError(
        f"output_gradients: Incompatible shapes: {list(shape)} vs. {list(own)}."
    )
