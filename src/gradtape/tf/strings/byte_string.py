"""tf.strings functions on single strings: length, substrings, case, whitespace and splitting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host
from gradtape.tf.public_op import STRING, is_typed, operand
from gradtape.tf.ragged.conversion import in_rows


def each(function: Callable[..., Any], *arrays: Any, dtype: Any = object) -> Tensor:
    """Apply `function` to each element of the arrays, which broadcast, and return a tensor."""
    views = np.broadcast_arrays(*arrays)
    out = np.empty(views[0].shape, dtype)
    for i, items in enumerate(zip(*(view.flat for view in views), strict=True)):
        out.flat[i] = function(*items)
    return eager(out if out.ndim or dtype is object else out[()])


def strings(value: Any) -> Any:
    """Convert to a tensor of strings and return its raw array."""
    tensor = convert(value) if is_typed(value) else convert(value, dtypes.string)
    return operand("string op", tensor, STRING)._array


@public
@on_host
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes in each string, or of characters if `unit` is "UTF8_CHAR"."""
    return each(lambda s: len(in_unit(s, unit, "length")), strings(input), dtype=np.int32)


def in_unit(text: bytes, unit: str, op: str) -> Any:
    """Convert a string to a sequence of its units, bytes or characters."""
    if unit == "BYTE":
        return text
    if unit == "UTF8_CHAR":
        return text.decode("utf-8", "replace")
    raise InvalidArgumentError(f'{op}: unit must be "BYTE" or "UTF8_CHAR". Received {unit!r}.')


@public
@on_host
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """`len` units of each string, starting at `pos`; a negative `pos` counts from the end.

    A negative `len` means up to the end of the string.

    Raises:
        InvalidArgumentError: if `pos` lies outside a string.
    """

    def take(text: bytes, start: Any, count: Any) -> bytes:
        units = in_unit(text, unit, "substr")
        size = units.__len__()
        if not -size <= start <= size and not local.stand_in:
            raise InvalidArgumentError(f"substr: pos {start} out of range for string {text!r}.")
        first = start + size if start < 0 else start
        part = units[first : first + count if count >= 0 else None]
        return part if isinstance(part, bytes) else part.encode()

    return each(take, strings(input), convert(pos)._array, convert(len)._array)


def recoded(function: str) -> Callable[..., Tensor]:
    """Make `lower` or `upper`; without the encoding "utf-8" they change ASCII letters only."""

    def change_case(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
        if encoding not in ("", "utf-8"):
            raise InvalidArgumentError(
                f'{function}: encoding must be "" or "utf-8". Received {encoding!r}.'
            )

        def change_one(text: bytes) -> bytes:
            if encoding:
                return str(getattr(text.decode("utf-8", "replace"), function)()).encode()
            return bytes(getattr(text, function)())

        return each(change_one, strings(input))

    change_case.__name__ = change_case.__qualname__ = function
    change_case.__doc__ = (
        f"""The strings in {function} case; letters beyond ASCII only with `encoding="utf-8"`."""
    )
    return public(on_host(change_case))


lower = recoded("lower")


upper = recoded("upper")


@public
@on_host
def strip(input: Any, name: str | None = None) -> Tensor:
    """The strings without leading and trailing white space."""
    return each(bytes.strip, strings(input))


@public
@on_host
def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The words of strings.

    Args:
        input: strings.
        sep: separator of words; any white space if None or empty.
        maxsplit: the largest number of splits; -1 for no limit.
        name: accepted for TensorFlow's sake.

    Returns:
        A RaggedTensor with a row of words for each string; a Tensor if `input` is a scalar.

    Example:
        >>> tf.strings.split(["a rose is", "a rose"])
        <tf.RaggedTensor [[b'a', b'rose', b'is'], [b'a', b'rose']]>
    """
    text = strings(input)
    mark = sep.encode() if sep else None
    words = [one.split(mark, maxsplit) for one in text.flat]
    if local.stand_in:
        words = [[b""] * local.stand_in for _ in words]
    return in_rows(words, text.shape, object)


@public
@on_host
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of strings, as strings: a RaggedTensor, or a Tensor if `input` is a scalar."""
    text = strings(input)
    data = [bytes(local.stand_in) if local.stand_in else one for one in text.flat]
    return in_rows([[bytes([byte]) for byte in one] for one in data], text.shape, object)
