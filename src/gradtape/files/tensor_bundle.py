"""TensorFlow's checkpoint files: the table `prefix.index`, and the values in `prefix.data-…`."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import DataLossError, NotFoundError, UnimplementedError
from gradtape.files import leveldb_table
from gradtape.files.access import CHUNK_SIZE, as_path, open_replacement, translate_os_errors
from gradtape.files.crc32c import crc32c, mask_crc
from gradtape.files.limit import array_from_bytes, count_elements
from gradtape.files.protobuf import make_message_classes, parse_proto

Header, Entry, Shape, Dimension, Slice, Extent, Version = make_message_classes(
    "gradtape/bundle.proto",
    {
        "BundleHeaderProto": "num_shards:1:int32 endianness:2:int32 version:3:VersionDef",
        "BundleEntryProto": (
            "dtype:1:int32 shape:2:TensorShapeProto shard_id:3:int32 offset:4:int64 size:5:int64 "
            "crc32c:6:fixed32 slices:7:TensorSliceProto*"
        ),
        "TensorShapeProto": "dim:2:Dim* unknown_rank:3:bool",
        "Dim": "size:1:int64 name:2:string",
        "TensorSliceProto": "extent:1:Extent*",
        "Extent": "start:1:int64 length:2:int64",
        "VersionDef": "producer:1:int32 min_consumer:2:int32 bad_consumers:3:int32*",
    },
    __name__,
)
HEADER_KEY = b""
BUNDLE_VERSION = 1


def index_file(prefix: str) -> str:
    """The name of the index file of a checkpoint."""
    return f"{prefix}.index"


def data_file(prefix: str, shard: int, shards: int) -> str:
    """The name of a data file of a checkpoint."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def show_key(key: str) -> str:
    """The name of a tensor as text that can be printed, even if it is not UTF-8."""
    return key.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def bundle_exists(prefix: Any) -> bool:
    """Whether a checkpoint of this name exists; its index is written last."""
    return os.path.isfile(index_file(as_path(prefix)))


def write_bundle(prefix: Any, tensors: Mapping[str, Any]) -> None:
    """Write a checkpoint atomically.

    The index is written last, and a checkpoint exists only with its index. A checkpoint that
    replaces another writes its values to a data file that the old one does not use.

    Args:
        prefix: the path without the suffixes of its files.
        tensors: raw arrays by name.
    """
    name = as_path(prefix)
    shard, shards, before = choose_shard(name)
    entries = {HEADER_KEY: Header(num_shards=shards, version=Version(producer=BUNDLE_VERSION))}
    with open_replacement(data_file(name, shard, shards)) as file:
        place = 0
        for key in sorted(tensors):
            array = np.asarray(tensors[key])
            entry = Entry(
                dtype=dtypes.from_numpy_dtype(array.dtype).as_datatype_enum,
                shape=Shape(dim=[Dimension(size=size) for size in array.shape]),
                shard_id=shard,
                offset=place,
            )
            entry.size, entry.crc32c = write_array(file, array)
            place += entry.size
            entries[key.encode()] = entry
    with open_replacement(index_file(name)) as file:
        ordered = ((key, entries[key].SerializeToString()) for key in sorted(entries))
        for piece in leveldb_table.serialize_table(ordered):
            file.write(piece)
    if before is not None:
        with suppress(OSError):
            os.unlink(before)


def choose_shard(prefix: str) -> tuple[int, int, str | None]:
    """The number of the data file, the number of data files, and an old data file to delete."""
    first, second = data_file(prefix, 0, 1), data_file(prefix, 1, 2)
    if not bundle_exists(prefix):
        return 0, 1, second if os.path.exists(second) else None
    try:
        shards = BundleReader(prefix).shards
    except (DataLossError, UnimplementedError):
        shards = 0  # the old checkpoint cannot be read anyway
    return (1, 2, first) if shards == 1 else (0, 1, second if os.path.exists(second) else None)


def write_array(file: IO[bytes], array: Any) -> tuple[int, int]:
    """Write the values of an array; return the number of bytes and the checksum."""
    if array.dtype == object:
        return write_strings(file, array)
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    crc = 0
    for start in range(0, len(data), CHUNK_SIZE):
        piece = data[start : start + CHUNK_SIZE].tobytes()
        crc = crc32c(piece, crc)
        file.write(piece)
    return len(data), mask_crc(crc)


def write_strings(file: IO[bytes], array: Any) -> tuple[int, int]:
    """Write strings: all lengths, the checksum of the lengths, all strings."""
    items = [bytes(item) for item in array.flat]
    lengths = b"".join(leveldb_table.encode_varint(len(item)) for item in items)
    crc = crc32c(b"".join(pack_length(len(item)) for item in items))
    middle = struct.pack("<I", mask_crc(crc))
    crc = crc32c(middle, crc)
    for item in items:
        crc = crc32c(item, crc)
    data = b"".join((lengths, middle, *items))
    file.write(data)
    return len(data), mask_crc(crc)


def pack_length(length: int) -> bytes:
    """The bytes of a length in the checksum of the lengths."""
    return struct.pack("<I" if length <= 0xFFFFFFFF else "<Q", length)


class BundleReader:
    """Reads the tensors of a checkpoint. All data is checked, and no code in it is executed."""

    def __init__(self, prefix: Any) -> None:
        """Read the index.

        Raises:
            NotFoundError: if the checkpoint does not exist.
            DataLossError: if the index is truncated or corrupt.
        """
        self.prefix = as_path(prefix)
        name = index_file(self.prefix)
        if not os.path.isfile(name):
            raise NotFoundError(
                f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files "
                f"for {self.prefix}: there is no {name}."
            )
        with translate_os_errors(name), open(name, "rb") as file:
            data = file.read()
        found = dict(leveldb_table.read_table(data, name))
        header = parse_proto(Header, found.pop(HEADER_KEY, b""), name)
        self.shards: int = header.num_shards
        if not 0 < self.shards < 1 << 20 or header.version.min_consumer > BUNDLE_VERSION:
            raise DataLossError(f"{name}: invalid header: {header!s:.200}.")
        if header.endianness:
            raise UnimplementedError(f"{name}: big-endian checkpoints cannot be read.")
        self.entries: dict[str, Any] = {}
        for key, value in found.items():
            text = key.decode("utf-8", "surrogateescape")
            self.entries[text] = parse_proto(Entry, value, f"{name}: {show_key(text)}")

    def __contains__(self, key: str) -> bool:
        """Whether the checkpoint has a tensor of this name."""
        return key in self.entries

    def dtype(self, key: str) -> dtypes.DType:
        """The dtype of a tensor."""
        number = self._entry(key).dtype
        try:
            return dtypes.as_dtype(number)
        except TypeError:
            raise UnimplementedError(
                f"{self.prefix}: {show_key(key)} has a type (number {number}) that gradtape lacks."
            ) from None

    def shape(self, key: str) -> tuple[int, ...]:
        """The shape of a tensor.

        Raises:
            DataLossError: if NumPy has no arrays of this shape.
        """
        entry = self._entry(key)
        shape = tuple(dim.size for dim in entry.shape.dim)
        if entry.shape.unknown_rank or count_elements(shape, 1) is None:
            raise self._corruption_error(key, entry, f"the shape {shape!s:.200} is invalid")
        return shape

    def read(self, key: str) -> Any:
        """Read a tensor as a NumPy array.

        Raises:
            NotFoundError: if there is no tensor of this name.
            DataLossError: if it is truncated or its checksum is wrong.
        """
        entry = self._entry(key)
        shape = self.shape(key)
        if entry.slices:
            raise UnimplementedError(
                f"{self.prefix}: {show_key(key)} is saved in slices, which gradtape cannot read."
            )
        dtype = self.dtype(key)
        if not dtype.is_numpy_compatible:
            raise UnimplementedError(
                f"{self.prefix}: {show_key(key)} has a type ({dtype.name}) that NumPy lacks."
            )
        numpy_dtype = np.dtype(dtype.as_numpy_dtype)
        count = math.prod(shape)
        data = self._read_bytes(key, entry)
        if dtype is dtypes.string:
            return self._read_strings(key, entry, data, count).reshape(shape)
        if mask_crc(crc32c(data)) != entry.crc32c:
            raise self._corruption_error(key, entry, "the checksum is wrong")
        if count * numpy_dtype.itemsize != len(data):
            raise self._corruption_error(key, entry, f"{len(data)} bytes for the shape {shape}")
        return array_from_bytes(data, numpy_dtype).reshape(shape)

    def _entry(self, key: str) -> Any:
        entry = self.entries.get(key)
        if entry is None:
            raise NotFoundError(
                f"Key {show_key(key)} not found in checkpoint {self.prefix}. "
                "tf.train.list_variables lists its keys."
            )
        return entry

    def _read_bytes(self, key: str, entry: Any) -> bytes:
        """Read the bytes of a tensor."""
        if not 0 <= entry.shard_id < self.shards or entry.offset < 0 or entry.size < 0:
            raise self._corruption_error(
                key, entry, "the index has an invalid shard, offset or size"
            )
        name = data_file(self.prefix, entry.shard_id, self.shards)
        with translate_os_errors(name), open(name, "rb") as file:
            there = os.fstat(file.fileno()).st_size
            if entry.offset + entry.size > there:
                raise self._corruption_error(
                    key, entry, f"the file is truncated: it has {there} bytes"
                )
            file.seek(entry.offset)
            return file.read(entry.size)

    def _read_strings(self, key: str, entry: Any, data: bytes, count: int) -> Any:
        """Parse the strings of a tensor."""
        lengths, at = [], 0
        if count > len(data):
            raise self._corruption_error(key, entry, f"{len(data)} bytes for {count} strings")
        for _ in range(count):
            try:
                length, at = leveldb_table.read_varint(data, at)
            except ValueError as error:
                raise self._corruption_error(key, entry, str(error)) from None
            lengths.append(length)
        crc = crc32c(b"".join(map(pack_length, lengths)))
        middle = data[at : at + 4]
        if len(middle) < 4 or mask_crc(crc) != struct.unpack("<I", middle)[0]:
            raise self._corruption_error(key, entry, "the checksum of the lengths is wrong")
        if mask_crc(crc32c(data[at:], crc)) != entry.crc32c:
            raise self._corruption_error(key, entry, "the checksum is wrong")
        at += 4
        if sum(lengths) != len(data) - at:
            raise self._corruption_error(
                key, entry, f"the lengths of {count} strings do not add up"
            )
        out = np.empty(count, object)
        for i, length in enumerate(lengths):
            out[i] = data[at : at + length]
            at += length
        return out

    def _corruption_error(self, key: str, entry: Any, why: str) -> DataLossError:
        name = data_file(self.prefix, entry.shard_id, self.shards)
        return DataLossError(
            f"{name}: {show_key(key)}, {entry.size} bytes at {entry.offset}, is corrupt: {why}."
        )
