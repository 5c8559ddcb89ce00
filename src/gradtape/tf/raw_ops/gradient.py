"""Raw ops of TensorFlow that compute parts of gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, broadcast_pair, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import incomplete_gamma
from gradtape.tf.public_op import convert_pair


class BroadcastGradientArgs(NamedTuple):
    """The axes along which each operand was broadcast."""

    r0: Tensor
    r1: Tensor


@public
def broadcast_gradient_args(s0: Any, s1: Any, name: str | None = None) -> BroadcastGradientArgs:
    """The axes of a broadcast result along which the gradient of each operand is summed.

    Args:
        s0: the shape of the first operand.
        s1: the shape of the second operand.
        name: has no effect here.
    """
    first, second = convert(s0), convert(s1)
    found = apply_raw(find_broadcast_axes, first, second, dynamic=True, outputs=True)
    return BroadcastGradientArgs(*found)


@with_shape(lambda s0, s1: [Spec(((FRESH,), s0.dtype)), Spec(((FRESH,), s0.dtype))])
def find_broadcast_axes(s0: Any, s1: Any) -> tuple[Any, Any]:
    """Axes of the result that are missing or 1 in a shape; none if the shapes are equal."""
    if np.array_equal(s0, s1):
        return s0[:0], s1[:0]
    rank = max(len(s0), len(s1))
    full = [np.concatenate([np.ones(rank - len(s), s.dtype), s]) for s in (s0, s1)]
    missing = [np.arange(rank) < rank - len(s) for s in (s0, s1)]
    ones = full[0] == 1, full[1] == 1
    both = ones[0] & ones[1]
    axes = [
        np.flatnonzero((one & ~other) | gone | both).astype(s0.dtype)
        for one, other, gone in ((*ones, missing[0]), (*ones[::-1], missing[1]))
    ]
    return axes[0], axes[1]


@public
def igamma_grad_a(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Derivative of `tf.math.igamma(a, x)` with respect to `a`."""
    result: Tensor = apply_raw(compute_igamma_slope, *convert_pair(a, x))
    return result


@with_shape(broadcast_pair)
def compute_igamma_slope(a: Any, x: Any) -> Any:
    """Compute the slope of broadcast raw arrays."""
    a, x = np.broadcast_arrays(a, x)
    return incomplete_gamma.igamma_slope(a, x).astype(a.dtype, copy=False)


@public
def random_gamma_grad(alpha: Any, sample: Any, name: str | None = None) -> Tensor:
    """Derivative of a gamma distributed `sample` with respect to its shape `alpha`."""
    result: Tensor = apply_raw(compute_sample_slope, *convert_pair(alpha, sample))
    return result


@with_shape(broadcast_pair)
def compute_sample_slope(alpha: Any, sample: Any) -> Any:
    """Compute the slope of broadcast raw arrays."""
    alpha, sample = np.broadcast_arrays(alpha, sample)
    slope = incomplete_gamma.gamma_sample_slope(alpha, sample)
    return slope.astype(alpha.dtype, copy=False)
