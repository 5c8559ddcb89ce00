"""TFRecord files: round trips, and detection of damage."""

import gzip

import pytest

import gradtape as tf
from gradtape.core.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
)
from gradtape.files import limit
from gradtape.files.tfrecord import RecordWriter, read_records

RECORDS = [b"rec0", b"", b"x" * 100_000, bytes(range(256)) * 5]
# three records as TensorFlow 2.21 wrote them
OF_TENSORFLOW = bytes.fromhex(
    "040000000000000042455204726563305ae2a4d9"
    "040000000000000042455204726563312dfea8d3"
    "04000000000000004245520472656332cc205179"
)


def write_records(path, compression="", records=RECORDS):
    writer = RecordWriter(path, compression)
    for record in records:
        writer.write(record)
    writer.close()
    return path


@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP", None])
def test_written_records_are_read_back(tmp_path, compression):
    path = write_records(tmp_path / "a", compression)
    assert list(read_records(path, compression)) == RECORDS


def test_the_bytes_are_tensorflows(tmp_path):
    path = write_records(tmp_path / "a", records=[b"rec0", b"rec1", b"rec2"])
    assert path.read_bytes() == OF_TENSORFLOW


def test_an_empty_file_has_no_records(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"")
    assert list(read_records(path)) == []


def test_concatenated_streams_are_read_as_one(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(OF_TENSORFLOW[:20]) + gzip.compress(OF_TENSORFLOW[20:]))
    assert list(read_records(path, "GZIP")) == [b"rec0", b"rec1", b"rec2"]


@pytest.mark.parametrize("size", range(1, 20))
def test_a_truncated_record_is_found_and_named(tmp_path, size):
    path = tmp_path / "a"
    path.write_bytes(OF_TENSORFLOW[: 20 + size])
    records = read_records(path)
    assert next(records) == b"rec0"
    with pytest.raises(DataLossError, match="truncated record at 20"):
        next(records)


@pytest.mark.parametrize("bit", range(160))
def test_a_flipped_bit_is_found_and_named(tmp_path, bit):
    damaged = bytearray(OF_TENSORFLOW)
    damaged[20 + bit // 8] ^= 1 << bit % 8
    path = tmp_path / "a"
    path.write_bytes(damaged)
    records = read_records(path)
    assert next(records) == b"rec0"
    with pytest.raises(DataLossError, match="corrupted record at 20"):
        next(records)


@pytest.mark.parametrize("compression", ["ZLIB", "GZIP"])
def test_a_truncated_stream_is_found_at_every_length(tmp_path, compression):
    whole = write_records(tmp_path / "a", compression, [b"rec0", b"rec1"]).read_bytes()
    path = tmp_path / "b"
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(DataLossError, match="ends in the middle"):
            list(read_records(path, compression))


def test_reading_a_plain_file_as_compressed_fails(tmp_path):
    path = write_records(tmp_path / "a")
    with pytest.raises(DataLossError, match="GZIP stream is corrupt"):
        list(read_records(path, "GZIP"))


def test_a_wrong_length_with_a_valid_checksum_allocates_nothing(tmp_path):
    path = tmp_path / "a"
    from gradtape.files.crc32c import masked_crc

    head = (1 << 60).to_bytes(8, "little")
    path.write_bytes(head + masked_crc(head).to_bytes(4, "little") + b"few")
    with pytest.raises(DataLossError, match="truncated record at 0: 3 of"):
        list(read_records(path))


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="No such file"):
        next(read_records(tmp_path / "none"))
    with pytest.raises(NotFoundError, match="No such file"):
        RecordWriter(tmp_path / "none" / "a")


def test_an_unknown_compression_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="LZ4"):
        next(read_records(tmp_path / "a", "LZ4"))


def test_a_closed_writer_takes_nothing_more(tmp_path):
    writer = RecordWriter(tmp_path / "a")
    writer.close()
    writer.close()
    with pytest.raises(FailedPreconditionError, match="closed"):
        writer.write(b"more")


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_flush_writes_the_records_to_the_file(tmp_path, compression):
    writer = RecordWriter(tmp_path / "a", compression)
    writer.write(b"one")
    writer.flush()
    size = (tmp_path / "a").stat().st_size
    writer.close()
    assert size > 0
    assert list(read_records(tmp_path / "a", compression)) == [b"one"]


def test_a_record_of_a_compressed_file_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 1)
    whole = [bytes(1000), b"abc"]
    assert list(read_records(write_records(tmp_path / "a", "GZIP", whole), "GZIP")) == whole
    assert list(read_records(write_records(tmp_path / "a", "", [bytes(5000)]))) == [bytes(5000)]
    with pytest.raises(ResourceExhaustedError, match="at most 1000 bytes"):
        list(read_records(write_records(tmp_path / "a", "GZIP", [bytes(1001)]), "GZIP"))


def test_paths_that_no_file_can_have_are_not_found():
    for path in ("a\0b", b"a\0b"):
        with pytest.raises(NotFoundError, match="null byte"):
            next(read_records(path))
    with pytest.raises(NotFoundError, match=r"no\\xff"):
        next(read_records(b"/no\xff"))
    with pytest.raises(NotFoundError, match=r"no\\xff"):
        next(iter(tf.data.TFRecordDataset(b"/no\xff")))
