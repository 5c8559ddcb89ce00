"""Small files that would fill gigabytes or run for hours: each one is read within the limits."""

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.fuzz.file_formats import frame_records, write_file
from tests.fuzz.file_repair import repair_records

BLOCK = 1 << 24
Read = Callable[[str, Any], Any]  # reads a bomb; its arguments are a folder and the module `tf`


def deflate_zeros(size: int, start: bytes = b"", wbits: int = 31) -> bytes:
    """A compressed stream of `start` and about `size` zeros, about a thousandth of that long.

    Its checksum is missing: a reader that comes to its end has decompressed all of it.
    """
    stream = zlib.compressobj(9, wbits=wbits)
    head = stream.compress(start) + stream.flush(zlib.Z_FULL_FLUSH)
    block = stream.compress(bytes(BLOCK)) + stream.flush(zlib.Z_FULL_FLUSH)
    return head + block * (size // BLOCK)


def png_chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def make_png(width: int, height: int, pixels: bytes, *chunks: bytes) -> bytes:
    """A PNG file of RGB pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [png_chunk(b"IHDR", head), *chunks, png_chunk(b"IDAT", pixels), png_chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def make_jpeg(height: int, width: int, scans: int = 1) -> bytes:
    """A JPEG file that declares a size, and has its last scan several times."""
    from tests.fuzz.file_formats import make_jpegs

    data = bytearray(make_jpegs()[2])
    at = data.index(b"\xff\xc2")
    data[at + 5 : at + 9] = struct.pack(">HH", height, width)
    scan = data[data.rindex(b"\xff\xda") : -2]
    return bytes(data[:-2] + scan * (scans - 1) + data[-2:])


def make_gif(sizes: list[tuple[int, int]]) -> bytes:
    """A GIF file with frames of these sizes; only frames of one pixel have all their pixels."""
    data = b"GIF89a" + struct.pack("<HHBBB", 9999, 9999, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    for width, height in sizes:
        data += b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\2\2\x44\1\0"
    return data + b";"


def make_large_gif(frames: int) -> bytes:
    """A GIF file with a large first frame and many frames of one pixel."""
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.zeros((3000, 3000), np.uint8)).save(out, "GIF")
    return out.getvalue()[:-1] + make_gif([(1, 1)] * frames)[19:]


def picture_bombs() -> dict[str, bytes]:
    """Pictures, by name."""
    text = png_chunk(b"zTXt", b"a\0\0" + deflate_zeros(1 << 30, wbits=15))
    return {
        "png, declared": make_png(20000, 20000, zlib.compress(b"")),
        "png, wide": make_png(1 << 30, 1, zlib.compress(b"")),
        "png, real": make_png(20000, 20000, deflate_zeros(1 << 30, wbits=15)),
        "png, text": make_png(3, 3, zlib.compress(bytes(30)), text),
        "jpeg, declared": make_jpeg(65500, 65500),
        "jpeg, scans": make_jpeg(8000, 8000, 5000),
        "gif, declared": make_gif([(65535, 65535)]),
        "gif, sizes": make_gif([(9000, 9000)] * 1000),
        "gif, frames": make_large_gif(20000),
        "bmp, declared": b"BM"
        + struct.pack("<IHHI", 0, 0, 0, 54)
        + struct.pack("<IiiHH", 40, 16000, 16000, 1, 24)
        + bytes(24),
    }


# -- compressed files


def read_records(folder: str, tf: Any) -> Any:
    """One record of gigabytes in a compressed TFRecord file."""
    head = repair_records(struct.pack("<QI", 2 << 30, 0))
    path = write_file(folder, "records", deflate_zeros(2 << 30, head))
    return list(tf.data.TFRecordDataset(path, "GZIP"))


def read_line(folder: str, tf: Any) -> Any:
    """One line of gigabytes."""
    path = write_file(folder, "lines", deflate_zeros(2 << 30))
    return list(tf.data.TextLineDataset(path, "GZIP"))


def read_field(folder: str, tf: Any) -> Any:
    """One quoted field of gigabytes, without an end."""
    path = write_file(folder, "csv", deflate_zeros(2 << 30, b'"'))
    return list(tf.data.experimental.CsvDataset(path, [[""]], "GZIP"))


def read_fixed(folder: str, tf: Any) -> Any:
    """A file of gigabytes before records of fixed length."""
    path = write_file(folder, "fixed", deflate_zeros(2 << 30))
    read = tf.data.FixedLengthRecordDataset
    return list(read(path, 2 << 30, compression_type="GZIP"))


def read_string(folder: str, tf: Any) -> Any:
    """A compressed string."""
    return tf.io.decode_compressed(deflate_zeros(2 << 30), "GZIP")


def read_many_quotes(folder: str, tf: Any) -> Any:
    """A million doubled quotes in one field."""
    return tf.io.decode_csv([b'"' * (2 << 20)], [[0]])


def read_open_quote(folder: str, tf: Any) -> Any:
    """A quote that is not closed before a million lines."""
    path = write_file(folder, "csv", b'"' + b"\n" * (1 << 20))
    return list(tf.data.experimental.CsvDataset(path, [[""]]))


# -- checkpoints and tensors


def read_filled_tensor(folder: str, tf: Any) -> Any:
    """A tensor of a few bytes that repeats one value 2 ** 36 times."""
    from gradtape.files.tensor_proto import TensorProto

    message = TensorProto(dtype=1, float_val=[1.0])
    message.tensor_shape.dim.add(size=1 << 36)
    return tf.io.parse_tensor(message.SerializeToString(), tf.float32)


def read_shared_keys(folder: str, tf: Any) -> Any:
    """A table whose keys share a long start, which is stored once."""
    from gradtape.files.crc32c import masked_crc
    from gradtape.files.leveldb_table import TABLE_FOOTER, TABLE_MAGIC, encode_varint

    def add_block(entries: list[tuple[int, bytes, bytes]]) -> bytes:
        nonlocal data
        block = b"".join(
            b"".join(map(encode_varint, (shared, len(fresh), len(value)))) + fresh + value
            for shared, fresh, value in entries
        )
        block += struct.pack("<II", 0, 1)
        handle = encode_varint(len(data)) + encode_varint(len(block))
        data += block + b"\0" + struct.pack("<I", masked_crc(block + b"\0"))
        return handle

    data, start = b"", b"k" * 100_000
    keys = [(0, start, b""), *((len(start), struct.pack(">I", i), b"") for i in range(20_000))]
    index = add_block([(0, b"z", add_block(keys))])
    empty = add_block([])
    data += TABLE_FOOTER.pack(empty + index, TABLE_MAGIC)
    return tf.train.list_variables(write_file(folder, "a.index", data).removesuffix(".index"))


def restore_deep_graph(folder: str, tf: Any) -> Any:
    """A chain of many objects, whose paths together would fill gigabytes."""
    from gradtape.files.tensor_bundle import write_bundle
    from gradtape.state.checkpoint.object_graph import OBJECT_GRAPH_KEY, ObjectGraphProto

    graph = ObjectGraphProto()
    for i in range(50_000):
        node = graph.nodes.add()
        node.attributes.add(name="VARIABLE_VALUE", checkpoint_key="missing")
        if i < 49_999:
            node.children.add(node_id=i + 1, local_name="child" * 20)
    prefix = os.path.join(folder, "deep")
    write_bundle(prefix, {OBJECT_GRAPH_KEY: np.array(graph.SerializeToString(), object)})
    status = tf.train.Checkpoint(v=tf.Variable(1.0)).restore(prefix)
    with contextlib.suppress(AssertionError):
        status.assert_consumed()


def restore_iterator(numbers: list[int], folder: str, tf: Any) -> Any:
    """The state of an iterator that has read 2 ** 60 elements, or started 2 ** 60 times."""
    from gradtape.files.tensor_bundle import BundleReader, write_bundle

    dataset = tf.data.Dataset.range(5).shuffle(5, seed=1)
    path = tf.train.Checkpoint(position=iter(dataset)).write(os.path.join(folder, "iterator"))
    reader = BundleReader(path)
    tensors = {key: reader.read(key) for key in reader.entries}
    key = next(key for key in tensors if key.endswith("ITERATOR"))
    tensors[key] = np.array(numbers, np.int64)
    write_bundle(path, tensors)
    position = iter(dataset)
    tf.train.Checkpoint(position=position).restore(path)
    return position.get_next()


# -- datasets


def read_saved(about: Any, folder: str, tf: Any) -> Any:
    """A saved dataset with another description."""
    path = os.path.join(folder, "dataset")
    tf.data.Dataset.range(3).save(path)
    write_file(path, "spec.json", about if isinstance(about, bytes) else json.dumps(about).encode())
    return list(tf.data.Dataset.load(path))


def read_snapshot(folder: str, tf: Any) -> Any:
    """A snapshot that names a file outside of its folder."""
    path = os.path.join(folder, "snapshot")
    dataset = tf.data.Dataset.range(3)
    list(dataset.snapshot(path))
    (inner,) = os.listdir(path)
    write_file(folder, "outside", frame_records(b'{"dtype": "int64", "shape": []}\n' + bytes(8)))
    write_file(os.path.join(path, inner), "complete.json", b'["../../outside"]')
    return list(dataset.snapshot(path))


def bombs() -> dict[str, Read]:
    """All bombs, by name."""
    spec = {"tensor": [[], "int64"]}
    pictures = {
        name: lambda folder, tf, data=data: tf.io.decode_image(data)
        for name, data in picture_bombs().items()
    }
    return {
        **pictures,
        "records, compressed": read_records,
        "line, compressed": read_line,
        "csv, compressed": read_field,
        "fixed records, compressed": read_fixed,
        "string, compressed": read_string,
        "csv, quotes": read_many_quotes,
        "csv, open quote": read_open_quote,
        "tensor, filled": read_filled_tensor,
        "table, shared keys": read_shared_keys,
        "checkpoint, deep": restore_deep_graph,
        "iterator, elements": partial(restore_iterator, [1 << 60, 1, 2, 0]),
        "iterator, starts": partial(restore_iterator, [5, 1, 2, 1 << 60]),
        "iterator, short": partial(restore_iterator, [1, 2]),
        "dataset, size": partial(read_saved, {"spec": spec, "size": 1 << 60}),
        "dataset, deep": partial(read_saved, b'{"size": 3, "spec": ' + b'{"tuple": [' * 100_000),
        "dataset, shape": partial(
            read_saved, {"spec": {"tensor": [[1 << 40] * 100, "int64"]}, "size": 3}
        ),
        "snapshot, outside": read_snapshot,
    }


READABLE = frozenset(["png, text", "checkpoint, deep"])  # valid files
