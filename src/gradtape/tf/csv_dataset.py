"""tf.data.experimental: datasets of the rows of CSV files."""

from __future__ import annotations

import glob
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, eager
from gradtape.files.text import read_lines
from gradtape.pipeline.base import AUTOTUNE, UNKNOWN, made
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.element import picker
from gradtape.pipeline.record import names_of
from gradtape.tf.csv import READERS, decode_csv, split

AT_ONCE = 256  # lines decoded together


class CsvDataset(Dataset):
    """The rows of CSV files, each a tuple of scalars.

    Args:
        filenames: a name, several, or a dataset of names.
        record_defaults: for each column that is taken, its dtype, or what stands for a field that
            is empty.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: how many bytes to read at once.
        header: whether the first line of each file is left out.
        field_delim: what stands between fields.
        use_quote_delim: whether double quotes enclose fields.
        na_value: another way to write an empty field.
        select_cols: which columns to take, in increasing order.
        exclude_cols: which columns to leave out instead.

    Note:
        A row is a line: a quoted field cannot go on in the next one.
    """

    _printed = "CsvDatasetV2"

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
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ) -> None:
        """Nothing is opened before a pass begins."""
        if select_cols is not None and exclude_cols is not None:
            raise InvalidArgumentError(
                "CsvDataset: Either select_cols or exclude_cols should be specified. Received both."
            )
        defaults = [as_default(default) for default in record_defaults]
        files = filenames if isinstance(filenames, Dataset) else names_of(filenames)
        left_out = set(exclude_cols or ())

        def chosen(line: bytes) -> Sequence[int] | None:
            if not left_out:
                return select_cols
            count = len(split(line, field_delim.encode(), use_quote_delim, 0))
            return [i for i in range(count) if i not in left_out]

        def rows() -> Iterator[Any]:
            for name in files._start():
                lines = read_lines(name.numpy().decode(), compression_type, buffer_size)
                lines = islice(lines, int(bool(header)), None)
                while some := list(islice(lines, AT_ONCE)):
                    columns = decode_csv(
                        np.array(some, object),
                        defaults,
                        field_delim,
                        use_quote_delim,
                        na_value,
                        chosen(some[0]),
                    )
                    pick = [picker(column._array) for column in columns]
                    for i in range(len(some)):
                        yield tuple([eager(one(i)) for one in pick])

        spec = tuple([TensorSpec((), default.dtype) for default in defaults])
        super().__init__(rows, lambda: spec, UNKNOWN)


def as_default(default: Any) -> Tensor:
    """A default, or, for a dtype, the empty tensor that says that a field is required."""
    if isinstance(default, (dtypes.DType, str, type)):
        try:
            kind = dtypes.as_dtype(default)
        except TypeError:
            return convert(default)
        return eager(np.zeros(0, kind.as_numpy_dtype))
    return convert(default)


@public
def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the rows of CSV files, as dicts of columns.

    Args:
        file_pattern: a pattern, or several, of names of files.
        batch_size: how many rows are a batch.
        column_names: names of all columns; out of the first line if None.
        column_defaults: for each column that is taken, its dtype or what stands for an empty
            field; found out from the first rows if None.
        label_name: the column that is set apart: elements are (columns, labels) then.
        select_columns: names or numbers of the columns that are taken; all if None.
        field_delim: what stands between fields.
        use_quote_delim: whether double quotes enclose fields.
        na_value: another way to write an empty field.
        header: whether the first line of each file holds the names.
        num_epochs: how often to go through the rows; without end if None.
        shuffle: whether in random order.
        shuffle_buffer_size: how many rows may change places.
        shuffle_seed: fixes the order together with `tf.random.set_seed`.
        prefetch_buffer_size: how many batches are made ahead.
        num_parallel_reads: how many files to read in turns.
        sloppy: accepted; the order is always the same.
        num_rows_for_inference: how many rows of each file are looked at; all if None.
        compression_type: "", "ZLIB" or "GZIP".
        ignore_errors: whether to leave out rows that cannot be read.
        encoding: of the names.

    Returns:
        A dataset.

    Raises:
        ValueError: if no file matches, names are not unique, or a column is not there.
    """
    names = matching(file_pattern)
    files = Dataset.from_tensor_slices(names)
    if shuffle:
        files = files.shuffle(len(names), shuffle_seed)
    reading = (field_delim.encode(), use_quote_delim)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        first = next(read_lines(names[0], compression_type), b"")
        column_names = [f.decode(encoding) for f in split(first, *reading, 0)]
    places = columns_of(select_columns, column_names)
    taken = [column_names[i] for i in places]
    if label_name is not None and label_name not in taken:
        raise ValueError(f"`label_name` provided must be one of the columns. Got: {label_name}.")
    if column_defaults is None:
        column_defaults = Kinds(places, reading, na_value).of(
            names, header, num_rows_for_inference, compression_type
        )

    def rows_of(name: Any) -> Dataset:
        return CsvDataset(
            made(lambda: iter([name]), lambda: TensorSpec((), dtypes.string), 1),
            column_defaults or (),
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=places,
        )

    def named(*columns: Any) -> Any:
        features = OrderedDict(zip(taken, columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    dataset = files.interleave(rows_of, num_parallel_reads or 1)
    if ignore_errors:
        dataset = dataset.ignore_errors()
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset if num_epochs == 1 else dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def matching(patterns: Any) -> list[str]:
    """The files that match one pattern or several."""
    given = np.ravel(np.asarray(convert(patterns)._array, object))
    names = sorted({name for pattern in given for name in glob.glob(pattern.decode())})
    if not names:
        raise ValueError(f"No files match `file_pattern` {patterns}.")
    return names


def columns_of(selected: Sequence[Any] | None, names: Sequence[str]) -> list[int]:
    """The numbers of the selected columns, in increasing order."""
    if len(set(names)) != len(names):
        raise ValueError(f"Cannot have duplicate column names. Received {list(names)}.")
    if selected is None:
        return list(range(len(names)))
    places = []
    for column in selected:
        if isinstance(column, str) and column not in names:
            raise ValueError(
                f"Column {column} specified in `select_columns` must be one of the columns: "
                f"{list(names)}."
            )
        places.append(list(names).index(column) if isinstance(column, str) else int(column))
    if places and not 0 <= min(places) <= max(places) < len(names):
        raise ValueError(f"select_columns must lie in [0, {len(names)}). Received {places}.")
    return sorted(places)


class Kinds:
    """Finds out the dtypes of columns: the narrowest that can hold all that is in them."""

    ORDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)

    def __init__(self, places: list[int], reading: tuple[bytes, bool], na_value: str) -> None:
        """Look at the columns in `places`."""
        self.places, self.reading = places, reading
        self.empty = {b"", na_value.encode()}
        self.found: list[int | None] = [None] * len(places)

    def of(self, names: list[str], header: bool, rows: int | None, compression: Any) -> list[Any]:
        """A default of the dtype of each column: zero, or the empty string."""
        for name in names:
            lines = islice(read_lines(name, compression), int(bool(header)), None)
            for i, line in enumerate(islice(lines, rows)):
                self.look_at(split(line, *self.reading, i))
        kinds = [self.ORDER[-1 if rank is None else rank] for rank in self.found]
        return [convert(["" if k is dtypes.string else 0], k) for k in kinds]

    def look_at(self, fields: list[bytes]) -> None:
        """Widen the dtypes so that they hold the fields of a row."""
        for j, place in enumerate(self.places):
            if fields[place] not in self.empty:
                rank = self.found[j] or 0
                while not holds(self.ORDER[rank], fields[place]):
                    rank += 1
                self.found[j] = rank


def holds(kind: Any, field: bytes) -> bool:
    """Whether a field is a value of a dtype."""
    if kind is dtypes.string:
        return True
    try:
        value = READERS[kind](field)
    except ValueError:
        return False
    if kind.is_floating:
        return kind is dtypes.float64 or not np.isfinite(value) or abs(value) <= kind.max
    return bool(kind.min <= value <= kind.max)
