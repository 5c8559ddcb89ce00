"""Activations of neural networks; `relu` and the logistic family are in `elementwise`."""

from __future__ import annotations

import numpy as np

from gradtape.core.primitive import elementwise
from gradtape.ops.elementwise import gate, greater, less, logical_and, select

# Klambauer et al., 2017: the fixed point of zero mean and unit variance.
SCALE = 1.0507009873554805
SCALE_ALPHA = 1.7580993408473766


@elementwise(x=lambda g, x: gate(g, logical_and(greater(x, 0), less(x, 6))))
def relu6(x):
    """`x` cut to [0, 6]."""
    return np.minimum(np.maximum(x, 0), x.dtype.type(6))


def leaky_relu_wrt_x(g, x, x_spec, alpha):
    return select(greater(x, 0), g, g * x_spec.dtype.type(alpha))


@elementwise(x=leaky_relu_wrt_x)
def leaky_relu(x, *, alpha: float):
    """`x` where it is positive, else `alpha` times it."""
    return np.where(np.greater(x, 0), x, x * x.dtype.type(alpha))


@elementwise(x=lambda g, out: select(less(out, 0), g * (out + 1), g))
def elu(x):
    """`x` where it is positive, else its exponential minus one."""
    return np.where(np.greater(x, 0), x, np.expm1(np.minimum(x, 0)))


def selu_wrt_x(g, out, x_spec):
    kind = x_spec.dtype.type
    return select(less(out, 0), g * (out + kind(SCALE_ALPHA)), g * kind(SCALE))


@elementwise(x=selu_wrt_x)
def selu(x):
    """The exponential linear unit, scaled so that it keeps mean and variance."""
    kind = x.dtype.type
    return np.where(
        np.greater(x, 0), x * kind(SCALE), np.expm1(np.minimum(x, 0)) * kind(SCALE_ALPHA)
    )
