"""Categorical, gamma, Poisson, binomial and parameterized truncated normal samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InternalError, InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.side_effect import side_effect
from gradtape.ops.elementwise import stop_gradient
from gradtape.ops.random import rejection as v
from gradtape.ops.random import stateless as r
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.special import erfc, ndtri, reparameterize_gamma
from gradtape.state.random.sample import (
    FLOAT_DTYPES,
    SIGNED_DTYPES,
    check_float_dtype,
    check_sample_shape,
    stateless_key,
)
from gradtape.tape.custom_gradient import custom_gradient
from gradtape.tf.array.mask import where
from gradtape.tf.array.reshape import broadcast_to
from gradtape.tf.array.shape import broadcast_dynamic_shape
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import (
    add,
    divide,
    exp,
    greater,
    less,
    log1p,
    maximum,
    multiply,
    negative,
    subtract,
)


def as_logits(op: str, logits: Any) -> Tensor:
    """Convert to logits and check their dtype and shape."""
    tensor = convert(logits)
    if tensor._array.dtype not in FLOAT_DTYPES or np.ndim(tensor._array) != 2:
        raise InvalidArgumentError(
            f"{op}: logits must be a floating tensor of shape [batch, classes]. "
            f"Received {tensor.dtype.name} of shape {list(tensor.shape)}."
        )
    if tensor._array.shape[0] and not tensor._array.shape[1]:
        raise InvalidArgumentError(f"{op}: num_classes should be positive, got 0.")
    return tensor


def as_sample_count(op: str, num_samples: Any) -> int:
    """Convert `num_samples` to a non-negative int."""
    count = convert(num_samples)
    if count.ndim or not count.dtype.is_integer or int(count) < 0:
        raise InvalidArgumentError(
            f"{op}: num_samples must be a scalar integer, not negative. Received {num_samples}."
        )
    return int(count)


def draw_categorical(op: str, stream: Any, odds: Tensor, count: int, kind: Any) -> Tensor:
    """Draw `count` classes per row from a random stream."""
    raw = np.dtype(kind.as_numpy_dtype)
    if raw not in SIGNED_DTYPES:
        raise ValueError(f"{op}: dtype must be int32 or int64. Received {kind.name}.")
    drawn: Tensor = v.random_classes(*stream, odds, samples=count, dtype=raw)
    return drawn


def broadcast_gamma_parameters(op: str, alpha: Any, beta: Any, dtype: Any) -> tuple[Tensor, Tensor]:
    """Convert alpha and beta to tensors; alpha is broadcast to their common shape."""
    kind = dtypes.from_numpy_dtype(check_float_dtype(op, dtype))
    a = convert(alpha, kind)
    b = convert(1 if beta is None else beta, kind)
    if beta is not None:
        a = broadcast_to(a, broadcast_dynamic_shape(a.shape, b.shape))
    return a, b


def draw_gamma(key: Tensor, counter: Tensor, alpha: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Draw gamma samples of rate 1, differentiable in `alpha`."""

    @custom_gradient
    def draw(a: Tensor) -> Any:
        x = v.random_gamma(key, counter, a, shape=shape)
        axes = tuple(range(-len(shape), -a.ndim)) if a.ndim else tuple(range(-len(shape), 0))

        def grad(g: Tensor) -> Tensor:
            slope = reparameterize_gamma(a, x)
            result: Tensor = reduce_sum(multiply(g, slope), axis=axes, keepdims=False)
            return result

        return x, grad

    result: Tensor = draw(alpha)
    return result


def scale_gamma(drawn: Tensor, beta: Tensor) -> Tensor:
    """Scale gamma samples to rate `beta`; none of them is zero."""
    least = np.finfo(drawn.dtype.as_numpy_dtype).tiny
    result: Tensor = maximum(convert(least, drawn.dtype), divide(drawn, beta))
    return result


def check_poisson_arguments(op: str, lam: Any, dtype: Any) -> tuple[Tensor, Any]:
    """Convert the rates and the dtype of the result, and check them."""
    rate = convert(lam)
    if rate._array.dtype not in FLOAT_DTYPES | SIGNED_DTYPES:
        raise InvalidArgumentError(
            f"{op}: lam must be floating, int32 or int64. Received {rate.dtype.name}."
        )
    return rate, as_number_dtype(op, dtype)


def as_number_dtype(op: str, dtype: Any) -> Any:
    """Convert to a NumPy dtype, which must be floating, int32 or int64."""
    kind = dtypes.as_dtype(dtype)
    raw = np.dtype(kind.as_numpy_dtype)
    if raw not in FLOAT_DTYPES | SIGNED_DTYPES:
        raise InvalidArgumentError(
            f"{op}: dtype must be a floating type, int32 or int64. Received {kind.name}."
        )
    return raw


def check_shape_suffix(op: str, shape: tuple[int, ...], inner: tuple[int, ...]) -> None:
    """Raise unless `shape` ends in `inner`, the shape of the parameters."""
    if shape[len(shape) - len(inner) :] != inner:
        raise InvalidArgumentError(
            f"{op}: shape must end in the shape of the parameters, {list(inner)}. "
            f"Received {list(shape)}."
        )


def normal_cdf(x: Tensor) -> Tensor:
    """Distribution function of the standard normal distribution, in float64."""
    result: Tensor = divide(
        erfc(divide(negative(x), convert(2**0.5, x.dtype))), convert(2, x.dtype)
    )
    return result


@public
def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Classes drawn with probabilities softmax(logits), determined by the seed.

    Args:
        logits: unnormalized log-probabilities, (batch, classes).
        num_samples: how many classes to draw for each row.
        seed: a pair of integers.
        dtype: int32 or int64.
        name: has no effect here.

    Returns:
        A tensor of shape (batch, num_samples).

    Example:
        >>> tf.random.stateless_categorical([[0.0, -100.0]], 3, seed=[1, 2]).numpy()
        array([[0, 0, 0]])
    """
    op = "stateless_categorical"
    odds, count = as_logits(op, logits), as_sample_count(op, num_samples)
    return draw_categorical(op, stateless_key(seed), odds, count, dtypes.as_dtype(dtype))


@public
def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Samples of gamma distributions, determined by the seed.

    Args:
        shape: of the result; must end in the broadcast shape of `alpha` and `beta`.
        seed: a pair of integers.
        alpha: shape parameters; differentiable.
        beta: rates, 1 if None; differentiable.
        dtype: float16, float32 or float64.
        name: has no effect here.

    Returns:
        A tensor of `shape` and `dtype`.

    Example:
        >>> tf.random.stateless_gamma([3], seed=[1, 2], alpha=2.0).shape
        TensorShape([3])
    """
    sizes = check_sample_shape(shape)
    a, b = broadcast_gamma_parameters("stateless_gamma", alpha, beta, dtype)
    check_shape_suffix("stateless_gamma", sizes, a._array.shape)
    return scale_gamma(draw_gamma(*stateless_key(seed), a, sizes), b)


@public
def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Samples of Poisson distributions, determined by the seed.

    Args:
        shape: of the result; must end in the shape of `lam`.
        seed: a pair of integers.
        lam: rates.
        dtype: of the result: a floating type, int32 or int64.
        name: has no effect here.

    Returns:
        A tensor of `shape` and `dtype`.

    Example:
        >>> tf.random.stateless_poisson([3], seed=[1, 2], lam=2.0).shape
        TensorShape([3])
    """
    sizes = check_sample_shape(shape)
    rate, raw = check_poisson_arguments("stateless_poisson", lam, dtype)
    check_shape_suffix("stateless_poisson", sizes, rate._array.shape)
    drawn: Tensor = v.random_poisson(*stateless_key(seed), rate, shape=sizes, dtype=raw)
    return drawn


@public
def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Samples of binomial distributions, determined by the seed.

    Args:
        shape: of the result; must end in the broadcast shape of `counts` and `probs`.
        seed: a pair of integers.
        counts: numbers of trials.
        probs: success probabilities.
        output_dtype: of the result: a floating type, int32 or int64.
        name: has no effect here.

    Returns:
        A tensor of `shape` and `output_dtype`.

    Example:
        >>> tf.random.stateless_binomial([3], seed=[1, 2], counts=10.0, probs=1.0).numpy()
        array([10, 10, 10], dtype=int32)
    """
    op = "stateless_binomial"
    sizes, raw = check_sample_shape(shape), as_number_dtype(op, output_dtype)
    p = convert(probs)
    n = convert(counts, p.dtype)
    check_shape_suffix(op, sizes, np.broadcast_shapes(n._array.shape, p._array.shape))
    drawn: Tensor = v.random_binomial(*stateless_key(seed), n, p, shape=sizes, dtype=raw)
    return drawn


@side_effect(fails_only=True)
def check_truncation(op: str, means: Any, stddevs: Any, minvals: Any, maxvals: Any) -> None:
    """Raise unless bounds are in order, not both infinite, and the distribution exists."""
    low, high = minvals._array, maxvals._array
    ordered = np.all((low < high) & ~(np.isinf(low) & np.isinf(high)))
    if not ordered or not np.all(stddevs._array > 0):
        raise InvalidArgumentError(
            f"{op}: minvals must be below maxvals, one of them finite, and stddevs positive. "
            f"Received {minvals}, {maxvals} and {stddevs}."
        )
    if not np.all(np.isfinite(means._array)):
        raise InternalError(f"{op}: means must be finite. Received {means}.")


FAR_TAIL = 35.0  # standard deviations; further out, probabilities underflow


def find_truncated_quantile(a: Tensor, b: Tensor, u: Tensor) -> Tensor:
    """The number in [a, b] below which lies the fraction `u` of the standard normal distribution.

    `a` must not be above 0. If `b` is far in the lower tail, the distance from it is exponentially
    distributed up to a factor of 1 ± 1 / FAR_TAIL².
    """
    below, above = normal_cdf(a), normal_cdf(b)
    near = ndtri(add(below, multiply(u, subtract(above, below))))
    rate = maximum(negative(b), convert(FAR_TAIL, b.dtype))
    lost = subtract(exp(multiply(rate, subtract(a, b))), convert(1, b.dtype))
    far = add(b, divide(log1p(multiply(subtract(convert(1, u.dtype), u), lost)), rate))
    return where(less(b, convert(-FAR_TAIL, b.dtype)), far, near)


@public
def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Tensor:
    """Samples of normal distributions, each truncated at its own bounds; determined by the seed.

    Args:
        shape: of the result; the parameters broadcast to it.
        seed: a pair of integers.
        means: of the distributions before truncation. All parameters are differentiable.
        stddevs: standard deviations before truncation.
        minvals: lower bounds.
        maxvals: upper bounds.
        name: has no effect here.

    Returns:
        A tensor of `shape` and the dtype of the parameters.

    Raises:
        InvalidArgumentError: if a lower bound is not below its upper bound, both are infinite, or a
            deviation is not positive.
        InternalError: if a mean is not finite.

    Note:
        The distribution is the same as in TensorFlow; the samples for a seed are not.
    """
    op = "stateless_parameterized_truncated_normal"
    sizes, mean = check_sample_shape(shape), convert(means)
    kind, wide = mean.dtype, dtypes.float64
    given = [mean, *(convert(x, kind) for x in (stddevs, minvals, maxvals))]
    check_truncation(op, *given)
    mean, spread, low, high = (cast(x, wide) for x in given)
    centre, scale = stop_gradient(mean), stop_gradient(spread)  # as TensorFlow's gradients
    a, b = divide(subtract(low, centre), scale), divide(subtract(high, centre), scale)
    mirrored = greater(a, convert(0, wide))  # above the mean, the other tail is more precise
    a, b = where(mirrored, negative(b), a), where(mirrored, negative(a), b)
    u = r.random_uniform(*stateless_key(seed), shape=sizes, dtype=np.dtype(np.float64))
    x = find_truncated_quantile(a, b, u)
    x = where(mirrored, negative(x), x)
    result: Tensor = cast(add(mean, multiply(spread, x)), kind)
    return broadcast_to(result, sizes)
