"""tf.strings functions on single strings: length, substrings, case, whitespace and splitting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import describe
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, UnimplementedError, public
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT32, OBJECT
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import (
    call_on_host,
    describe_like,
    describe_ragged,
    shape_of_argument,
)
from gradtape.tf.example.other import BYTE_STRING
from gradtape.tf.public_op import STRING, add_examples, check_dtype, has_own_dtype
from gradtape.tf.ragged.conversion import ragged_from_lists


def map_elements(function: Callable[..., Any], *arrays: Any, dtype: Any = object) -> Tensor:
    """Apply `function` to each element of the arrays, which broadcast, and return a tensor."""
    views = np.broadcast_arrays(*arrays)
    out = np.empty(views[0].shape, dtype)
    for i, items in enumerate(zip(*(view.flat for view in views), strict=True)):
        out.flat[i] = function(*items)
    return make_tensor(out if out.ndim or dtype is object else out[()])


def as_string_array(value: Any) -> Any:
    """Convert to a tensor of strings and return its raw array."""
    tensor = convert(value) if has_own_dtype(value) else convert(value, dtypes.string)
    return check_dtype("string op", tensor, STRING)._array


def as_separator(value: Any, name: str) -> bytes:
    """The bytes of a string or a scalar tensor of one."""
    array = as_string_array(value)
    if array.shape:
        raise ValueError(f"{name} must be a scalar string. Received {describe(value)}.")
    return bytes(array[()])


@public
@call_on_host(describe_like(INT32))
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes in each string, or of characters if `unit` is "UTF8_CHAR".

    Args:
        input: a tensor of strings.
        unit: "BYTE" or "UTF8_CHAR".
        name: has no effect here.

    Returns:
        An int32 tensor.

    Example:
        >>> tf.strings.length(["tape", ""]).numpy()
        array([4, 0], dtype=int32)
    """
    return map_elements(
        lambda s: len(to_units(s, unit, "length")), as_string_array(input), dtype=np.int32
    )


def to_units(text: bytes, unit: str, op: str) -> Any:
    """Convert a string to a sequence of its units, bytes or characters."""
    if unit == "BYTE":
        return text
    if unit == "UTF8_CHAR":
        return text.decode("utf-8", "replace")
    raise InvalidArgumentError(f'{op}: unit must be "BYTE" or "UTF8_CHAR". Received {unit!r}.')


@public
@call_on_host(
    lambda input, pos, len, *_, **__: Spec(
        (broadcast_shapes(*map(shape_of_argument, (input, pos, len))), OBJECT)
    )
)
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """`len` units of each string, starting at `pos`; a negative `pos` counts from the end.

    A negative `len` means up to the end of the string.

    Args:
        input: a tensor of strings.
        pos: the first position.
        len: the number of units.
        unit: "BYTE" or "UTF8_CHAR".
        name: has no effect here.

    Returns:
        A tensor of strings.

    Raises:
        InvalidArgumentError: if `pos` lies outside a string.

    Example:
        >>> tf.strings.substr("gradtape", 4, 4).numpy()
        b'tape'
    """

    def take(text: bytes, start: Any, count: Any) -> bytes:
        units = to_units(text, unit, "substr")
        size = units.__len__()
        if not -size <= start <= size:
            raise InvalidArgumentError(f"substr: pos {start} out of range for string {text!r}.")
        first = start + size if start < 0 else start
        part = units[first : first + count if count >= 0 else None]
        return part if isinstance(part, bytes) else part.encode()

    texts, starts = as_string_array(input), convert(pos)._array
    if texts.shape != starts.shape and starts.ndim and max(texts.ndim, starts.ndim) > 2:
        raise UnimplementedError(
            "substr: input and pos of different shapes may have up to two dimensions. Received "
            f"{list(texts.shape)} and {list(starts.shape)}. Broadcast one of them first."
        )
    return map_elements(take, texts, starts, convert(len)._array)


def make_case_function(function: str) -> Callable[..., Tensor]:
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

        return map_elements(change_one, as_string_array(input))

    change_case.__name__ = change_case.__qualname__ = function
    change_case.__doc__ = f"""The strings in {function} case.

    Args:
        input: a tensor of strings.
        encoding: "", which changes only ASCII letters, or "utf-8".
        name: has no effect here.

    Returns:
        A tensor of strings.
    """
    return public(call_on_host(describe_like(OBJECT))(change_case))


lower = make_case_function("lower")


upper = make_case_function("upper")


@public
@call_on_host(describe_like(OBJECT))
def strip(input: Any, name: str | None = None) -> Tensor:
    """The strings without leading and trailing white space.

    Args:
        input: a tensor of strings.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Example:
        >>> tf.strings.strip("  a b ").numpy()
        b'a b'
    """
    return map_elements(bytes.strip, as_string_array(input))


@public
@call_on_host(lambda input, *_, **__: describe_ragged(shape_of_argument(input), dtypes.string))
def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The words of strings.

    Args:
        input: strings.
        sep: separator of words; any white space if None or empty.
        maxsplit: the largest number of splits; -1 for no limit.
        name: has no effect here.

    Returns:
        A RaggedTensor with a row of words for each string; a Tensor if `input` is a scalar.

    Example:
        >>> tf.strings.split(["a rose is", "a rose"])
        <tf.RaggedTensor [[b'a', b'rose', b'is'], [b'a', b'rose']]>
    """
    text = as_string_array(input)
    mark = (None if sep is None else as_separator(sep, "sep")) or None
    words = [one.split(mark, maxsplit) for one in text.flat]
    return ragged_from_lists(words, text.shape, object)


@public
@call_on_host(lambda input, name=None: describe_ragged(shape_of_argument(input), dtypes.string))
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of strings, as strings: a RaggedTensor, or a Tensor if `input` is a scalar.

    Args:
        input: a tensor of strings.
        name: has no effect here.

    Returns:
        A RaggedTensor or a tensor of strings.

    Example:
        >>> tf.strings.bytes_split("abc").numpy()
        array([b'a', b'b', b'c'], dtype=object)
    """
    text = as_string_array(input)
    return ragged_from_lists(
        [[bytes([byte]) for byte in one] for one in text.flat], text.shape, object
    )


add_examples(globals(), BYTE_STRING)
