"""CSV: fields, quotes and numbers as TensorFlow reads them, in linear time."""

import gzip
import math

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError, ResourceExhaustedError
from gradtape.files import limit
from gradtape.files.csv import parse_float, parse_int, read_rows, split_record


def rows(path, data, compression=""):
    path.write_bytes(data)
    return list(read_rows(path, compression, None, b",", True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a,b\nc,d\n", [[b"a", b"b"], [b"c", b"d"]]),
        (b"a\r\nb\rc\n\nd", [[b"a"], [b"b"], [b"c"], [b""], [b"d"]]),
        (b'"a\nb",c\r\n"d\re"\n', [[b"a\nb", b"c"], [b"d\re"]]),
        (b'"a""b",""\n"",c', [[b'a"b', b""], [b"", b"c"]]),
        (b'"a"\r"b"\r', [[b"a"], [b"b"]]),
        (b"a,\n,\n", [[b"a", b""], [b"", b""]]),
        (b"", []),
    ],
)
def test_records_of_a_file(tmp_path, text, expected):
    assert rows(tmp_path / "a", text) == expected


@pytest.mark.parametrize("text", [b'"a\n', b'a"b"\n', b'"a"b\n', b'"a\nb\nc', b'x,"'])
def test_wrong_quotes_are_errors(tmp_path, text):
    with pytest.raises(InvalidArgumentError, match="quote"):
        rows(tmp_path / "a", text)


def test_a_string_is_one_record():
    assert split_record(b"\r\na,b", b",", True, 0) == [b"a", b"b"]
    assert split_record(b'"a\nb",c', b",", True, 0) == [b"a\nb", b"c"]
    assert split_record(b'a"b', b",", False, 0) == [b'a"b']
    for text in (b"a\n", b"a\rb", b'"a"\n'):
        with pytest.raises(InvalidArgumentError, match="CRLFs"):
            split_record(text, b",", True, 0)


def test_numbers_are_written_as_in_c():
    assert parse_int(b" -12 ") == -12
    assert parse_float(b" 0x1p3") == 8
    assert math.isnan(parse_float(b"-nan(12)"))
    for text in (b"1_0", b"0x10", b"1.5"):
        with pytest.raises(ValueError, match=r"underscore|invalid"):
            parse_int(text)
    for text in (b"1_0", b"1e", b"1f"):
        with pytest.raises(ValueError, match=r"underscore|could not"):
            parse_float(text)


def test_a_million_quotes_take_no_quadratic_time(tmp_path):
    assert split_record(b'"' * (1 << 20), b",", True, 0) == [b'"' * ((1 << 19) - 1)]
    with pytest.raises(InvalidArgumentError):
        rows(tmp_path / "a", b'"' + b"\n" * (1 << 18))


def test_a_compressed_record_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 1)
    short = gzip.compress(b"a" * 900 + b"\n" + b'"' + b"b\n" * 400 + b'"\n')
    assert [len(row[0]) for row in rows(tmp_path / "a", short, "GZIP")] == [900, 800]
    for text in (b"a" * 1001, b'"' + b"b\n" * 600 + b'"\n'):
        with pytest.raises(ResourceExhaustedError, match="at most 1000 bytes"):
            rows(tmp_path / "a", gzip.compress(text), "GZIP")


def test_arguments_of_decode_csv():
    for delimiter in ("", ";;"):
        with pytest.raises(InvalidArgumentError, match="1 char"):
            tf.io.decode_csv(["1"], [[0]], field_delim=delimiter)
    for columns in ([2, 0], [-1, 0], [1, 1]):
        with pytest.raises(ValueError, match="increasing"):
            tf.io.decode_csv(["1,2,3"], [[0], [0]], select_cols=columns)
    with pytest.raises(InvalidArgumentError, match="not a valid int32"):
        tf.io.decode_csv([b"\xff"], [[0]])


def test_a_dataset_needs_the_header_it_is_promised(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"")
    with pytest.raises(InvalidArgumentError, match="Can't read header"):
        list(tf.data.experimental.CsvDataset(str(path), [[0]], header=True))
    with pytest.raises(ValueError, match="header line"):
        tf.data.experimental.make_csv_dataset(str(path), 2)
    path.write_bytes(b"\xff,b\n1,2\n")
    with pytest.raises(ValueError, match="must be text in utf-8"):
        tf.data.experimental.make_csv_dataset(str(path), 2)


def test_records_of_other_lengths_have_no_dtypes_to_infer(tmp_path):
    path = tmp_path / "a.csv"
    for row in (b"1", b"1,2,3"):
        path.write_bytes(b"a,b\n" + row + b"\n")
        with pytest.raises(ValueError, match="CSV row 2 has"):
            tf.data.experimental.make_csv_dataset(str(path), 2)
    path.write_bytes(b"a,b\n" + b"9" * 400 + b",2\n")
    batch = next(iter(tf.data.experimental.make_csv_dataset(str(path), 1, num_epochs=1)))
    assert batch["b"].numpy().tolist() == [2]
    assert np.isinf(batch["a"].numpy()).all()
