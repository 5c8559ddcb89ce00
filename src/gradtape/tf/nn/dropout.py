"""Dropout: random elements are set to zero, the others are scaled up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradtape.core.argument import check_callable
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.ops.elementwise import gate, greater_equal
from gradtape.tf.math.elementwise import divide, multiply, subtract
from gradtape.tf.random.stateful import uniform
from gradtape.tf.random.stateless import stateless_uniform


def noise_shape_of(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the mask; None entries are replaced by the size of `x`."""
    if noise_shape is None:
        return x._array.shape
    if isinstance(noise_shape, TensorShape):
        noise_shape = noise_shape.as_list()
    if isinstance(noise_shape, (list, tuple)) and len(noise_shape) == x.ndim:
        sizes = zip(noise_shape, x._array.shape, strict=True)
        return [size if n is None else n for n, size in sizes]
    return noise_shape


def drop_elements(
    x: Any, rate: Any, noise_shape: Any, sample: Callable[..., Any], advances: bool = False
) -> Tensor:
    """Set a fraction `rate` of `x` to zero; `sample(shape=…, dtype=…)` draws from [0, 1).

    A stream that `advances` does so for the rate 0, too: later draws do not depend on the rate.
    """
    tensor = convert(x)
    dtype = tensor.dtype
    if not dtype.is_floating:
        raise ValueError(
            "dropout: `x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received {dtype.name}."
        )
    shape = noise_shape_of(tensor, noise_shape)
    if isinstance(rate, (int, float)):
        if not 0 <= rate < 1:
            raise ValueError(
                "dropout: `rate` must be a scalar tensor or a float in the range [0, 1). "
                f"Received {rate}."
            )
        if rate == 0:
            if advances:
                sample(shape=[0], dtype=dtype)
            return tensor
        share = convert(rate, dtype)
        scaled = multiply(tensor, convert(1 / (1 - rate), dtype))
    else:
        if isinstance(rate, (str, list, tuple)) or convert(rate).ndim:
            raise ValueError(f"dropout: `rate` must be a scalar or scalar tensor. Received {rate}.")
        share = convert(rate)
        if share.dtype != dtype:
            raise ValueError(
                "dropout: `x.dtype` must be compatible with `rate.dtype`. "
                f"Received {dtype.name} and {share.dtype.name}."
            )
        scaled = divide(tensor, subtract(convert(1, dtype), share))
    keep = greater_equal(convert(sample(shape=shape, dtype=dtype)), share)
    result: Tensor = gate(scaled, keep)
    return result


@public
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """`x` with elements set to zero with probability `rate`, the others divided by 1 - rate.

    Args:
        x: a floating tensor.
        rate: a number, or scalar tensor, in [0, 1).
        noise_shape: the shape of the mask, which broadcasts to that of `x`.
        seed: the seed of this op; see `tf.random.uniform`.
        name: has no effect here.

    Returns:
        A tensor like `x`.

    Raises:
        ValueError: if `x` is not floating, or `rate` not a scalar of its dtype in [0, 1).

    Example:
        >>> tf.nn.dropout(tf.ones([2, 3]), rate=0.0).numpy().sum()
        np.float32(6.0)
    """
    return drop_elements(x, rate, noise_shape, partial(uniform, seed=seed), advances=True)


@public
def stateless_dropout(
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: Any = None,
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`dropout` that is a deterministic function of `seed`.

    Args:
        x: a floating tensor.
        rate: a number, or scalar tensor, in [0, 1).
        seed: a pair of integers.
        rng_alg: Philox, under any of its names.
        noise_shape: the shape of the mask, which broadcasts to that of `x`.
        name: has no effect here.

    Returns:
        A tensor like `x`.

    Example:
        >>> tf.nn.experimental.stateless_dropout(tf.ones([4]), 0.5, seed=[1, 2]).numpy()
        array([2., 0., 2., 0.], dtype=float32)
    """
    alg = rng_alg or "auto_select"
    return drop_elements(x, rate, noise_shape, partial(stateless_uniform, seed=seed, alg=alg))


@public
def general_dropout(
    x: Any, rate: Any, uniform_sampler: Any, noise_shape: Any = None, name: str | None = None
) -> Tensor:
    """`dropout` with random numbers from a function.

    Args:
        x: a floating tensor.
        rate: a number, or scalar tensor, in [0, 1).
        uniform_sampler: called with the keywords `shape` and `dtype`; returns numbers in [0, 1).
        noise_shape: the shape of the mask, which broadcasts to that of `x`.
        name: has no effect here.

    Returns:
        A tensor like `x`.

    Example:
        >>> sampler = tf.random.Generator.from_seed(7).uniform
        >>> tf.nn.experimental.general_dropout([1.0, 2.0, 3.0], 0.5, sampler).shape
        TensorShape([3])
    """
    check_callable(uniform_sampler, "uniform_sampler")
    return drop_elements(x, rate, noise_shape, uniform_sampler)
