"""tf.quantization.fake_quant_*: floats rounded to 2 ** num_bits steps between two bounds."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.convert import convert
from gradtape.core.dtypes import float32
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.tape.custom_gradient import custom_gradient
from gradtape.tf.array.creation import zeros_like
from gradtape.tf.array.mask import where
from gradtape.tf.math import elementwise as e
from gradtape.tf.math.clip import clip_by_value
from gradtape.tf.math.reduce import reduce_sum


class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    """Gradients with respect to the inputs and the bounds."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


class FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    """Gradients with respect to the inputs and the bounds of each channel."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


def nudge_bounds(low: Tensor, high: Tensor, num_bits: int, narrow_range: bool) -> Any:
    """Bounds moved so that zero is a step, and the width of a step."""
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(
            f"fake_quant: num_bits must be between 2 and 16, inclusive. Received {num_bits}."
        )
    least, most = (1 if narrow_range else 0), 2**num_bits - 1
    step = (high - low) / (most - least)
    zero = least - low / step
    nudged = e.round(zero)
    half_up = e.floor(zero + 0.5)  # rounds halves up, which `round` does not
    nudged = where(e.equal(zero - e.floor(zero), 0.5), half_up, nudged)
    nudged = clip_by_value(nudged, float(least), float(most))
    return (least - nudged) * step, (most - nudged) * step, step


def round_to_steps(x: Tensor, low: Tensor, high: Tensor, num_bits: int, narrow: bool) -> Tensor:
    """`x` clipped to the nudged bounds and rounded to a step; zeros if both bounds are zero."""
    least, most, step = nudge_bounds(low, high, num_bits, narrow)
    clipped = e.minimum(e.maximum(x, least), most)
    inverse = 1 / step
    zero = e.floor(-least * inverse + 0.5)
    rounded = e.floor((clipped - least) * inverse - zero + 0.5) * step
    is_empty = e.logical_and(e.equal(low, 0), e.equal(high, 0))
    return where(is_empty, zeros_like(x), rounded)


def split_cotangent(
    g: Tensor, x: Tensor, low: Tensor, high: Tensor, num_bits: int, narrow: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The cotangent inside the nudged bounds, below and above them."""
    least, most, _ = nudge_bounds(low, high, num_bits, narrow)
    is_empty = e.logical_and(e.equal(low, 0), e.equal(high, 0))
    nothing = zeros_like(g)
    is_below = e.logical_and(e.logical_not(is_empty), x < least)
    is_above = e.logical_and(e.logical_not(is_empty), x > most)
    inside = where(e.logical_or(is_below, is_above), nothing, g)
    return inside, where(is_below, g, nothing), where(is_above, g, nothing)


def sum_per_channel(g: Tensor, low: Tensor) -> Tensor:
    """Sum over all axes that the bounds do not have."""
    rank = g._array.ndim
    return reduce_sum(g, axis=list(range(rank - low._array.ndim)))


def quantize_between(inputs: Any, low: Any, high: Any, num_bits: int, narrow: bool) -> Tensor:
    """Round to steps, with gradients for the inputs and both bounds."""

    @custom_gradient
    def apply(x: Any, least: Any, most: Any) -> Any:
        def pull_back(g: Any) -> Any:
            inside, below, above = split_cotangent(g, x, least, most, num_bits, narrow)
            return inside, sum_per_channel(below, least), sum_per_channel(above, most)

        return round_to_steps(x, least, most, num_bits, narrow), pull_back

    result: Tensor = apply(*(convert(value, float32) for value in (inputs, low, high)))
    return result


def check_bounds(low: float, high: float) -> None:
    """Raise InvalidArgumentError unless `low` is below `high`."""
    if low >= high:
        raise InvalidArgumentError(
            f"fake_quant: min has to be smaller than max, was: {low} >= {high}."
        )


@public
def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`inputs` rounded to the steps of an integer type between two numbers.

    Args:
        inputs: a float32 tensor.
        min: the lower bound, which is moved a little so that zero is a step.
        max: the upper bound.
        num_bits: from 2 to 16; there are 2 ** num_bits steps.
        narrow_range: whether to leave out the lowest step.
        name: has no effect here.

    Returns:
        A tensor like `inputs`. Its gradient is that of a clip.

    Raises:
        InvalidArgumentError: if `min` is not below `max`, or for other numbers of bits.

    Example:
        >>> tf.quantization.fake_quant_with_min_max_args([-9.0, 0.1, 5.0], num_bits=2).numpy()
        array([-8.,  0.,  4.], dtype=float32)
    """
    check_bounds(min, max)
    return quantize_between(inputs, float(min), float(max), num_bits, narrow_range)


@public
def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args` for the cotangent `gradients`.

    Args:
        gradients: the cotangent of the result.
        inputs: a tensor of float32.
        min: the least value of the range.
        max: the largest value of the range.
        num_bits: the number of bits, from 2 to 16.
        narrow_range: whether to leave out the least quantised value.
        name: has no effect here.

    Returns:
        A tensor like `inputs`.
    """
    check_bounds(min, max)
    return find_gradients(gradients, inputs, min, max, num_bits, narrow_range)[0]


def find_gradients(
    gradients: Any, inputs: Any, low: Any, high: Any, num_bits: int, narrow: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients with respect to the inputs and both bounds."""
    g, x, least, most = (convert(value, float32) for value in (gradients, inputs, low, high))
    inside, below, above = split_cotangent(g, x, least, most, num_bits, narrow)
    return inside, sum_per_channel(below, least), sum_per_channel(above, most)


@public
def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_args`, with scalar tensors as bounds.

    The bounds have gradients, too: the sums of the cotangents below and above them.

    Args:
        inputs: a tensor of float32.
        min: the least value of the range.
        max: the largest value of the range.
        num_bits: the number of bits, from 2 to 16.
        narrow_range: whether to leave out the least quantised value.
        name: has no effect here.

    Returns:
        A tensor like `inputs`.
    """
    check_bound_rank("fake_quant_with_min_max_vars", 0, min, max)
    return quantize_between(inputs, min, max, num_bits, narrow_range)


@public
def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsGradient:
    """The gradients of `fake_quant_with_min_max_vars` for the cotangent `gradients`.

    Args:
        gradients: the cotangent of the result.
        inputs: a tensor of float32.
        min: the least value of the range.
        max: the largest value of the range.
        num_bits: the number of bits, from 2 to 16.
        narrow_range: whether to leave out the least quantised value.
        name: has no effect here.

    Returns:
        The gradients of `inputs`, `min` and `max`.
    """
    check_bound_rank("fake_quant_with_min_max_vars_gradient", 0, min, max)
    found = find_gradients(gradients, inputs, min, max, num_bits, narrow_range)
    return FakeQuantWithMinMaxVarsGradient(*found)


@public
def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_vars`, with bounds for each index of the last axis.

    Args:
        inputs: a tensor of float32.
        min: the least value of the range.
        max: the largest value of the range.
        num_bits: the number of bits, from 2 to 16.
        narrow_range: whether to leave out the least quantised value.
        name: has no effect here.

    Returns:
        A tensor like `inputs`.
    """
    check_bound_rank("fake_quant_with_min_max_vars_per_channel", 1, min, max)
    check_channels(inputs, min)
    return quantize_between(inputs, min, max, num_bits, narrow_range)


@public
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsPerChannelGradient:
    """The gradients of `fake_quant_with_min_max_vars_per_channel`.

    Args:
        gradients: the cotangent of the result.
        inputs: a tensor of float32.
        min: the least value of the range.
        max: the largest value of the range.
        num_bits: the number of bits, from 2 to 16.
        narrow_range: whether to leave out the least quantised value.
        name: has no effect here.

    Returns:
        The gradients of `inputs`, `min` and `max`.
    """
    check_bound_rank("fake_quant_with_min_max_vars_per_channel_gradient", 1, min, max)
    check_channels(inputs, min)
    found = find_gradients(gradients, inputs, min, max, num_bits, narrow_range)
    return FakeQuantWithMinMaxVarsPerChannelGradient(*found)


def check_bound_rank(op: str, rank: int, *bounds: Any) -> None:
    """Raise InvalidArgumentError unless the bounds have this rank."""
    for bound in bounds:
        shape = convert(bound, float32)._array.shape
        if len(shape) != rank:
            raise InvalidArgumentError(
                f"{op}: min and max must have rank {rank}. Received shape {list(shape)}."
            )


def check_channels(inputs: Any, low: Any) -> None:
    """Raise InvalidArgumentError unless there is one bound for each channel."""
    shape, (count,) = convert(inputs, float32)._array.shape, convert(low, float32)._array.shape
    if shape[-1:] != (count,):
        raise InvalidArgumentError(
            f"fake_quant: min must have one element for each of the {shape[-1:]} channels. "
            f"Received {count}."
        )
