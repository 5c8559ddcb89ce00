"""Stateful tf.random functions, which draw from the op's seed or the global seed."""

from __future__ import annotations

from math import prod
from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.context import current_batch, current_trace, local
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops.elementwise import stop_gradient
from gradtape.ops.gather_scatter import take
from gradtape.ops.random import rejection as v
from gradtape.ops.random import stateless as r
from gradtape.state.random.function_stream import draw_in_eager_function, draw_in_trace
from gradtape.state.random.sample import (
    check_float_dtype,
    check_sample_shape,
    draw_uniform,
    is_large_sample,
    scale_and_shift,
)
from gradtape.state.random.seed import SEEDS
from gradtape.state.random.seed import set_seed as set_global_seed
from gradtape.tf.random.distribution import (
    as_logits,
    as_sample_count,
    broadcast_gamma_parameters,
    check_poisson_arguments,
    draw_categorical,
    draw_gamma,
    scale_gamma,
)

BLOCKS_PER_NUMBER = 256  # random blocks that a stateful op reserves per number, as in TensorFlow


@public
def set_seed(seed: int | None) -> None:
    """Set the global seed, which ops without their own seed use.

    Args:
        seed: an integer; None for numbers that differ from run to run.

    Returns:
        None.

    Example:
        >>> tf.random.set_seed(7)
        >>> a = tf.random.uniform([2])
        >>> tf.random.set_seed(7)
        >>> bool(tf.reduce_all(a == tf.random.uniform([2])))
        True
    """
    set_global_seed(seed)


def next_op_stream(op: Any, shape: tuple[int, ...], dtype: Any, seed: Any) -> tuple[Tensor, Tensor]:
    """Take key and counter for a result of `shape` and advance the op's stream."""
    own = None if seed is None else as_integer(seed, "seed")
    return next_stream((op, dtype), own, BLOCKS_PER_NUMBER * prod(shape))


def next_stream(op: Any, own: int | None, blocks: int) -> tuple[Tensor, Tensor]:
    """Take key and counter for `blocks` blocks; `own` is the op's own seed, if it has one."""
    batch = current_batch()
    if batch is not None:  # each example gets its own numbers, as in a loop
        key, counter = batch.map_examples(lambda: next_stream(op, own, blocks))
        return key, counter
    stage = current_trace()
    if stage:
        return draw_in_trace(stage[0], op, own, blocks)
    if local.random_streams is not None:
        return draw_in_eager_function(local.random_streams, op, own, blocks)
    key, counter = SEEDS.draw_stream(op, own, blocks)
    return make_tensor(key), make_tensor(counter)


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
        name: has no effect here.

    Returns:
        A tensor of `shape` and `dtype`.

    Example:
        >>> x = tf.random.uniform([100], minval=1, maxval=7, dtype=tf.int32)
        >>> bool(tf.reduce_all((x >= 1) & (x < 7)))
        True
    """
    sizes = check_sample_shape(shape)
    return draw_uniform(
        "uniform",
        lambda op, raw: next_op_stream(op, sizes, raw, seed),
        sizes,
        minval,
        maxval,
        dtype,
        SEEDS.is_unseeded(seed),
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
        name: has no effect here.

    Returns:
        A tensor of `dtype`.

    Example:
        >>> tf.random.normal([2, 3], mean=1.0).shape
        TensorShape([2, 3])
    """
    raw, sizes = check_float_dtype("normal", dtype), check_sample_shape(shape)
    fresh = SEEDS.is_unseeded(seed) and is_large_sample(sizes, raw)
    draw = r.fresh_normal if fresh else r.random_normal
    drawn = draw(*next_op_stream("normal", sizes, raw, seed), shape=sizes, dtype=raw)
    return scale_and_shift(drawn, stddev, mean)


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
        name: has no effect here.

    Returns:
        A tensor of `dtype`.

    Example:
        >>> bool(tf.reduce_all(tf.abs(tf.random.truncated_normal([100])) <= 2.0))
        True
    """
    raw, sizes = check_float_dtype("truncated_normal", dtype), check_sample_shape(shape)
    stream = next_op_stream("truncated_normal", sizes, raw, seed)
    return scale_and_shift(r.random_truncated_normal(*stream, shape=sizes, dtype=raw), stddev, mean)


@public
def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """`value` with its slices along the first axis in random order.

    Args:
        value: a tensor.
        seed: of this op; a later call with the same seed continues its stream.
        name: has no effect here.

    Returns:
        A tensor of the same shape and dtype; no gradient flows through it.

    Example:
        >>> sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist())
        [1, 2, 3]
    """
    tensor = convert(value)
    size = tensor._array.shape[0] if tensor._array.shape else 1
    own = None if seed is None else as_integer(seed, "seed")
    stream = next_stream(("shuffle", tensor._array.dtype), own, (max(size, 1) + 2) // 4)
    if size < 2:
        return tensor
    order = draw_permutation(*stream, size)
    result: Tensor = take(stop_gradient(tensor), order, axis=-tensor.ndim)
    return result


def draw_permutation(key: Tensor, counter: Tensor, size: int) -> Tensor:
    """Draw a permutation of `size` elements."""
    order: Tensor = apply_raw(r.permute_indices, key, counter, size)
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
        name: has no effect here.

    Returns:
        A tensor of shape (batch, num_samples).

    Example:
        >>> tf.random.set_seed(1)
        >>> tf.random.categorical([[0.0, 1.0, 2.0]], 8).numpy()
        array([[1, 0, 2, 2, 1, 1, 1, 1]])
    """
    odds, count = as_logits("categorical", logits), as_sample_count("categorical", num_samples)
    kind = dtypes.as_dtype(dtypes.int64 if dtype is None else dtype)
    reserved = (odds._array.shape[0], -(-count // 4) * 8)
    stream = next_op_stream(("categorical", kind.name), reserved, odds._array.dtype, seed)
    return draw_categorical("categorical", stream, odds, count, kind)


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
        name: has no effect here.

    Returns:
        A tensor of shape `shape` followed by the broadcast shape of `alpha` and `beta`.

    Example:
        >>> tf.random.gamma([2], alpha=[0.5, 1.5]).shape
        TensorShape([2, 2])
    """
    a, b = broadcast_gamma_parameters("gamma", alpha, beta, dtype)
    sizes = (*check_sample_shape(shape), *a._array.shape)
    key, counter = next_op_stream("gamma", sizes, a._array.dtype, seed)
    return scale_gamma(draw_gamma(key, counter, a, sizes), b)


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
        name: has no effect here.

    Returns:
        A tensor of shape `shape` followed by the shape of `lam`.

    Example:
        >>> tf.random.poisson([2], lam=[0.5, 1.5]).shape
        TensorShape([2, 2])
    """
    rate, raw = check_poisson_arguments("poisson", lam, dtype)
    sizes = (*check_sample_shape(shape), *rate._array.shape)
    stream = next_op_stream(("poisson", rate.dtype.name), sizes, raw, seed)
    drawn: Tensor = v.random_poisson(*stream, rate, shape=sizes, dtype=raw)
    return drawn
