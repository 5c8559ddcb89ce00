"""tf.strings functions that decode, encode and split Unicode text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import OBJECT
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import (
    call_on_host,
    describe_like,
    describe_ragged,
    shape_of_argument,
)
from gradtape.tf.ragged.conversion import ragged_from_lists
from gradtape.tf.strings.byte_string import as_string_array, map_elements

REPLACEMENT_CHARACTER = 65533
SURROGATES = range(0xD800, 0xE000)
MAX_CODE_POINT = 0x10FFFF
OUTPUT_ENCODINGS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
BYTE_ORDER_MARKS = {
    "utf-16": ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
    "utf-32": ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
}


def check_replacement(errors: str, replacement: int, op: str) -> None:
    """Refuse an unknown error mode, and a replacement that is no code point."""
    if errors not in ("strict", "replace", "ignore"):
        raise InvalidArgumentError(
            f'{op}: errors must be "strict", "replace" or "ignore". Received {errors!r}.'
        )
    if not 0 <= replacement <= MAX_CODE_POINT:
        raise InvalidArgumentError(
            f"{op}: replacement_char out of unicode codepoint range. Received {replacement}."
        )


def find_codec(text: bytes, encoding: str, op: str) -> tuple[str, int]:
    """The name of Python's codec, and the size of the byte order mark it must skip.

    UTF-16 and UTF-32 without a byte order mark are big-endian, as in ICU.
    """
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise InvalidArgumentError(
            f"{op}: Could not create converter for input encoding: {encoding}."
        ) from None
    for mark, codec in BYTE_ORDER_MARKS.get(name, ()):
        if text.startswith(mark):
            return codec, len(mark)
    return (f"{name}-be" if name in BYTE_ORDER_MARKS else name), 0


def split_valid_bytes(text: bytes, codec: str, start: int) -> Iterator[tuple[str | None, int]]:
    """Pairs of (character, its size in bytes); the character is None for invalid bytes."""
    while start < len(text):
        error = None
        try:
            valid = text[start:].decode(codec)
        except UnicodeDecodeError as failure:
            error = failure
            valid = text[start : start + error.start].decode(codec)
        for letter in valid:
            yield letter, len(letter.encode(codec))
        if error is None:
            return
        yield None, error.end - error.start
        start += error.end


def decode_characters(
    text: bytes,
    encoding: str,
    errors: str,
    replacement: int,
    control: bool,
    op: str,
    is_control_error: bool = False,
) -> list[tuple[int, int]]:
    """Decode a string to pairs of (code point, byte offset)."""
    check_replacement(errors, replacement, op)
    codec, start = find_codec(text, encoding, op)
    out, at = [], 0
    for letter, size in split_valid_bytes(text, codec, start):
        if letter is not None and not (control and ord(letter) < 0x20):
            out.append((ord(letter), at))
        elif errors == "strict" and (letter is None or is_control_error):
            raise InvalidArgumentError(
                f"{op}: Invalid formatting on input string {text!r:.100}. Use "
                'errors="replace" or "ignore".'
            )
        elif errors != "ignore":
            out.append((replacement, at))
        at += size + start  # a byte order mark belongs to the first character
        start = 0
    return out


def check_output_encoding(encoding: str, op: str) -> None:
    """Refuse an encoding that TensorFlow does not write."""
    if encoding not in OUTPUT_ENCODINGS:
        raise InvalidArgumentError(
            f"{op}: output_encoding must be one of {OUTPUT_ENCODINGS}. Received {encoding!r}."
        )


def encode_characters(codes: Any, encoding: str, errors: str, replacement: int, op: str) -> bytes:
    """Encode code points as a string."""
    check_replacement(errors, replacement, op)
    check_output_encoding(encoding, op)
    kept = []
    for code in codes:
        if 0 <= code < 0x110000 and code not in SURROGATES:
            kept.append(chr(code))
        elif errors == "strict":
            raise InvalidArgumentError(
                f"{op}: Code point {code} is out of range for Unicode, or is a surrogate."
            )
        elif errors == "replace":
            kept.append(
                chr(replacement if replacement not in SURROGATES else REPLACEMENT_CHARACTER)
            )
    return "".join(kept).encode(encoding)


@public
@call_on_host(
    lambda input, *_, **__: (
        describe_ragged(shape_of_argument(input), np.int32),
        describe_ragged(shape_of_argument(input), np.int64),
    )
)
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT_CHARACTER,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As `unicode_decode`; returns also the byte offset of each character.

    Args:
        input: a tensor of strings.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace", "strict" or "ignore".
        replacement_char: the code point that replaces invalid characters.
        replace_control_characters: whether control characters are replaced, too.
        name: has no effect here.

    Returns:
        The code points, and the byte offsets (int64).
    """
    text = as_string_array(input)
    how = (input_encoding, errors, replacement_char, replace_control_characters)
    found = [decode_characters(bytes(one), *how, "unicode_decode") for one in text.flat]
    codes = ragged_from_lists([[code for code, _ in one] for one in found], text.shape, np.int32)
    return codes, ragged_from_lists([[at for _, at in one] for one in found], text.shape, np.int64)


@public
@call_on_host(lambda input, *_, **__: describe_ragged(shape_of_argument(input), np.int32))
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT_CHARACTER,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Code points of strings: a RaggedTensor, or a Tensor if `input` is a scalar.

    Args:
        input: strings.
        input_encoding: a name such as "UTF-8".
        errors: how to treat invalid bytes: "replace", "ignore" or "strict".
        replacement_char: the code point that replaces invalid bytes.
        replace_control_characters: whether control characters are replaced, too.
        name: has no effect here.

    Returns:
        A RaggedTensor or a tensor of int32.

    Raises:
        InvalidArgumentError: if a string is invalid and `errors` is "strict".

    Example:
        >>> tf.strings.unicode_decode("hé", "UTF-8").numpy()
        array([104, 233], dtype=int32)
    """
    return unicode_decode_with_offsets(
        input, input_encoding, errors, replacement_char, replace_control_characters
    )[0]


@public
@call_on_host(
    lambda input, *_, **__: (
        describe_ragged(shape_of_argument(input), dtypes.string),
        describe_ragged(shape_of_argument(input), np.int64),
    )
)
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT_CHARACTER,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As `unicode_split`; returns also the byte offset of each character.

    Args:
        input: a tensor of strings.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace", "strict" or "ignore".
        replacement_char: the code point that replaces invalid characters.
        name: has no effect here.

    Returns:
        The characters, and their byte offsets (int64).
    """
    text = as_string_array(input)
    how = (input_encoding, errors, replacement_char, False)
    check_output_encoding(input_encoding, "unicode_split")
    found = [decode_characters(bytes(one), *how, "unicode_split") for one in text.flat]
    parts = [
        [
            encode_characters([code], input_encoding, errors, replacement_char, "unicode_split")
            for code, _ in one
        ]
        for one in found
    ]
    starts = [[at for _, at in one] for one in found]
    return ragged_from_lists(parts, text.shape, object), ragged_from_lists(
        starts, text.shape, np.int64
    )


@public
@call_on_host(lambda input, *_, **__: describe_ragged(shape_of_argument(input), dtypes.string))
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT_CHARACTER,
    name: str | None = None,
) -> Any:
    r"""The characters of strings, as strings; arguments as of `unicode_decode`.

    Args:
        input: a tensor of strings.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace", "strict" or "ignore".
        replacement_char: the code point that replaces invalid characters.
        name: has no effect here.

    Returns:
        A RaggedTensor or a tensor of strings.

    Example:
        >>> tf.strings.unicode_split("hé", "UTF-8").numpy()
        array([b'h', b'\xc3\xa9'], dtype=object)
    """
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


@public
@call_on_host(lambda input, *_, **__: Spec((shape_of_argument(input)[:-1], OBJECT)))
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT_CHARACTER,
    name: str | None = None,
) -> Tensor:
    """Strings from code points along the last axis.

    Args:
        input: int32 code points.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: how to treat invalid code points: "replace", "ignore" or "strict".
        replacement_char: the code point that replaces invalid ones.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Example:
        >>> tf.strings.unicode_encode([104, 105], "UTF-8").numpy()
        b'hi'
    """
    codes = convert(input, dtypes.int32)._array
    if not codes.ndim:
        raise ValueError("unicode_encode: input_tensor's rank must be at least 1.")
    out = np.empty(codes.shape[:-1], object)
    for place in np.ndindex(out.shape):
        out[place] = encode_characters(
            codes[place].tolist(), output_encoding, errors, replacement_char, "unicode_encode"
        )
    return make_tensor(out)


@public
@call_on_host(describe_like(OBJECT))
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT_CHARACTER,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    r"""Strings converted to another encoding; arguments as of `unicode_decode`.

    Args:
        input: a tensor of strings.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace", "strict" or "ignore".
        replacement_char: the code point that replaces invalid characters.
        replace_control_characters: whether control characters are replaced, too.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Example:
        >>> tf.strings.unicode_transcode("hi", "UTF-8", "UTF-16-BE").numpy()
        b'\x00h\x00i'
    """

    def transcode(text: bytes) -> bytes:
        found = decode_characters(
            text,
            input_encoding,
            errors,
            replacement_char,
            replace_control_characters,
            "unicode_transcode",
            is_control_error=True,
        )
        codes = [code for code, _ in found]
        return encode_characters(
            codes, output_encoding, errors, replacement_char, "unicode_transcode"
        )

    return map_elements(transcode, as_string_array(input))
