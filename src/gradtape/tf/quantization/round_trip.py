"""tf.quantization.quantize_and_dequantize: floats rounded to multiples of a scale."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.tape.custom_gradient import custom_gradient
from gradtape.tf.array.creation import zeros_like
from gradtape.tf.array.mask import where
from gradtape.tf.array.reshape import reshape
from gradtape.tf.debugging.assertion import assert_less_equal
from gradtape.tf.math import elementwise as e
from gradtape.tf.math.reduce import reduce_max, reduce_min

ROUND_MODES = {"HALF_TO_EVEN": e.round, "HALF_UP": lambda x: e.floor(x + 0.5)}


def round_trip(
    x: Tensor,
    low: Tensor,
    high: Tensor,
    signed: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow: bool,
    axis: int,
) -> Tensor:
    """`x` rounded to multiples of a scale that maps the range to integers."""
    check_settings(signed, num_bits, round_mode)
    rank = x._array.ndim
    along = [] if axis == -1 else [axis]
    shape = [-1 if a in along else 1 for a in range(rank)] if along else []
    if range_given:
        low, high = reshape(low, shape), reshape(high, shape)
        message = "quantize_and_dequantize: Invalid range: input_min > input_max."
        assert_less_equal(low, high, message)
    else:
        others = [a for a in range(rank) if a not in along]
        low = reshape(reduce_min(x, others), shape)
        high = reshape(reduce_max(x, others), shape)
    least = (-(2 ** (num_bits - 1)) + narrow) if signed else 0
    most = 2 ** (num_bits - 1) - 1 if signed else 2**num_bits - 1
    largest = x.dtype.max
    from_low = where(least * low > 0, least / low, largest)
    from_high = where(most * high > 0, most / high, largest)
    takes_low = from_low < from_high
    scale = where(takes_low, from_low, from_high)
    inverse = where(takes_low, low / least if least else low * 0, high / most)
    bottom = where(takes_low, low, least * inverse)
    top = where(takes_low, most * inverse, high)
    clipped = e.minimum(e.maximum(x, bottom), top) if range_given else x
    return ROUND_MODES[round_mode](clipped * scale) * inverse


def check_settings(signed: bool, num_bits: int, round_mode: str) -> None:
    """Raise InvalidArgumentError for numbers of bits and modes that do not exist."""
    if not 1 <= num_bits <= 62:
        raise InvalidArgumentError(
            f"quantize_and_dequantize: num_bits is out of range: {num_bits} with signed_input "
            f"{signed}."
        )
    if round_mode not in ROUND_MODES:
        raise InvalidArgumentError(
            f"quantize_and_dequantize: round_mode must be one of {sorted(ROUND_MODES)}. Received "
            f"{round_mode!r}."
        )


@public
def quantize_and_dequantize_v2(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """`input` converted to integers of `num_bits` bits and back.

    Args:
        input: a floating tensor.
        input_min: the lower bound of the range, or one for each index of `axis`.
        input_max: the upper bound.
        signed_input: whether integers are signed.
        num_bits: the number of bits.
        range_given: whether to use the bounds; else those of the values of `input`.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".
        name: has no effect here.
        narrow_range: whether to leave out the least integer.
        axis: the axis whose indices have scales of their own; None for one scale.

    Returns:
        A tensor like `input`. Its gradient is the cotangent inside the bounds, else zero.

    Raises:
        InvalidArgumentError: for settings that do not exist, or bounds in the wrong order.
    """
    x, low, high = convert_with_bounds(input, input_min, input_max)
    along = check_axis(x, axis)

    @custom_gradient
    def apply(x: Any, low: Any, high: Any) -> Any:
        def pull_back(g: Any) -> Any:
            shape = [-1 if a == along else 1 for a in range(x._array.ndim)] if along != -1 else []
            below, above = reshape(low, shape), reshape(high, shape)
            inside = e.logical_and(x >= below, x <= above)
            return where(inside, g, zeros_like(g)), zeros_like(low), zeros_like(high)

        out = round_trip(
            x, low, high, signed_input, num_bits, range_given, round_mode, narrow_range, along
        )
        return out, pull_back

    result: Tensor = apply(x, low, high)
    return result


@public
def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """As `quantize_and_dequantize_v2`, with the gradient of the identity.

    Args:
        input: a tensor of floats.
        input_min: the least value of the range, if it is given.
        input_max: the largest value of the range, if it is given.
        signed_input: whether the quantised numbers are signed.
        num_bits: the number of bits.
        range_given: whether to use the given range instead of the data's.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".
        name: has no effect here.
        narrow_range: whether to leave out the least quantised value.
        axis: the axis with a range for each index, or None.

    Returns:
        A tensor like `input`.
    """
    x, low, high = convert_with_bounds(input, input_min, input_max)
    along = check_axis(x, axis)

    @custom_gradient
    def apply(x: Any) -> Any:
        out = round_trip(
            x, low, high, signed_input, num_bits, range_given, round_mode, narrow_range, along
        )
        return out, lambda g: g

    result: Tensor = apply(x)
    return result


def convert_with_bounds(input: Any, input_min: Any, input_max: Any) -> tuple[Tensor, ...]:
    """The input and its bounds as tensors of one dtype."""
    x = convert(input)
    if not x.dtype.is_floating:
        raise TypeError(
            f"quantize_and_dequantize: input must be floating. Received {x.dtype.name}."
        )
    return x, convert(input_min, x.dtype), convert(input_max, x.dtype)


def check_axis(x: Tensor, axis: int | None) -> int:
    """The axis as a number, -1 for none."""
    if axis is None or axis == -1:
        return -1
    if axis < 0:
        axis += x._array.ndim
    if not 0 <= axis < x._array.ndim:
        raise InvalidArgumentError(
            f"quantize_and_dequantize: axis must be an axis of the input. Received {axis}."
        )
    return axis
