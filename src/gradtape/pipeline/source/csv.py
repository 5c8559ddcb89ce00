"""Datasets of CSV files: records as tuples, and batches of named columns."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise
from math import isfinite
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.files.access import as_path, match_paths
from gradtape.files.csv import FIELD_PARSERS, check_delimiter, parse_field, read_rows
from gradtape.pipeline.base import AUTOTUNE, UNKNOWN, DatasetBase, as_python_int
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.file_shard import FilePoint
from gradtape.pipeline.source.file_dataset import make_filename_dataset

INFERRED_DTYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)  # then string


class CsvDataset(Dataset):
    """The records of CSV files, each a tuple of scalars.

    Args:
        filenames: a name, a list of names, or a dataset of names.
        record_defaults: for each column, a dtype if its fields must not be empty, otherwise a
            list of the one value that replaces an empty field.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: number of bytes to read at once.
        header: whether files begin with a header record, which is skipped.
        field_delim: what stands between fields.
        use_quote_delim: whether double quotes enclose fields.
        na_value: a string that counts as an empty field.
        select_cols: columns to read, in increasing order; all if None.
        exclude_cols: columns not to read.

    Raises:
        InvalidArgumentError: if the columns are not in increasing order, or both lists are given;
            during an iteration, if a record does not match `record_defaults`.
    """

    @public
    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        """Files are opened when an iteration starts."""
        names = (
            filenames if isinstance(filenames, DatasetBase) else make_filename_dataset(filenames)
        )
        kinds, fillers = zip(
            *[column_dtype_and_default(default) for default in record_defaults], strict=True
        )
        chosen = make_column_selector(select_cols, exclude_cols, len(kinds))
        delimiter = check_delimiter(as_field_bytes(field_delim), "CsvDataset")
        quotes, empty = bool(use_quote_delim), {b""}
        empty.add(as_field_bytes(na_value))

        def elements(name: Any) -> Iterator[Any]:
            path = as_path(name)
            rows = read_rows(path, compression_type, buffer_size, delimiter, quotes)
            if header and next(rows, None) is None:
                raise InvalidArgumentError(f"CsvDataset: Can't read header of file {path}.")
            for i, row in enumerate(rows):
                fields = chosen(row)
                if len(fields) != len(kinds):
                    have = "more" if len(fields) > len(kinds) else len(fields)
                    raise InvalidArgumentError(
                        f"CsvDataset: Expect {len(kinds)} fields but have {have} in record {i} "
                        f"of {path}. Pass a default for each column, or select columns."
                    )
                parts = zip(fields, kinds, fillers, strict=True)
                values = [parse_field(f, k, d, empty, (j, i)) for j, (f, k, d) in enumerate(parts)]
                yield tuple([as_field_tensor(value) for value in values])

        spec = tuple([TensorSpec((), kind) for kind in kinds])
        point = FilePoint(lambda: names._size)
        super().__init__(
            lambda: chain.from_iterable(map(elements, point.divide(names._start()))),
            lambda: spec,
            UNKNOWN,
        )
        self._file_point = point
        self._tensorflow_name, self._random_sources = "CsvDatasetV2", names._random_sources


def as_field_tensor(value: Any) -> Any:
    """The value of a field as a tensor."""
    return make_tensor(np.array(value, object) if isinstance(value, bytes) else value)


def as_field_bytes(value: Any) -> bytes:
    """A string or string tensor as bytes."""
    found: Any = convert(value).numpy()
    return bytes(found)


def column_dtype_and_default(default: Any) -> tuple[Any, Any]:
    """The dtype of a column, and an array with the value of an empty field, if there is one."""
    if isinstance(default, (dtypes.DType, type)):
        kind, filler = dtypes.as_dtype(default), np.empty(0)
    else:
        given = convert(default)
        kind, filler = given.dtype, np.ravel(np.asarray(given._array))
    if kind not in FIELD_PARSERS or filler.size > 1:
        raise ValueError(
            "CsvDataset: a default must be a dtype, or at most one int32, int64, float32, float64 "
            f"or string. Received {default!r}."
        )
    return kind, filler


def make_column_selector(select: Any, exclude: Any, count: int) -> Any:
    """Make a function that selects the fields of a row."""
    if select is not None and exclude is not None:
        raise InvalidArgumentError(
            "CsvDataset: pass either select_cols or exclude_cols. Received both."
        )
    given = select if select is not None else exclude
    if given is None:
        return lambda row: row
    places = np.ravel(convert(given)._array).tolist()
    if any(b <= a for a, b in pairwise(places)) or min(places) < 0:
        raise InvalidArgumentError(
            "CsvDataset: select_cols and exclude_cols should be strictly increasing indices. "
            f"Received {places}."
        )
    if select is not None:
        if len(places) != count:
            raise InvalidArgumentError(
                f"CsvDataset: select_cols should match output size. Received {len(places)} columns "
                f"and {count} defaults."
            )
        return lambda row: [row[place] for place in places if place < len(row)]
    excluded = set(places)
    return lambda row: [field for place, field in enumerate(row) if place not in excluded]


@public
def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: Any = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: Any = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of named columns of CSV files.

    Args:
        file_pattern: names or patterns of files.
        batch_size: number of records of a batch.
        column_names: names of all columns; if None, the header of the first file.
        column_defaults: for each selected column, as in `CsvDataset`; inferred if None.
        label_name: name of the column that becomes the label, the second part of an element.
        select_columns: names or numbers of the columns to read; all if None.
        field_delim: what stands between fields.
        use_quote_delim: whether double quotes enclose fields.
        na_value: a string that counts as an empty field.
        header: whether files begin with a header record.
        num_epochs: number of passes over the files; if None, infinite, with full batches only.
        shuffle: whether to use a random order.
        shuffle_buffer_size: as in `Dataset.shuffle`.
        shuffle_seed: determines the order, together with `tf.random.set_seed`.
        prefetch_buffer_size: as in `Dataset.prefetch`; AUTOTUNE if None.
        num_parallel_reads: number of files to interleave.
        sloppy: ignored.
        num_rows_for_inference: number of records to infer dtypes from; all if None.
        compression_type: "", "ZLIB" or "GZIP".
        ignore_errors: whether to skip records that cannot be read.
        encoding: encoding of the names.

    Returns:
        A dataset of OrderedDicts, or of pairs of an OrderedDict and a label.

    Raises:
        ValueError: if no file matches, or a column does not exist.
    """
    files = match_files(file_pattern)
    delimiter = check_delimiter(as_field_bytes(field_delim), "make_csv_dataset")
    quotes = bool(use_quote_delim)

    def rows(path: str) -> Iterator[list[bytes]]:
        return read_rows(path, compression_type, None, delimiter, quotes)

    names = read_header(files, rows, header, encoding) if column_names is None else column_names
    if len(set(names)) < len(names):
        raise ValueError("Cannot have duplicate column names.")
    places = resolve_columns(select_columns, names)
    found: Iterator[list[bytes]] = chain.from_iterable(
        islice(rows(path), int(bool(header)), None) for path in files
    )
    limit = None if num_rows_for_inference is None else as_python_int(num_rows_for_inference)
    if limit is not None:
        found = islice(found, limit + 1)  # TensorFlow checks the length of one more record
    found = check_row_lengths(found, len(names), header)
    empty = {b"", as_field_bytes(na_value)}
    defaults = column_defaults or infer_defaults(found, places, empty, limit)
    columns_read = [names[place] for place in places]
    if label_name is not None and label_name not in columns_read:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {columns_read}. "
            f"Received: {label_name}."
        )

    def of_file(name: Any) -> Dataset:
        one = CsvDataset(
            name,
            defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=places,
        )
        return one.ignore_errors() if ignore_errors else one

    def name_columns(*columns: Any) -> Any:
        features = OrderedDict(zip(columns_read, columns, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    dataset = Dataset.from_tensor_slices([os.fsencode(path) for path in files])
    dataset = dataset.shuffle(len(files), shuffle_seed) if shuffle else dataset
    dataset = dataset.interleave(of_file, num_parallel_reads or 1)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    batches = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(name_columns)
    return batches.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def match_files(file_pattern: Any) -> list[str]:
    """The files that match the pattern, sorted."""
    patterns = np.ravel(convert(file_pattern)._array).tolist()
    found = sorted({name for pattern in patterns for name in match_paths(pattern)})
    if not found:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return found


def read_header(files: list[str], rows: Any, header: bool, encoding: str) -> list[str]:
    """Read the column names, which must be the same in all files."""
    if not header:
        raise ValueError("Cannot infer column names without a header line.")
    names: list[str] = []
    for path in files:
        found = decode_names(next(rows(path), []), path, encoding)
        if names and found != names:
            raise ValueError(
                "All input CSV files should have the same column names in the header row. "
                f"File {path} has different column names."
            )
        names = found
    return names


def decode_names(fields: list[bytes], path: str, encoding: str) -> list[str]:
    """The column names in a header."""
    if not fields:
        raise ValueError(f"make_csv_dataset: {path} must have a header line. Received no line.")
    try:
        return [field.decode(encoding) for field in fields]
    except UnicodeDecodeError as error:
        raise ValueError(
            f"make_csv_dataset: the header of {path} must be text in {encoding}. "
            f"Received {error.object[:100]!r}. Pass its `encoding`."
        ) from None


def check_row_lengths(
    rows: Iterator[list[bytes]], count: int, header: bool
) -> Iterator[list[bytes]]:
    """Yield the rows; raise ValueError at one that has not `count` fields."""
    for i, row in enumerate(rows, 1 + bool(header)):
        if len(row) != count:
            raise ValueError(
                f"make_csv_dataset: Problem inferring types: CSV row {i} has {len(row)} number of "
                f"fields. Expected: {count}. Pass `column_defaults`."
            )
        yield row


def resolve_columns(select: Any, names: Sequence[str]) -> list[int]:
    """The numbers of the selected columns, in increasing order."""
    if select is None:
        return list(range(len(names)))
    places = []
    for column in select:
        if isinstance(column, str) and column not in names:
            raise ValueError(f"Value '{column}' specified in `select_columns` not valid.")
        places.append(names.index(column) if isinstance(column, str) else int(column))
    return sorted(places)


def infer_defaults(
    rows: Iterator[list[bytes]], places: list[int], empty: set[bytes], limit: int | None
) -> list[Any]:
    """A default for each column: a zero of the first dtype that can hold `limit` fields."""
    kinds: list[Any] = [None] * len(places)
    for number, row in enumerate(rows):
        if number == limit:
            break
        for k, place in enumerate(places):
            field = row[place] if place < len(row) else b""
            if field not in empty and kinds[k] is not dtypes.string:
                kinds[k] = infer_field_dtype(field, kinds[k])
    return [[""] if k in (None, dtypes.string) else convert([0], k) for k in kinds]


def infer_field_dtype(field: bytes, at_least: Any) -> Any:
    """The first dtype, starting at `at_least`, that can hold a field."""
    start = 0 if at_least is None else INFERRED_DTYPES.index(at_least)
    for kind in INFERRED_DTYPES[start:]:
        try:
            value = FIELD_PARSERS[kind](field)
        except ValueError:
            continue
        if kind.is_floating and not isfinite(value):
            return kind
        if kind.min <= value <= kind.max:
            return kind
    return dtypes.string
