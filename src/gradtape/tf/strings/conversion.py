"""tf.strings functions that write tensors as text and parse numbers from text."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import OBJECT, numpy_dtype_of
from gradtape.core.tensor import Tensor
from gradtape.graph.host_function import (
    call_on_host,
    describe_as,
    describe_like,
    shape_of_argument,
)
from gradtape.tf.io.print import format_tensor_like
from gradtape.tf.strings.byte_string import as_string_array, map_elements


@public
@call_on_host(describe_like(OBJECT))
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as text, in the notation of C's `printf`.

    Args:
        input: a tensor.
        precision: digits after the decimal point, six by default; for floats only.
        scientific: write floats with an exponent.
        shortest: write floats in the shorter of decimal and scientific notation.
        width: the least number of characters.
        fill: a character to pad with ("0", " ", "+", "-" as in `printf`).
        name: has no effect here.

    Returns:
        A tensor of strings.

    Raises:
        InvalidArgumentError: if options conflict, or do not apply to the dtype.

    Example:
        >>> tf.strings.as_string([1, 25]).numpy()
        array([b'1', b'25'], dtype=object)
    """
    tensor = convert(input)
    dtype = tensor.dtype
    fractional = dtype.is_floating or dtype.is_complex
    if scientific and shortest:
        raise InvalidArgumentError(
            "as_string: Cannot select both scientific and shortest notation."
        )
    if len(fill) > 1 or fill not in " +-0#":
        raise InvalidArgumentError(
            f"as_string: fill must be one of ' +-0#', or empty. Received {fill!r}."
        )
    if not fractional and (precision >= 0 or scientific or shortest):
        raise InvalidArgumentError(
            f"as_string: precision and notation are not supported for {dtype.name}."
        )
    letter = "e" if scientific else "g" if shortest else "f"
    size = ("" if width < 0 else str(width)) + ("" if precision < 0 else f".{precision}")
    if dtype.is_complex:
        form = f"(%{fill}{size}{letter},%{fill}{size}{letter})"
        return map_elements(lambda z: (form % (z.real, z.imag)).encode(), tensor._array)
    if fractional:
        return map_elements(lambda x: (f"%{fill}{size}{letter}" % float(x)).encode(), tensor._array)
    if dtype.is_integer:
        return map_elements(lambda x: (f"%{fill}{size}d" % int(x)).encode(), tensor._array)
    if dtype.is_bool:
        return map_elements(lambda x: b"true" if x else b"false", tensor._array)
    return map_elements(lambda x: f"%{fill}{size}s".encode() % x, as_string_array(tensor))


@public
@call_on_host(
    lambda input, out_type=dtypes.float32, name=None: Spec(
        (shape_of_argument(input), numpy_dtype_of(out_type))
    )
)
def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Numbers parsed from strings.

    Args:
        input: a tensor of strings.
        out_type: float32, float64, int32 or int64.
        name: has no effect here.

    Returns:
        A tensor of `out_type`.

    Raises:
        InvalidArgumentError: if a string is not a number of that dtype.

    Example:
        >>> tf.strings.to_number(["1.5", "2"]).numpy()
        array([1.5, 2. ], dtype=float32)
    """
    dtype = dtypes.as_dtype(out_type)
    read = int if dtype.is_integer else float

    def parse(text: bytes) -> Any:
        try:
            if b"_" in text:
                raise ValueError
            return dtype.scalar(read(text.strip()))
        except (ValueError, OverflowError):
            raise InvalidArgumentError(
                f"to_number: could not correctly convert string: {text!r}."
            ) from None

    return map_elements(parse, as_string_array(input), dtype=dtype.as_numpy_dtype)


@public
@call_on_host(describe_as(dtype=OBJECT))
def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """`template` with each `placeholder` replaced by a tensor, formatted as by `tf.print`.

    Args:
        template: a string.
        inputs: a tensor or a list of tensors.
        placeholder: the text to replace.
        summarize: how many elements to print at each end of an axis.
        name: has no effect here.

    Returns:
        A string scalar.

    Raises:
        ValueError: if there are more or fewer tensors than placeholders.

    Example:
        >>> tf.strings.format("{} + 1", 2).numpy()
        b'2 + 1'
    """
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(values):
        raise ValueError(
            f"format: inputs must be as many as the placeholders in {template!r}, "
            f"{template.count(placeholder)}. Received {len(values)}."
        )
    first, *rest = template.split(placeholder)
    texts = [format_tensor_like(value, summarize) for value in values]
    return convert(first + "".join(text + after for text, after in zip(texts, rest, strict=True)))
