"""CSV files: split records into fields, and parse fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError
from gradtape.files.access import open_file, translate_os_errors

FIELD_PARSERS: dict[Any, Any] = {
    dtypes.int32: int,
    dtypes.int64: int,
    dtypes.float32: float,
    dtypes.float64: float,
    dtypes.string: bytes,
}


def read_rows(
    path: str, compression: str | None, buffer_size: int | None, delimiter: bytes, quotes: bool
) -> Iterator[list[bytes]]:
    """Yield the fields of each record of a file; a quoted field may span several lines."""
    number = 0
    with open_file(path, compression, buffer_size) as file, translate_os_errors(path):
        for line in file:
            record = line
            while quotes and record.count(b'"') % 2:
                more = file.readline()
                if not more:
                    break
                record += more
            yield split_record(record, delimiter, quotes, number) or [b""]
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
            f"{field.decode(errors='replace')}"
        ) from None


def split_record(line: bytes, delimiter: bytes, quotes: bool, number: int) -> list[bytes]:
    """Split a line into fields; a doubled quote in a quoted field is one quote."""
    if not line:
        return []
    if not quotes or b'"' not in line:
        return line.rstrip(b"\r\n").split(delimiter)
    fields, at = [], 0
    line = line.rstrip(b"\r\n")
    while at <= len(line):
        if line[at : at + 1] != b'"':
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            if b'"' in line[at:end]:
                raise InvalidArgumentError(
                    f"decode_csv: Unquoted fields cannot have quotes inside, in record {number}"
                )
            fields.append(line[at:end])
            at = end + 1
            continue
        field, at = read_quoted_field(line, at + 1, number)
        if line[at : at + 1] not in (b"", delimiter):
            raise InvalidArgumentError(
                f"decode_csv: Quoted field has to end with quote followed by delim, in record "
                f"{number}"
            )
        fields.append(field)
        at += 1
    return fields


def read_quoted_field(line: bytes, at: int, number: int) -> tuple[bytes, int]:
    """Read a quoted field from after its first quote; return it and the position after its last."""
    field = b""
    while True:
        end = line.find(b'"', at)
        if end < 0:
            raise InvalidArgumentError(
                f"decode_csv: Quoted field has to end with quote followed by delim, in record "
                f"{number}"
            )
        field += line[at:end]
        if line[end + 1 : end + 2] != b'"':
            return field, end + 1
        field += b'"'
        at = end + 2
