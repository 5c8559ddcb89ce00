"""tf.strings: characters of strings in Unicode's encodings."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host
from gradtape.tf.ragged.conversion import in_rows
from gradtape.tf.strings.byte_string import each, strings

REPLACEMENT = 65533
OUTPUT = ("UTF-8", "UTF-16-BE", "UTF-32-BE")


def decoded(
    text: bytes, encoding: str, errors: str, replacement: int, control: bool, op: str
) -> list[tuple[int, int]]:
    """Characters of a string with the places at which they begin."""
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
    for letter in whole or "0" * local.stand_in:
        code = ord(letter)
        size = 1 if 0xDC80 <= code <= 0xDCFF else len(letter.encode(encoding, "replace"))
        if 0xD800 <= code <= 0xDFFF or (code == REPLACEMENT and encoding != "UTF-8"):
            if errors == "strict":
                raise InvalidArgumentError(
                    f"{op}: Invalid formatting on input string {text!r:.100}. Say "
                    'errors="replace" or "ignore".'
                )
            if errors == "replace":
                out.append((replacement, at))
        else:
            is_control = control and code < 0x20
            out.append((replacement if is_control else code, at))
        at += size
    return out


def encoded(codes: Any, encoding: str, errors: str, replacement: int, op: str) -> bytes:
    """A string of characters."""
    if encoding not in OUTPUT:
        raise InvalidArgumentError(f"{op}: output_encoding must be one of {OUTPUT}: {encoding!r}.")
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
@on_host
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As `unicode_decode`, and the byte at which each character begins."""
    text = strings(input)
    how = (input_encoding, errors, replacement_char, replace_control_characters)
    found = [decoded(bytes(one), *how, "unicode_decode") for one in text.flat]
    codes = in_rows([[code for code, _ in one] for one in found], text.shape, np.int32)
    return codes, in_rows([[at for _, at in one] for one in found], text.shape, np.int64)


@public
@on_host
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The characters of strings, as numbers: a RaggedTensor, or of a single string a Tensor.

    Args:
        input: strings.
        input_encoding: as "UTF-8".
        errors: what to do where the string is wrong: "replace", "ignore" or "strict".
        replacement_char: the number that stands for what is wrong.
        replace_control_characters: whether control characters count as wrong.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if a string is wrong and `errors` is "strict".
    """
    return unicode_decode_with_offsets(
        input, input_encoding, errors, replacement_char, replace_control_characters
    )[0]


@public
@on_host
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As `unicode_split`, and the byte at which each character begins."""
    text = strings(input)
    how = (input_encoding, errors, replacement_char, False)
    found = [decoded(bytes(one), *how, "unicode_split") for one in text.flat]
    parts = [[chr(code).encode(input_encoding) for code, _ in one] for one in found]
    starts = [[at for _, at in one] for one in found]
    return in_rows(parts, text.shape, object), in_rows(starts, text.shape, np.int64)


@public
@on_host
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Any:
    """The characters of strings, as strings; otherwise as `unicode_decode`."""
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


@public
@on_host
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Tensor:
    """Strings of characters given as numbers, along the last axis.

    Args:
        input: numbers of dtype int32.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: what to do with numbers that are no character: "replace", "ignore" or "strict".
        replacement_char: the number that stands for what is wrong.
        name: accepted for TensorFlow's sake.
    """
    codes = convert(input, dtypes.int32)._array
    if not codes.ndim:
        raise ValueError("unicode_encode: input_tensor's rank must be at least 1.")
    out = np.empty(codes.shape[:-1], object)
    for place in np.ndindex(out.shape):
        out[place] = encoded(
            codes[place].tolist(), output_encoding, errors, replacement_char, "unicode_encode"
        )
    return eager(out)


@public
@on_host
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Strings in another encoding; arguments as of `unicode_decode` and `unicode_encode`."""

    def changed(text: bytes) -> bytes:
        found = decoded(
            text,
            input_encoding,
            errors,
            replacement_char,
            replace_control_characters,
            "unicode_transcode",
        )
        codes = [code for code, _ in found]
        return encoded(codes, output_encoding, errors, replacement_char, "unicode_transcode")

    return each(changed, strings(input))
