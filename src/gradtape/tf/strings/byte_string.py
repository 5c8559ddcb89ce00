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
    """A tensor of what `function` makes of the elements; arrays broadcast."""
    views = np.broadcast_arrays(*arrays)
    out = np.empty(views[0].shape, dtype)
    for i, items in enumerate(zip(*(view.flat for view in views), strict=True)):
        out.flat[i] = function(*items)
    return eager(out if out.ndim or dtype is object else out[()])


def strings(value: Any) -> Any:
    """The raw array of a tensor of strings."""
    tensor = convert(value) if is_typed(value) else convert(value, dtypes.string)
    return operand("string op", tensor, STRING)._array


@public
@on_host
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or with `unit="UTF8_CHAR"` of characters, in each string."""
    return each(lambda s: len(in_unit(s, unit, "length")), strings(input), dtype=np.int32)


def in_unit(text: bytes, unit: str, op: str) -> Any:
    """A string as what its units are counted in."""
    if unit == "BYTE":
        return text
    if unit == "UTF8_CHAR":
        return text.decode("utf-8", "replace")
    raise InvalidArgumentError(f'{op}: unit must be "BYTE" or "UTF8_CHAR". Received {unit!r}.')


@public
@on_host
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """`len` units of each string from `pos` on; a negative `pos` counts from the end.

    A negative `len` means all that is left.

    Raises:
        InvalidArgumentError: if `pos` lies outside a string.
    """

    def cut(text: bytes, start: Any, count: Any) -> bytes:
        units = in_unit(text, unit, "substr")
        size = units.__len__()
        if not -size <= start <= size and not local.stand_in:
            raise InvalidArgumentError(f"substr: pos {start} out of range for string {text!r}.")
        first = start + size if start < 0 else start
        part = units[first : first + count if count >= 0 else None]
        return part if isinstance(part, bytes) else part.encode()

    return each(cut, strings(input), convert(pos)._array, convert(len)._array)


def recoded(function: str) -> Callable[..., Tensor]:
    """A function of each string, of ASCII letters only unless the encoding is utf-8."""

    def change(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
        if encoding not in ("", "utf-8"):
            raise InvalidArgumentError(
                f'{function}: encoding must be "" or "utf-8". Received {encoding!r}.'
            )

        def one(text: bytes) -> bytes:
            if encoding:
                return str(getattr(text.decode("utf-8", "replace"), function)()).encode()
            return bytes(getattr(text, function)())

        return each(one, strings(input))

    change.__name__ = change.__qualname__ = function
    change.__doc__ = (
        f"""The strings in {function} case; letters beyond ASCII only with `encoding="utf-8"`."""
    )
    return public(on_host(change))


lower = recoded("lower")


upper = recoded("upper")


@public
@on_host
def strip(input: Any, name: str | None = None) -> Tensor:
    """The strings without white space at both ends."""
    return each(bytes.strip, strings(input))


@public
@on_host
def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The words of strings.

    Args:
        input: strings.
        sep: what stands between words; any white space if None or empty.
        maxsplit: how often to split at most.
        name: accepted for TensorFlow's sake.

    Returns:
        A RaggedTensor with a row of words for each string; of a string without axes, a Tensor.

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
    """The bytes of strings, each as a string: a RaggedTensor, or of a single string a Tensor."""
    text = strings(input)
    data = [bytes(local.stand_in) if local.stand_in else one for one in text.flat]
    return in_rows([[bytes([byte]) for byte in one] for one in data], text.shape, object)
