"""CSV files: split records into fields, and parse fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError
from gradtape.files.access import (
    expansion_error,
    open_file,
    read_limit,
    show_path,
    translate_os_errors,
)
from gradtape.files.text import iterate_lines

QUOTE = b'"'
NAN_WITH_PAYLOAD = re.compile(rb"\s*[-+]?nan\(\w*\)\s*", re.IGNORECASE)


def parse_int(field: bytes) -> int:
    """An integer as in C: Python's digit groups are not allowed."""
    if b"_" in field:
        raise ValueError("an underscore")
    return int(field)


def parse_float(field: bytes) -> float:
    """A number as in C: hexadecimal ones are allowed, Python's digit groups are not."""
    if b"_" in field:
        raise ValueError("an underscore")
    try:
        return float(field)
    except ValueError:
        if NAN_WITH_PAYLOAD.fullmatch(field):
            return float("nan")
        if b"0x" in field.lower():
            return float.fromhex(field.decode("ascii"))
        raise


FIELD_PARSERS: dict[Any, Any] = {
    dtypes.int32: parse_int,
    dtypes.int64: parse_int,
    dtypes.float32: parse_float,
    dtypes.float64: parse_float,
    dtypes.string: bytes,
}


def check_delimiter(delimiter: bytes, op: str) -> bytes:
    """Return the delimiter; raise unless it is one byte."""
    if len(delimiter) != 1:
        raise InvalidArgumentError(
            f"{op}: field_delim should be only 1 char. Received {delimiter!r}."
        )
    return delimiter


def read_rows(
    path: Any, compression: str | None, buffer_size: int | None, delimiter: bytes, quotes: bool
) -> Iterator[list[bytes]]:
    """Yield the fields of each record of a file; a quoted field may span several lines."""
    number = 0
    limit = read_limit(path, compression)
    with open_file(path, compression, buffer_size) as file, translate_os_errors(path):
        lines = iterate_lines(file, show_path(path), limit)
        for line in lines:
            record = line
            if quotes and line.count(QUOTE) % 2:
                record = read_quoted_lines(line, lines, show_path(path), limit)
            for fields in split_lines(record, delimiter, quotes, number):
                yield fields
                number += 1


def read_quoted_lines(first: bytes, lines: Iterator[bytes], name: str, limit: int | None) -> bytes:
    """Join a line with an open quote and the lines up to the one that closes it."""
    parts, total = [first], len(first)
    for line in lines:
        parts.append(line)
        total += len(line)
        if limit is not None and total > limit:
            raise expansion_error(name, limit)
        if line.count(QUOTE) % 2:
            break
    return b"".join(parts)


def split_lines(text: bytes, delimiter: bytes, quotes: bool, number: int) -> Iterator[list[bytes]]:
    """Yield the fields of each record in a text; a lone carriage return ends a record, too."""
    body = text.removesuffix(b"\n").removesuffix(b"\r")
    if not (quotes and QUOTE in body) and b"\r" not in body:
        yield body.split(delimiter)
        return
    field_end = re.compile(b"[\r\n" + re.escape(delimiter) + b"]")
    at = 0
    while at < len(text):
        fields: list[bytes] = []
        end = delimiter
        while end == delimiter:
            field, at = read_field(text, at, field_end, quotes, number)
            fields.append(field)
            end = text[at : at + 1]
            at += 1
        if end == b"\r" and text[at : at + 1] == b"\n":
            at += 1
        yield fields
        number += 1


def parse_field(
    field: bytes, dtype: Any, filler: Any, empty: set[bytes], place: tuple[int, int]
) -> Any:
    """Parse a field as a value of `dtype`.

    Args:
        field: the text.
        dtype: the dtype of the value.
        filler: the default value as an array of one element; empty if the field is required.
        empty: texts that count as empty.
        place: the number of the field and of the record.

    Raises:
        InvalidArgumentError: if a required field is empty, or the text is not valid.
    """
    j, i = place
    if field in empty:
        if not filler.size:
            raise InvalidArgumentError(
                f"decode_csv: Field {j} is required but missing in record {i}!"
            )
        return filler[0]
    try:
        value = FIELD_PARSERS[dtype](field)
        return value if dtype is dtypes.string else dtype.as_numpy_dtype(value)
    except (ValueError, OverflowError):
        raise InvalidArgumentError(
            f"decode_csv: Field {j} in record {i} is not a valid {dtype.name}: "
            f"{field[:100].decode(errors='replace')}"
        ) from None


def split_record(line: bytes, delimiter: bytes, quotes: bool, number: int) -> list[bytes]:
    """Split one record into fields; a doubled quote in a quoted field is one quote."""
    line = line.lstrip(b"\r\n")
    if not line:
        return []
    if not (quotes and QUOTE in line) and b"\n" not in line and b"\r" not in line:
        return line.split(delimiter)
    fields: list[bytes] = []
    field_end = re.compile(b"[\r\n" + re.escape(delimiter) + b"]")
    at = 0
    while at <= len(line):
        field, at = read_field(line, at, field_end, quotes, number)
        if line[at : at + 1] not in (b"", delimiter):
            raise InvalidArgumentError(
                f"decode_csv: Unquoted fields cannot have quotes/CRLFs inside, in record {number}"
            )
        fields.append(field)
        at += 1
    return fields


def read_field(
    text: bytes, at: int, field_end: re.Pattern[bytes], quotes: bool, number: int
) -> tuple[bytes, int]:
    """Read a field at a position; return it and the position of what ends it."""
    if quotes and text[at : at + 1] == QUOTE:
        field, at = read_quoted_field(text, at + 1, number)
        if at < len(text) and not field_end.match(text, at):
            raise unclosed_quote_error(number)
        return field, at
    found = field_end.search(text, at)
    end = found.start() if found else len(text)
    if quotes and text.find(QUOTE, at, end) >= 0:
        raise InvalidArgumentError(
            f"decode_csv: Unquoted fields cannot have quotes/CRLFs inside, in record {number}"
        )
    return text[at:end], end


def read_quoted_field(text: bytes, at: int, number: int) -> tuple[bytes, int]:
    """Read a quoted field from after its first quote; return it and the position after its last."""
    parts: list[bytes] = []
    while True:
        end = text.find(QUOTE, at)
        if end < 0:
            raise unclosed_quote_error(number)
        parts.append(text[at:end])
        if text[end + 1 : end + 2] != QUOTE:
            return QUOTE.join(parts), end + 1
        at = end + 2


def unclosed_quote_error(number: int) -> InvalidArgumentError:
    """The error for a quoted field that does not end with a quote and a delimiter."""
    return InvalidArgumentError(
        f"decode_csv: Quoted field has to end with quote followed by delim, in record {number}"
    )
