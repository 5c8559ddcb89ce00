"""tf.io: decoding of comma-separated values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.files.csv import FIELD_PARSERS, check_delimiter, parse_field, split_record
from gradtape.graph.host_function import call_on_host, shape_of_argument
from gradtape.tf.strings.byte_string import as_string_array


def describe_columns(
    records: Any, record_defaults: Sequence[Any], *_: Any, **__: Any
) -> list[Spec]:
    """Result rule of `decode_csv`."""
    shape = shape_of_argument(records)
    return [Spec((shape, convert(default)._array.dtype)) for default in record_defaults]


@public
@call_on_host(describe_columns)
def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Lines of comma-separated values as one tensor for each column.

    Args:
        records: strings, one line each.
        record_defaults: for each column, the value of empty fields, which also sets the
            dtype; an empty tensor if the field is required.
        field_delim: the separator of fields.
        use_quote_delim: whether double quotes enclose fields.
        na_value: a text that marks an empty field.
        select_cols: the indices of the columns to return, in increasing order.
        name: has no effect here.

    Returns:
        A list of tensors, one for each column.

    Raises:
        InvalidArgumentError: if a field is missing or not a number.

    Example:
        >>> [column.numpy().tolist() for column in tf.io.decode_csv(["1,a", "2,b"], [[0], [""]])]
        [[1, 2], [b'a', b'b']]
    """
    lines = as_string_array(records)
    defaults = [convert(default) for default in record_defaults]
    for i, default in enumerate(defaults):
        if default.dtype not in FIELD_PARSERS or np.size(default._array) > 1:
            raise InvalidArgumentError(
                f"decode_csv: the default of column {i} must be at most one int32, int64, float32, "
                f"float64 or string. Received {default}."
            )
    if select_cols is not None and len(select_cols) != len(defaults):
        raise ValueError(
            f"Length of select_cols and record_defaults do not match: {len(select_cols)} and "
            f"{len(defaults)}."
        )
    check_selected_columns(select_cols)
    delimiter = check_delimiter(field_delim.encode(), "decode_csv")
    rows = []
    for i, line in enumerate(lines.flat):
        fields = split_record(line, delimiter, use_quote_delim, i)
        if select_cols is not None:
            fields = [field for j, field in enumerate(fields) if j in set(select_cols)]
        if len(fields) != len(defaults):
            raise InvalidArgumentError(
                f"decode_csv: Expect {len(defaults)} fields but have {len(fields)} in record {i}"
            )
        rows.append(fields)
    empty = {b"", na_value.encode()}
    return [make_column(rows, j, default, empty, lines.shape) for j, default in enumerate(defaults)]


def check_selected_columns(select_cols: Sequence[int] | None) -> None:
    """Raise ValueError unless the columns are non-negative and strictly increasing."""
    columns = list(select_cols or ())
    if any(column < 0 for column in columns) or any(b <= a for a, b in pairwise(columns)):
        raise ValueError(
            f"decode_csv: select_cols must be non-negative and strictly increasing. "
            f"Received {columns}."
        )


def make_column(
    rows: list[list[bytes]], j: int, default: Tensor, empty: set[bytes], shape: Any
) -> Tensor:
    """Make the tensor of column `j`."""
    out = np.empty(len(rows), default.dtype.as_numpy_dtype)
    filler = np.ravel(default._array)
    for i, row in enumerate(rows):
        out[i] = parse_field(row[j], default.dtype, filler, empty, (j, i))
    array = out.reshape(shape)
    return make_tensor(array if array.ndim or array.dtype == object else array[()])
