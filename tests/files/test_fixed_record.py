"""Records of fixed length between a header and a footer, also in compressed files."""

import gzip

import pytest

import gradtape as tf
from gradtape.core.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError
from gradtape.files import limit


def records(path, data, size, header=0, footer=0, compression=""):
    path.write_bytes(gzip.compress(data) if compression else data)
    dataset = tf.data.FixedLengthRecordDataset(
        str(path), size, header, footer, compression_type=compression
    )
    return [record.numpy() for record in dataset]


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_header_and_footer_are_left_out(tmp_path, compression):
    path = tmp_path / "a"
    assert records(path, b"abcdef", 2, compression=compression) == [b"ab", b"cd", b"ef"]
    assert records(path, b"Habcdff", 2, 1, 2, compression) == [b"ab", b"cd"]
    assert records(path, b"Hff", 2, 1, 2, compression) == []
    assert records(path, b"", 2, 0, 0, compression) == []


@pytest.mark.parametrize(
    ("compression", "kind"), [("", InvalidArgumentError), ("GZIP", DataLossError)]
)
@pytest.mark.parametrize(
    ("data", "sizes"), [(b"abc", (2, 0, 0)), (b"ab", (2, 5, 0)), (b"a", (2, 1, 1))]
)
def test_excess_bytes_are_an_error(tmp_path, compression, kind, data, sizes):
    with pytest.raises(kind, match="Excess bytes"):
        records(tmp_path / "a", data, *sizes, compression)


def test_sizes_must_not_be_negative(tmp_path):
    for sizes in ((0, 0, 0), (-2, 0, 0), (2, -1, 0), (2, 0, -1)):
        with pytest.raises(InvalidArgumentError):
            records(tmp_path / "a", b"abcd", *sizes)


def test_a_record_of_a_compressed_file_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 1)
    assert len(records(tmp_path / "a", bytes(5000), 1000, compression="GZIP")) == 5
    with pytest.raises(ResourceExhaustedError):
        records(tmp_path / "a", bytes(5000), 2500, compression="GZIP")
