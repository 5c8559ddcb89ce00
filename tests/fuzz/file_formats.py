"""The formats that the fuzzer of files mutates: valid files, and ways to read them."""

import gzip
import io
import os
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.file_mutation import mutate
from tests.fuzz.file_repair import repair_png, repair_records, repair_table
from tests.fuzz.file_verdict import attempt


class Format(NamedTuple):
    """A format: valid files, and what is done with a mutated one.

    Attributes:
        seeds: valid files.
        read: reads a file; its arguments are the bytes, a folder, and the module `tf`.
        repair: corrects checksums after a mutation.
        errors: exceptions that TensorFlow raises, too, besides its own classes.
    """

    seeds: list[bytes]
    read: Callable[[bytes, str, Any], Any]
    repair: Callable[[bytes], bytes] | None = None
    errors: tuple[type[Exception], ...] = ()

    def make_case(self, chance: random.Random) -> bytes:
        """A mutated file, usually with valid checksums."""
        data = mutate(chance.choice(self.seeds), chance, self.seeds)
        return self.repair(data) if self.repair and chance.random() < 0.7 else data


def write_file(folder: str, name: str, data: bytes) -> str:
    """Write a file into a folder and return its path."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


# -- pictures and sound


def draw(shape: tuple[int, ...]) -> Any:
    """Random pixels."""
    return np.random.default_rng(len(shape)).integers(0, 256, shape, dtype=np.uint8)


def save_picture(form: str, shape: tuple[int, ...], **options: Any) -> bytes:
    """A picture as a file."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(draw(shape)).save(out, form, **options)
    return out.getvalue()


def make_pngs() -> list[bytes]:
    """PNG files of all kinds of pixels."""
    from PIL import Image

    palette, grey16 = io.BytesIO(), io.BytesIO()
    Image.fromarray(draw((7, 9, 3))).quantize(16).save(palette, "PNG", transparency=3)
    Image.fromarray(draw((7, 9)).astype(np.uint16) * 257).save(grey16, "PNG")
    shapes = ((7, 9), (7, 9, 2), (7, 9, 3), (7, 9, 4))
    return [save_picture("PNG", shape) for shape in shapes] + [
        palette.getvalue(),
        grey16.getvalue(),
    ]


def make_gifs() -> list[bytes]:
    """GIF files with one and several frames, interlaced or smaller than the first one."""
    from PIL import Image

    pictures = [Image.fromarray(pixels) for pixels in draw((3, 7, 9, 3))]
    still, moving = io.BytesIO(), io.BytesIO()
    pictures[0].save(still, "GIF", interlace=1)
    pictures[0].save(moving, "GIF", save_all=True, append_images=pictures[1:])
    screen = b"GIF89a" + struct.pack("<HHBBB", 30, 20, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    frame = b"!\xf9\x04\x05\x01\0\0\0," + struct.pack("<HHHHB", 2, 1, 1, 1, 0) + b"\2\2\x44\1\0"
    return [still.getvalue(), moving.getvalue(), screen + frame * 3 + b";"]


def make_jpegs() -> list[bytes]:
    """JPEG files: grey, in colours, progressive."""
    return [
        save_picture("JPEG", (17, 23)),
        save_picture("JPEG", (17, 23, 3)),
        save_picture("JPEG", (17, 23, 3), progressive=True, quality=50),
    ]


def make_waves() -> list[bytes]:
    """WAV files with one and two channels."""
    head = b"RIFF" + struct.pack("<I", 100) + b"WAVEfmt "
    mono = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    stereo = struct.pack("<IHHIIHHH", 18, 1, 2, 8000, 32000, 4, 16, 0)
    note = b"LIST" + struct.pack("<I", 4) + b"abcd"
    data = b"data" + struct.pack("<I", 16) + bytes(range(16))
    return [head + mono + data, head + stereo + note + data, head + mono + data + note]


def read_image(decode: str, data: bytes, folder: str, tf: Any) -> Any:
    """Decode a picture with one op and with `decode_image`."""
    invalid = tf.errors.InvalidArgumentError
    attempt(lambda: getattr(tf.io, decode)(data), invalid)
    attempt(lambda: tf.io.extract_jpeg_shape(data), invalid)
    return tf.io.decode_image(data)


# -- records, lines and strings


def frame_records(*records: bytes) -> bytes:
    """A TFRecord file."""
    from gradtape.files.tfrecord import frame_record

    return b"".join(map(frame_record, records))


def make_examples() -> list[bytes]:
    """Serialized Examples."""
    from gradtape.files.example import Example

    example = Example()
    feature = example.features.feature
    feature["ints"].int64_list.value.extend([1, -2, 3])
    feature["floats"].float_list.value.extend([0.5, 1.5])
    feature["texts"].bytes_list.value.extend([b"a", b"bc"])
    feature["index"].int64_list.value.extend([4, 1])
    return [
        example.SerializeToString(),
        example.SerializeToString() + b"\x0a\0",
        Example().SerializeToString(),
    ]


def make_sequence_examples() -> list[bytes]:
    """Serialized SequenceExamples."""
    from gradtape.files.example import SequenceExample

    example = SequenceExample()
    example.context.feature["length"].int64_list.value.append(2)
    for step in range(2):
        steps = example.feature_lists.feature_list["steps"].feature.add()
        steps.float_list.value.extend([step, step + 1])
    return [example.SerializeToString()]


def make_tensors() -> list[bytes]:
    """Serialized tensors of several dtypes, and one with a list of values."""
    from gradtape.files.tensor_proto import TensorProto, fill_tensor_proto

    arrays = [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([b"a", b"bcd", b""], object),
        np.array([True, False]),
        np.array(3 + 4j, np.complex64),
        np.arange(4, dtype=np.int8),
    ]
    lists = [TensorProto(dtype=3, int_val=[1, 2]), TensorProto(dtype=19, half_val=[15360])]
    for message in lists:
        message.tensor_shape.dim.add(size=4)
    messages = [fill_tensor_proto(TensorProto(), array) for array in arrays] + lists
    return [message.SerializeToString() for message in messages]


def make_events() -> list[bytes]:
    """An event file."""
    from gradtape.files.event import Event
    from gradtape.files.tensor_proto import fill_tensor_proto

    event = Event(wall_time=1.5, step=3)
    fill_tensor_proto(event.summary.value.add(tag="loss").tensor, np.float32(2.5))
    version = Event(wall_time=1.0, file_version="brain.Event:2")
    return [frame_records(version.SerializeToString(), event.SerializeToString())]


def read_records(compression: str, data: bytes, folder: str, tf: Any) -> Any:
    """Read a TFRecord file."""
    path = write_file(folder, "records", data)
    return [record.numpy() for record in tf.data.TFRecordDataset(path, compression)]


def read_compressed_records(data: bytes, folder: str, tf: Any) -> Any:
    """Compress a TFRecord file and read it."""
    return read_records("ZLIB", zlib.compress(data), folder, tf)


def read_events(data: bytes, folder: str, tf: Any) -> Any:
    """Read an event file: its records are the messages."""
    return read_records("", data, folder, tf)


def read_lines(compression: str, data: bytes, folder: str, tf: Any) -> Any:
    """Read the lines and the records of fixed length of a file."""
    path = write_file(folder, "lines", data)
    lines = list(tf.data.TextLineDataset(path, compression))
    return lines, list(
        tf.data.FixedLengthRecordDataset(path, 4, 1, 1, compression_type=compression)
    )


def read_vocabulary(data: bytes, folder: str, tf: Any) -> Any:
    """Initialize tables from a file of keys and values."""
    path = write_file(folder, "vocabulary", data)
    columns = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1)
    return tf.lookup.StaticHashTable(columns, -1).lookup(tf.constant(["a", "b"]))


def read_compressed(data: bytes, folder: str, tf: Any) -> Any:
    """Decompress a string in both formats, and decode it as base64."""
    for name in ("GZIP", "ZLIB"):
        attempt(partial(tf.io.decode_compressed, data, name), tf.errors.DataLossError)
    attempt(lambda: tf.io.decode_base64(data), tf.errors.InvalidArgumentError)
    return tf.io.decode_raw(data, tf.int32)


def read_json_example(data: bytes, folder: str, tf: Any) -> Any:
    """Convert an Example in JSON."""
    return tf.io.decode_json_example(data)


def read_tensor(data: bytes, folder: str, tf: Any) -> Any:
    """Parse a serialized tensor as each of the dtypes of the seeds."""
    for dtype in (tf.float32, tf.string, tf.bool, tf.complex64, tf.int8, tf.int32, tf.float16):
        attempt(partial(tf.io.parse_tensor, data, dtype), tf.errors.InvalidArgumentError)


def feature_specs(tf: Any) -> Iterator[dict[str, Any]]:
    """Descriptions of the features of `make_examples`."""
    yield {"ints": tf.io.FixedLenFeature([3], tf.int64)}
    yield {"texts": tf.io.FixedLenFeature([2], tf.string, ["x", "y"])}
    yield {"floats": tf.io.VarLenFeature(tf.float32), "ints": tf.io.VarLenFeature(tf.int64)}
    yield {"floats": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
    yield {"sparse": tf.io.SparseFeature("index", "floats", tf.float32, 10)}


def read_example(data: bytes, folder: str, tf: Any) -> Any:
    """Parse an Example by several descriptions, alone and in a batch."""
    for specs in feature_specs(tf):
        for read in (tf.io.parse_single_example, tf.io.parse_example):
            attempt(partial(read, data, specs), tf.errors.InvalidArgumentError)
        batch = [data, b"", data]
        attempt(partial(tf.io.parse_example, batch, specs), tf.errors.InvalidArgumentError)


def read_sequence_example(data: bytes, folder: str, tf: Any) -> Any:
    """Parse a SequenceExample."""
    context = {"length": tf.io.FixedLenFeature([], tf.int64, 0)}
    for steps in (
        {"steps": tf.io.FixedLenSequenceFeature([2], tf.float32)},
        {"steps": tf.io.VarLenFeature(tf.float32)},
    ):
        read = partial(tf.io.parse_single_sequence_example, data, context, steps)
        attempt(read, tf.errors.InvalidArgumentError)


def read_csv_lines(data: bytes, folder: str, tf: Any) -> Any:
    """Decode lines of CSV."""
    return tf.io.decode_csv(data.split(b"\n"), [[0], [0.0], [""]])


def read_csv(compression: str, data: bytes, folder: str, tf: Any) -> Any:
    """Read a CSV file record by record."""
    path = write_file(folder, "table.csv", data)
    return list(
        tf.data.experimental.CsvDataset(path, [[0], tf.float32, [""]], compression, header=True)
    )


def read_csv_batches(data: bytes, folder: str, tf: Any) -> Any:
    """Read a CSV file in batches of named columns."""
    path = write_file(folder, "table.csv", data)
    return list(
        tf.data.experimental.make_csv_dataset(path, 2, num_epochs=1, num_rows_for_inference=3)
    )


def read_text_file(data: bytes, folder: str, tf: Any) -> Any:
    """Read a file through tf.io."""
    path = write_file(folder, "file", data)
    with tf.io.gfile.GFile(path, "rb") as file:
        lines = file.readlines()
    return tf.io.read_file(path), lines


CSV = b'n,x,s\n1,0.5,a\n-2,1e3,"b, ""c"""\r\n,4,"two\nlines"\n7,nan,\n'
JSON = (
    b'{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}, "b": {"floatList": '
    b'{"value": [0.5, "NaN"]}}, "c": {"bytesList": {"value": ["YWJj"]}}}}}'
)
TEXT = b"a\t1\nb\t2\r\nc\t3\n\nd\t-4"


def stateless_formats() -> dict[str, Format]:
    """The formats whose files are read on their own."""
    records = frame_records(b"one", b"", *make_examples())
    return {
        "png": Format(make_pngs(), partial(read_image, "decode_png"), repair_png),
        "jpeg": Format(make_jpegs(), partial(read_image, "decode_jpeg")),
        "gif": Format(make_gifs(), partial(read_image, "decode_gif")),
        "bmp": Format(
            [save_picture("BMP", shape) for shape in ((5, 7), (5, 7, 3), (5, 7, 4))],
            partial(read_image, "decode_bmp"),
        ),
        "wav": Format(make_waves(), lambda data, folder, tf: tf.audio.decode_wav(data)),
        "tfrecord": Format([records], partial(read_records, ""), repair_records),
        "tfrecord.gz": Format([gzip.compress(records)], partial(read_records, "GZIP")),
        "tfrecord.zlib": Format(
            [records],
            lambda data, *rest: read_records("ZLIB", zlib.compress(data), *rest),
            repair_records,
        ),
        "event": Format(make_events(), read_events, repair_records),
        "text": Format([TEXT], partial(read_lines, "")),
        "text.gz": Format([gzip.compress(TEXT)], partial(read_lines, "GZIP")),
        "vocabulary": Format([b"a\t1\nb\t2\n"], read_vocabulary),
        "compressed": Format([gzip.compress(TEXT), zlib.compress(TEXT)], read_compressed),
        "json": Format([JSON], read_json_example),
        "tensor": Format(make_tensors(), read_tensor),
        "example": Format(make_examples(), read_example),
        "sequence_example": Format(make_sequence_examples(), read_sequence_example),
        "csv_lines": Format([b'1,2,a\n3,4.5,"b"\n'], read_csv_lines),
        "csv": Format([CSV], partial(read_csv, "")),
        "csv.gz": Format([gzip.compress(CSV)], partial(read_csv, "GZIP")),
        "csv_batches": Format([CSV], read_csv_batches, errors=(ValueError,)),
        "file": Format([TEXT], read_text_file),
        "table": Format(make_tables(), read_table, repair_table),
    }


def make_tables() -> list[bytes]:
    """LevelDB tables."""
    from gradtape.files.leveldb_table import serialize_table

    entries = [(b"", b"head"), *((f"key{i:03d}".encode(), b"v" * i) for i in range(20))]
    return [b"".join(serialize_table(entries[:n])) for n in (2, 5, 21)]


def read_table(data: bytes, folder: str, tf: Any) -> Any:
    """Read a LevelDB table."""
    from gradtape.files.leveldb_table import read_table

    return list(read_table(data, "table"))
