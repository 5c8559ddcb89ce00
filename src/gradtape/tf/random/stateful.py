"""Stateful tf.random functions, which draw from the op's seed or the global seed."""

from __future__ import annotations

from math import prod
from typing import Any

from gradtape.core import dtypes
from gradtape.core.context import local, staging
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.raw_function import rawly
from gradtape.ops.elementwise import stop_gradient
from gradtape.ops.gather_scatter import take
from gradtape.ops.random import rejection as v
from gradtape.ops.random import stateless as r
from gradtape.state.random.function_stream import fallback_stream, staged_stream
from gradtape.state.random.sample import float_dtype, is_large, scaled, size_of, uniform_numbers
from gradtape.state.random.seed import SEEDS
from gradtape.state.random.seed import set_seed as set_global_seed
from gradtape.tf.random.distribution import (
    classes,
    divided,
    gamma_shape,
    logits_of,
    number_of,
    poisson_rate,
    reparametrised,
)

GENEROUS = 256  # random blocks that a stateful op reserves per number, as in TensorFlow


@public
def set_seed(seed: int | None) -> None:
    """Set the global seed, which ops without their own seed use.

    Args:
        seed: an integer; None for numbers that differ from run to run.

    Example:
        >>> tf.random.set_seed(7)
        >>> a = tf.random.uniform([2])
        >>> tf.random.set_seed(7)
        >>> bool(tf.reduce_all(a == tf.random.uniform([2])))
        True
    """
    set_global_seed(seed)


def stream_of(op: Any, shape: tuple[int, ...], dtype: Any, seed: Any) -> tuple[Tensor, Tensor]:
    """Take key and counter for a result of `shape` and advance the op's stream."""
    own = None if seed is None else int(seed)
    return next_stream((op, dtype), own, GENEROUS * prod(shape))


def next_stream(op: Any, own: int | None, blocks: int) -> tuple[Tensor, Tensor]:
    """Take key and counter for `blocks` blocks; `own` is the op's own seed, if it has one."""
    stage = staging()
    if stage:
        return staged_stream(stage[0], op, own, blocks)
    if local.draws is not None:
        return fallback_stream(local.draws, op, own, blocks)
    key, counter = SEEDS.stream(op, own, blocks)
    return eager(key), eager(counter)


@public
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn uniformly from [minval, maxval).

    Args:
        shape: of the result.
        minval: lower bound, included.
        maxval: upper bound, excluded; 1 for floats if None. Integers need it.
        dtype: a floating type, int32 or int64.
        seed: of this op; a later call with the same seed continues its stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of `shape` and `dtype`.
    """
    sizes = size_of(shape)
    return uniform_numbers(
        "uniform",
        lambda op, raw: stream_of(op, sizes, raw, seed),
        sizes,
        minval,
        maxval,
        dtype,
        SEEDS.is_fresh(seed),
    )


@public
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Samples of a normal distribution.

    Args:
        shape: of the result; `mean` and `stddev` broadcast against it.
        mean: of the distribution.
        stddev: standard deviation.
        dtype: a floating type.
        seed: of this op; a later call with the same seed continues its stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of `dtype`.
    """
    raw, sizes = float_dtype("normal", dtype), size_of(shape)
    fresh = SEEDS.is_fresh(seed) and is_large(sizes, raw)
    draw = r.fresh_normal if fresh else r.random_normal
    drawn = draw(*stream_of("normal", sizes, raw, seed), shape=sizes, dtype=raw)
    return scaled(drawn, stddev, mean)


@public
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Samples of a normal distribution, truncated at two standard deviations from the mean.

    Args:
        shape: of the result; `mean` and `stddev` broadcast against it.
        mean: of the distribution before truncation.
        stddev: standard deviation before truncation.
        dtype: a floating type.
        seed: of this op; a later call with the same seed continues its stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of `dtype`.
    """
    raw, sizes = float_dtype("truncated_normal", dtype), size_of(shape)
    stream = stream_of("truncated_normal", sizes, raw, seed)
    return scaled(r.random_truncated_normal(*stream, shape=sizes, dtype=raw), stddev, mean)


@public
def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """`value` with its slices along the first axis in random order.

    Args:
        value: a tensor.
        seed: of this op; a later call with the same seed continues its stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of the same shape and dtype; no gradient flows through it.
    """
    tensor = convert(value)
    size = tensor._array.shape[0] if tensor._array.shape else 1
    own = None if seed is None else int(seed)
    stream = next_stream(("shuffle", tensor._array.dtype), own, (max(size, 1) + 2) // 4)
    if size < 2:
        return tensor
    order = permuted(*stream, size)
    result: Tensor = take(stop_gradient(tensor), order, axis=-tensor.ndim)
    return result


def permuted(key: Tensor, counter: Tensor, size: int) -> Tensor:
    """Draw a permutation of `size` elements."""
    order: Tensor = rawly(r.permutation, key, counter, size)
    return order


@public
def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """Classes drawn with probabilities softmax(logits).

    Args:
        logits: unnormalized log-probabilities, (batch, classes).
        num_samples: how many classes to draw for each row.
        dtype: int32 or int64 (default).
        seed: of this op; a later call with the same seed continues its stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of shape (batch, num_samples).

    Example:
        >>> tf.random.set_seed(1)
        >>> tf.random.categorical([[0.0, 1.0, 2.0]], 8).numpy()
        array([[1, 0, 2, 2, 1, 1, 1, 1]])
    """
    odds, count = logits_of("categorical", logits), number_of("categorical", num_samples)
    kind = dtypes.as_dtype(dtypes.int64 if dtype is None else dtype)
    reserved = (odds._array.shape[0], -(-count // 4) * 8)
    stream = stream_of(("categorical", kind.name), reserved, odds._array.dtype, seed)
    return classes("categorical", stream, odds, count, kind)


@public
def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Samples of gamma distributions, `shape` of them for each pair of `alpha` and `beta`.

    Args:
        shape: of the samples drawn for each distribution.
        alpha: shape parameters; differentiable.
        beta: rates, 1 if None; differentiable.
        dtype: float16, float32 or float64.
        seed: of this op; a later call with the same seed continues its stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of shape `shape` followed by the broadcast shape of `alpha` and `beta`.
    """
    a, b = gamma_shape("gamma", alpha, beta, dtype)
    sizes = (*size_of(shape), *a._array.shape)
    key, counter = stream_of("gamma", sizes, a._array.dtype, seed)
    return divided(reparametrised(key, counter, a, sizes), b)


@public
def poisson(
    shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None
) -> Tensor:
    """Samples of Poisson distributions, `shape` of them for each rate.

    Args:
        shape: of the samples drawn for each distribution.
        lam: rates.
        dtype: of the result: float16, float32, float64, int32 or int64.
        seed: of this op; a later call with the same seed continues its stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of shape `shape` followed by the shape of `lam`.
    """
    rate, raw = poisson_rate("poisson", lam, dtype)
    sizes = (*size_of(shape), *rate._array.shape)
    stream = stream_of(("poisson", rate.dtype.name), sizes, raw, seed)
    drawn: Tensor = v.random_poisson(*stream, rate, shape=sizes, dtype=raw)
    return drawn
