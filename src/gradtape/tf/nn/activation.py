"""Activations of tf.nn."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.shapes import normalize_axes
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.nn import activation
from gradtape.tf.example.other import ACTIVATION
from gradtape.tf.public_op import (
    FLOATS,
    INEXACT,
    REAL,
    add_examples,
    check_dtype,
    convert_pair,
    has_own_dtype,
    make_unary_op,
    name_functions,
)

FEATURES: Final = ("features",)

relu = make_unary_op(e.relu, REAL, label="Relu", names=FEATURES)

relu6 = make_unary_op(activation.relu6, REAL, label="Relu6", names=FEATURES)

elu = make_unary_op(activation.elu, FLOATS, label="Elu", names=FEATURES)

selu = make_unary_op(activation.selu, FLOATS, label="Selu", names=FEATURES)


@public
def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """Leaky ReLU: `features` where positive, elsewhere `alpha` times `features`.

    Args:
        features: a tensor of floats.
        alpha: the slope of the negative part.
        name: has no effect here.

    Returns:
        A tensor like `features`.

    Example:
        >>> tf.nn.leaky_relu([-1.0, 2.0]).numpy()
        array([-0.2,  2. ], dtype=float32)
    """
    x = convert(features)
    if x.dtype.is_integer:
        x = e.discretize(x, dtype=np.dtype(np.float32))
    return activation.leaky_relu(check_dtype("LeakyRelu", x, FLOATS), alpha=float(alpha))


@public
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Concatenated ReLU: relu(features) and relu(-features), concatenated along `axis`.

    Args:
        features: a tensor of floats.
        axis: the axis to concatenate along.
        name: has no effect here.

    Returns:
        A tensor that is twice as long along `axis`.

    Example:
        >>> tf.nn.crelu([1.0, -2.0]).numpy()
        array([1., 0., 0., 2.], dtype=float32)
    """
    x = check_dtype("Relu", convert(features), REAL)
    n = x._array.ndim
    (at,) = normalize_axes(int(axis), n, "crelu")
    return s.concat(e.relu(x), e.relu(e.negative(x)), axis=at)


@public
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """Gaussian error linear unit: `features` times the standard normal CDF of `features`.

    Args:
        features: a tensor of floats.
        approximate: whether to use the tanh approximation.
        name: has no effect here.

    Returns:
        A tensor like `features`.

    Example:
        >>> tf.nn.gelu([-1.0, 2.0]).numpy().round(3)
        array([-0.159,  1.954], dtype=float32)
    """
    x = convert(features)
    if not x.dtype.is_floating:
        raise ValueError(
            f"gelu: `features` must be a floating point tensor. Received {x.dtype.name}."
        )
    both = activation.tanh_gelu_and_slope if approximate else activation.gelu_and_slope
    return activation.with_slope(x, *both(x))


@public
def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """SiLU, or swish: features * sigmoid(beta * features).

    Args:
        features: a tensor of floats.
        beta: the slope inside the sigmoid.

    Returns:
        A tensor like `features`.

    Example:
        >>> tf.nn.silu([0.0, 2.0]).numpy().round(3)
        array([0.   , 1.762], dtype=float32)
    """
    x = check_dtype("Sigmoid", convert(features), INEXACT)
    if not has_own_dtype(beta) and beta == 1 and x._array.dtype in FLOATS:
        return activation.with_slope(x, *activation.silu_and_slope(x))
    return e.multiply(x, e.sigmoid(e.multiply(*convert_pair(x, beta))))


swish = silu

name_functions(__name__, globals())

add_examples(globals(), ACTIVATION)
