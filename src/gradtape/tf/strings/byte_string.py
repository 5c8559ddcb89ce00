"""tf.strings: text in tensors, byte by byte unless an encoding is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host
from gradtape.tf.io.print import text_of
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
        precision: digits behind the point, six by default; for floats only.
        scientific: write floats with an exponent.
        shortest: write floats in the shorter of the two ways.
        width: the least number of characters.
        fill: a character to pad with ("0", " ", "+", "-" as in `printf`).
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if the options do not fit each other or the dtype.
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
            f"as_string: fill must be one of ' +-0#', or nothing. Received {fill!r}."
        )
    if not fractional and (precision >= 0 or scientific or shortest):
        raise InvalidArgumentError(
            f"as_string: precision and notation are not supported for {dtype.name}."
        )
    letter = "e" if scientific else "g" if shortest else "f"
    size = ("" if width < 0 else str(width)) + ("" if precision < 0 else f".{precision}")
    if dtype.is_complex:
        form = f"(%{fill}{size}{letter},%{fill}{size}{letter})"
        return each(lambda z: (form % (z.real, z.imag)).encode(), tensor._array)
    if fractional:
        return each(lambda x: (f"%{fill}{size}{letter}" % float(x)).encode(), tensor._array)
    if dtype.is_integer:
        return each(lambda x: (f"%{fill}{size}d" % int(x)).encode(), tensor._array)
    if dtype.is_bool:
        return each(lambda x: b"true" if x else b"false", tensor._array)
    return each(lambda x: f"%{fill}{size}s".encode() % x, strings(tensor))


@public
@on_host
def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Strings put together element by element; scalars go with every element.

    Args:
        inputs: tensors of one shape, and scalars.
        separator: what stands between them.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if the shapes differ.
    """
    arrays = [strings(value) for value in inputs]
    if not arrays:
        return convert("")
    shapes = {array.shape for array in arrays} - {()}
    if len(shapes) > 1:
        listed = " vs. ".join(str(list(shape)) for shape in sorted(shapes))
        raise InvalidArgumentError(f"join: Input shapes do not match: {listed}.")
    return each(lambda *items: separator.encode().join(items), *arrays)


@public
@on_host
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Strings along `axis` (all axes if None) put together.

    Args:
        inputs: a tensor of strings.
        axis: an axis, or a list of axes, joined in that order.
        keepdims: keep joined axes with size one.
        separator: what stands between them.
        name: accepted for TensorFlow's sake.
    """
    array = strings(inputs)
    chosen = range(array.ndim) if axis is None else np.ravel(axis).tolist()
    axes = [normalize_axis(one, array.ndim, "reduce_join") % array.ndim for one in chosen]
    rest = [i for i in range(array.ndim) if i not in axes]
    flat = array.transpose(rest + axes).reshape(*(array.shape[i] for i in rest), -1)
    joined = np.empty(flat.shape[:-1], object)
    for position in np.ndindex(joined.shape):
        joined[position] = separator.encode().join(flat[position])
    if keepdims:
        joined = joined.reshape([1 if i in axes else array.shape[i] for i in range(array.ndim)])
    return eager(joined)


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
def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""The strings with matches of `pattern` replaced; in `rewrite`, `\1` … are groups."""
    found = compiled(pattern)
    template = re.sub(r"\\(\d)", r"\\g<\1>", rewrite)
    count = 0 if replace_global else 1
    return each(lambda s: to_bytes(found.sub(template, to_text(s), count)), strings(input))


@public
@on_host
def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """Whether the whole string matches `pattern`."""
    found = compiled(pattern)
    return each(lambda s: found.fullmatch(to_text(s)) is not None, strings(input), dtype=np.bool_)


def to_text(data: bytes) -> str:
    """A string as characters; bytes that are none stand for themselves."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """What `to_text` was made of."""
    return text.encode("utf-8", "surrogateescape")


def compiled(pattern: Any) -> re.Pattern[str]:
    """A regular expression over characters; its classes know ASCII only."""
    text = pattern if isinstance(pattern, str) else to_text(strings(pattern)[()])
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"regex: Invalid pattern: {text}, error: {error}.") from None


@public
@on_host
def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The numbers that the strings stand for.

    Raises:
        InvalidArgumentError: if one is not a number.
    """
    dtype = dtypes.as_dtype(out_type)
    read = int if dtype.is_integer else float

    def number(text: bytes) -> Any:
        try:
            if local.stand_in:
                return 0
            if b"_" in text:
                raise ValueError
            return dtype.scalar(read(text.strip()))
        except (ValueError, OverflowError):
            raise InvalidArgumentError(
                f"to_number: could not correctly convert string: {text!r}."
            ) from None

    return each(number, strings(input), dtype=dtype.as_numpy_dtype)


@public
@on_host
def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """`template` with each `placeholder` replaced by a tensor, written as `tf.print` does.

    Raises:
        ValueError: if there are more or fewer tensors than placeholders.
    """
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(values):
        raise ValueError(
            f"format: {template.count(placeholder)} placeholders in {template!r}, but "
            f"{len(values)} inputs."
        )
    first, *rest = template.split(placeholder)
    texts = [text_of(value, summarize) for value in values]
    return convert(first + "".join(text + after for text, after in zip(texts, rest, strict=True)))


@public
@on_host
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of strings, each as a string: a RaggedTensor, or of a single string a Tensor."""
    text = strings(input)
    data = [bytes(local.stand_in) if local.stand_in else one for one in text.flat]
    return in_rows([[bytes([byte]) for byte in one] for one in data], text.shape, object)


@public
@on_host
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Strings that have the same number in `segment_ids` put together.

    Args:
        inputs: a tensor of strings.
        segment_ids: numbers below `num_segments`, of a shape that begins that of `inputs`.
        num_segments: how many segments there are.
        separator: what stands between them.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if a number is too large.
    """
    array, ids = strings(inputs), np.asarray(convert(segment_ids)._array)
    count = int(num_segments)
    rest = array.shape[ids.ndim :]
    if ids.shape != array.shape[: ids.ndim] or (ids.size and ids.max() >= count):
        raise InvalidArgumentError(
            f"unsorted_segment_join: segment_ids of shape {list(ids.shape)} must be below {count} "
            f"and begin the shape {list(array.shape)} of the inputs."
        )
    rows = array.reshape(ids.size, *rest)
    out = np.empty((count, *rest), object)
    for segment in range(count):
        chosen = rows[ids.ravel() == segment]
        for place in np.ndindex(rest):
            out[(segment, *place)] = separator.encode().join(chosen[(slice(None), *place)])
    return eager(out)


@public
@on_host
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Tensor:
    """Neighbours along the last axis put together.

    Args:
        data: strings.
        ngram_width: how many, or a list of such numbers.
        separator: what stands between them.
        pad_values: what stands in front and behind: a string, or a pair of them.
        padding_width: how often, at most; by default one less than the width.
        preserve_short_sequences: whether a row too short for every width gives one that is shorter.
        name: accepted for TensorFlow's sake.
    """
    array = strings(data)
    if not array.ndim:
        raise ValueError("ngrams: `data` must have at least one axis.")
    of_row = neighbours(ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
    rows = [of_row(list(row)) for row in array.reshape(-1, array.shape[-1])]
    out = np.empty((len(rows), len(rows[0]) if rows else 0), object)
    for i, row in enumerate(rows):
        out[i] = row
    return eager(out.reshape(*array.shape[:-1], out.shape[-1]))


def neighbours(
    ngram_width: Any, separator: str, pad_values: Any, padding_width: int | None, keep_short: bool
) -> Callable[[list[bytes]], list[bytes]]:
    """What `ngrams` makes of a row."""
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    pads = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
    joint = separator.encode()

    def of_row(row: list[bytes]) -> list[bytes]:
        found = []
        for width in widths:
            padded = row
            if pads is not None:
                most = width - 1 if padding_width is None else min(padding_width, width - 1)
                left, right = (strings(pad)[()] for pad in pads)
                padded = [left] * most + row + [right] * most
            found += [joint.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if not found and row and keep_short:
            found = [joint.join(row)]
        return found

    return of_row
