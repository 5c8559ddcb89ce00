"""Raw ops that are the gradients of pointwise functions, as formulas."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor
from gradtape.tf.array.creation import zeros_like
from gradtape.tf.array.mask import where
from gradtape.tf.math import elementwise as e
from gradtape.tf.math.cast import conj
from gradtape.tf.math.reduce import reduce_sum
from gradtape.tf.public_op import convert_pair

SELU_SCALE = 1.0507009873554805  # Klambauer et al., 2017
SELU_ALPHA_SCALE = 1.7580993408473768


def sigmoid_grad(y: Any, dy: Any) -> Tensor:
    """Gradient of `sigmoid` from its result `y`."""
    out, g = convert_pair(y, dy)
    out = conj(out)
    return g * out * (1 - out)


def tanh_grad(y: Any, dy: Any) -> Tensor:
    """Gradient of `tanh` from its result `y`."""
    out, g = convert_pair(y, dy)
    out = conj(out)
    return g * (1 - out * out)


def sqrt_grad(y: Any, dy: Any) -> Tensor:
    """Gradient of `sqrt` from its result `y`."""
    out, g = convert_pair(y, dy)
    return g * 0.5 / conj(out)


def rsqrt_grad(y: Any, dy: Any) -> Tensor:
    """Gradient of `rsqrt` from its result `y`."""
    out, g = convert_pair(y, dy)
    out = conj(out)
    return g * -0.5 * (out * out * out)


def reciprocal_grad(y: Any, dy: Any) -> Tensor:
    """Gradient of `reciprocal` from its result `y`."""
    out, g = convert_pair(y, dy)
    return -g * e.square(conj(out))


def relu_grad(gradients: Any, features: Any) -> Tensor:
    """Gradient of `relu`."""
    g, x = convert_pair(gradients, features)
    return where(x > 0, g, zeros_like(g))


def relu6_grad(gradients: Any, features: Any) -> Tensor:
    """Gradient of `relu6`."""
    g, x = convert_pair(gradients, features)
    return where(e.logical_and(x > 0, x < 6), g, zeros_like(g))


def leaky_relu_grad(gradients: Any, features: Any, alpha: float) -> Tensor:
    """Gradient of `leaky_relu`."""
    g, x = convert_pair(gradients, features)
    return where(x > 0, g, g * alpha)


def elu_grad(gradients: Any, outputs: Any) -> Tensor:
    """Gradient of `elu` from its result."""
    g, out = convert_pair(gradients, outputs)
    return where(out < 0, g * (out + 1), g)


def selu_grad(gradients: Any, outputs: Any) -> Tensor:
    """Gradient of `selu` from its result."""
    g, out = convert_pair(gradients, outputs)
    return where(out < 0, g * (out + SELU_ALPHA_SCALE), g * SELU_SCALE)


def softplus_grad(gradients: Any, features: Any) -> Tensor:
    """Gradient of `softplus`."""
    g, x = convert_pair(gradients, features)
    return g * e.sigmoid(x)


def softsign_grad(gradients: Any, features: Any) -> Tensor:
    """Gradient of `softsign`."""
    g, x = convert_pair(gradients, features)
    return g / e.square(1 + e.abs(x))


def bias_add_grad(out_backprop: Any, data_format: str) -> Tensor:
    """Gradient of `bias_add` with respect to the bias."""
    g = convert(out_backprop)
    rank = g._array.ndim
    channels = 1 if data_format in ("NCHW", b"NCHW") else rank - 1
    return reduce_sum(g, axis=[axis for axis in range(rank) if axis != channels])
