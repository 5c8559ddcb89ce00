"""tf.strings functions that decode, encode and split Unicode text."""

from __future__ import annotations

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
OUTPUT_ENCODINGS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")


def decode_characters(
    text: bytes, encoding: str, errors: str, replacement: int, control: bool, op: str
) -> list[tuple[int, int]]:
    """Decode a string to pairs of (code point, byte offset)."""
    if errors not in ("strict", "replace", "ignore"):
        raise InvalidArgumentError(
            f'{op}: errors must be "strict", "replace" or "ignore". Received {errors!r}.'
        )
    try:
        whole = text.decode(encoding, "surrogateescape" if encoding == "UTF-8" else "replace")
    except LookupError:
        raise InvalidArgumentError(
            f"{op}: Could not create converter for input encoding: {encoding}."
        ) from None
    out, at = [], 0
    for letter in whole:
        code = ord(letter)
        size = 1 if 0xDC80 <= code <= 0xDCFF else len(letter.encode(encoding, "replace"))
        if 0xD800 <= code <= 0xDFFF or (code == REPLACEMENT_CHARACTER and encoding != "UTF-8"):
            if errors == "strict":
                raise InvalidArgumentError(
                    f"{op}: Invalid formatting on input string {text!r:.100}. Use "
                    'errors="replace" or "ignore".'
                )
            if errors == "replace":
                out.append((replacement, at))
        else:
            is_control = control and code < 0x20
            out.append((replacement if is_control else code, at))
        at += size
    return out


def encode_characters(codes: Any, encoding: str, errors: str, replacement: int, op: str) -> bytes:
    """Encode code points as a string."""
    if encoding not in OUTPUT_ENCODINGS:
        raise InvalidArgumentError(
            f"{op}: output_encoding must be one of {OUTPUT_ENCODINGS}. Received {encoding!r}."
        )
    kept = []
    for code in codes:
        if 0 <= code < 0x110000 and not 0xD800 <= code <= 0xDFFF:
            kept.append(chr(code))
        elif errors == "strict":
            raise InvalidArgumentError(
                f"{op}: Code point {code} is out of range for Unicode, or is a surrogate."
            )
        elif errors == "replace":
            kept.append(chr(replacement))
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
    found = [decode_characters(bytes(one), *how, "unicode_split") for one in text.flat]
    parts = [[chr(code).encode(input_encoding) for code, _ in one] for one in found]
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
    """The characters of strings, as strings; arguments as of `unicode_decode`.

    Args:
        input: a tensor of strings.
        input_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: "replace", "strict" or "ignore".
        replacement_char: the code point that replaces invalid characters.
        name: has no effect here.

    Returns:
        A RaggedTensor or a tensor of strings.
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
    """Strings converted to another encoding; arguments as of `unicode_decode`.

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
    """

    def transcode(text: bytes) -> bytes:
        found = decode_characters(
            text,
            input_encoding,
            errors,
            replacement_char,
            replace_control_characters,
            "unicode_transcode",
        )
        codes = [code for code, _ in found]
        return encode_characters(
            codes, output_encoding, errors, replacement_char, "unicode_transcode"
        )

    return map_elements(transcode, as_string_array(input))
