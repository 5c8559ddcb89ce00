"""Dropout: random elements are set to zero, the others are scaled up."""

from __future__ import annotations

from typing import Any

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


def drop_elements(x: Any, rate: Any, noise_shape: Any, sample: Any) -> Tensor:
    """Set a fraction `rate` of `x` to zero; `sample(shape, dtype)` draws from [0, 1)."""
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
            sample([0], dtype)  # advances the stream, so that later draws do not depend on the rate
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
    keep = greater_equal(sample(shape, dtype), share)
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
    """
    return drop_elements(
        x, rate, noise_shape, lambda shape, dtype: uniform(shape, dtype=dtype, seed=seed)
    )


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
    """
    alg = rng_alg or "auto_select"
    return drop_elements(
        x,
        rate,
        noise_shape,
        lambda shape, dtype: stateless_uniform(shape, seed, dtype=dtype, alg=alg),
    )
