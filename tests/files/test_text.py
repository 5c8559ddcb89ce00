"""Text files, line by line."""

import gzip

import pytest

from gradtape.core.errors import (
    DataLossError,
    FailedPreconditionError,
    NotFoundError,
    ResourceExhaustedError,
)
from gradtape.files import limit
from gradtape.files.text import read_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [  # as TensorFlow 2.21 reads them
        (b"", []),
        (b"\n", [b""]),
        (b"a\n", [b"a"]),
        (b"a\rb\r\nc\n\nd\r\n\r\nlast", [b"ab", b"c", b"", b"d", b"", b"last"]),
    ],
)
def test_lines_have_no_line_endings(tmp_path, text, lines):
    path = tmp_path / "a"
    path.write_bytes(text)
    assert list(read_lines(path)) == lines


def test_compressed_text(tmp_path):
    path = tmp_path / "a"
    text = b"hello\nworld\n" * 100_000
    path.write_bytes(gzip.compress(text))
    assert list(read_lines(path, "GZIP")) == text.split()
    path.write_bytes(gzip.compress(text)[:-9])
    with pytest.raises(DataLossError, match="ends in the middle"):
        list(read_lines(path, "GZIP"))


def test_the_error_says_why_a_file_cannot_be_opened(tmp_path):
    with pytest.raises(NotFoundError, match="No such file"):
        next(read_lines(tmp_path / "none"))
    with pytest.raises(FailedPreconditionError, match="Is a directory"):
        next(read_lines(tmp_path))


def test_a_line_of_a_compressed_file_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 1)
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b"a" * 999 + b"\n" + b"b" * 1000))
    assert [len(line) for line in read_lines(path, "GZIP")] == [999, 1000]
    path.write_bytes(gzip.compress(b"a" * 1001))
    with pytest.raises(ResourceExhaustedError, match="at most 1000 bytes"):
        list(read_lines(path, "GZIP"))
