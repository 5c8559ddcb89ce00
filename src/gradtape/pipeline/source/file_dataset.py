"""Datasets of the contents of files: lines, TFRecords, fixed-length records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.files.access import as_path
from gradtape.files.fixed_record import read_fixed_records
from gradtape.files.text import read_lines
from gradtape.files.tfrecord import read_records
from gradtape.pipeline.base import (
    UNKNOWN,
    DatasetBase,
    as_python_int,
    has_no_value,
    make_dataset,
    make_spec_dataset,
)
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.file_shard import FilePoint

STRING_SPEC = TensorSpec((), dtypes.string)


class FileDataset(Dataset):
    """The strings that a reader yields from files, one after another or interleaved."""

    def __init__(
        self, filenames: Any, read: Callable[[str], Iterator[bytes]], num_parallel_reads: Any
    ) -> None:
        names = (
            filenames if isinstance(filenames, DatasetBase) else make_filename_dataset(filenames)
        )
        point = FilePoint(lambda: names._size)
        files = make_dataset(lambda: point.divide(names._start()), lambda: STRING_SPEC, names._size)

        def strings(name: Any) -> Iterator[Any]:
            return map(make_tensor, map(as_raw_string, read(as_path(name))))

        def dataset_of(name: Any) -> Dataset:
            return make_dataset(lambda: strings(name), lambda: STRING_SPEC, UNKNOWN)

        if num_parallel_reads is None:
            start: Any = lambda: chain.from_iterable(map(strings, files._start()))  # noqa: E731 - one of two
        else:
            start = files.interleave(dataset_of, num_parallel_reads, 1, num_parallel_reads)._start
        super().__init__(start, lambda: STRING_SPEC, UNKNOWN)
        self._tensorflow_name, self._random_sources = (
            f"{type(self).__name__}V2",
            names._random_sources,
        )
        self._file_point = point


def as_raw_string(text: bytes) -> Any:
    """A string as the raw array of a scalar tensor."""
    return convert(text)._array


def make_filename_dataset(filenames: Any) -> Dataset:
    """Make a dataset of file names from one name or a list."""
    paths = [filenames] if isinstance(filenames, os.PathLike) else filenames
    if isinstance(paths, (list, tuple)) and any(isinstance(p, os.PathLike) for p in paths):
        filenames = [os.fspath(p) if isinstance(p, os.PathLike) else p for p in paths]
    tensor = convert(filenames)
    if has_no_value(tensor):
        return make_spec_dataset(STRING_SPEC)
    if tensor.dtype != dtypes.string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. "
            f"Got {tensor.dtype.name} elements."
        )
    return Dataset.from_tensor_slices(np.ravel(np.asarray(tensor._array, object)))


class TextLineDataset(FileDataset):
    """The lines of text files, without line endings.

    Args:
        filenames: a name, a list of names, or a dataset of names.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: number of bytes to read at once.
        num_parallel_reads: number of files to interleave; None reads one after another.
        name: ignored.
    """

    @public
    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Files are opened when an iteration starts."""
        super().__init__(
            filenames,
            lambda path: read_lines(path, compression_type, buffer_size),
            num_parallel_reads,
        )


class TFRecordDataset(FileDataset):
    """The records of TFRecord files, with verified checksums.

    Args:
        filenames: a name, a list of names, or a dataset of names.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: number of bytes to read at once.
        num_parallel_reads: number of files to interleave; None reads one after another.
        name: ignored.
    """

    @public
    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Files are opened when an iteration starts."""
        super().__init__(
            filenames,
            lambda path: read_records(path, compression_type, buffer_size),
            num_parallel_reads,
        )


class FixedLengthRecordDataset(FileDataset):
    """Records of `record_bytes` each.

    Args:
        filenames: a name, a list of names, or a dataset of names.
        record_bytes: number of bytes of a record.
        header_bytes: number of bytes to skip at the beginning of a file.
        footer_bytes: number of bytes to skip at the end of a file.
        buffer_size: number of bytes to read at once.
        compression_type: "", "ZLIB" or "GZIP".
        num_parallel_reads: number of files to interleave; None reads one after another.
        name: ignored.
    """

    @public
    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        """Files are opened when an iteration starts."""
        size, header, footer = (
            as_python_int(n or 0) for n in (record_bytes, header_bytes, footer_bytes)
        )
        if size < 1:
            raise InvalidArgumentError(
                f"`record_bytes` must be greater than zero. Received {size}."
            )

        if header < 0 or footer < 0:
            raise InvalidArgumentError(
                "FixedLengthRecordDataset: `header_bytes` and `footer_bytes` must be >= 0. "
                f"Received {header} and {footer}."
            )

        def records(path: str) -> Iterator[bytes]:
            return read_fixed_records(path, (header, size, footer), compression_type, buffer_size)

        super().__init__(filenames, records, num_parallel_reads)
