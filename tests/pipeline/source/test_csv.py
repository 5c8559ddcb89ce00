"""Datasets of CSV files."""

from collections import OrderedDict

import numpy as np
import pytest

import gradtape as tf

CsvDataset = tf.data.experimental.CsvDataset
make_csv_dataset = tf.data.experimental.make_csv_dataset


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.csv").write_text('x,y,z\n1,2.5,a\n3,,b\n5,4.5,"q,""r"\n')
    (tmp_path / "b.csv").write_text("x,y,z\n7,8.5,c\n9,1,d\n")
    return tmp_path


def listed(dataset):
    return [
        tf.nest.map_structure(lambda a: np.asarray(a).tolist(), e)
        for e in dataset.as_numpy_iterator()
    ]


def test_records_are_tuples(files):
    names = [str(files / "a.csv"), str(files / "b.csv")]
    dataset = CsvDataset(names, [tf.int32, [0.5], tf.string], header=True)
    assert repr(dataset).startswith("<CsvDatasetV2 element_spec=(TensorSpec(shape=(), dtype=tf.int")
    assert listed(dataset) == [
        (1, 2.5, b"a"), (3, 0.5, b"b"), (5, 4.5, b'q,"r'), (7, 8.5, b"c"), (9, 1.0, b"d"),
    ]  # fmt: skip
    some = CsvDataset(names[1], [[0.5], tf.string], header=True, select_cols=[1, 2])
    assert listed(some) == [(8.5, b"c"), (1.0, b"d")]
    others = CsvDataset(names[1], [[5], ["?"]], header=True, exclude_cols=[1], na_value="c")
    assert listed(others) == [(7, b"?"), (9, b"d")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2\r\n3,4\r\n", [(b"1", b"2"), (b"3", b"4")]),
        ('"a\nb",2\n3,4', [(b"a\nb", b"2"), (b"3", b"4")]),
        ('"a\r\nb",2\n', [(b"a\r\nb", b"2")]),
    ],
)
def test_line_endings(text, expected, tmp_path):
    (tmp_path / "q.csv").write_bytes(text.encode())
    assert listed(CsvDataset(str(tmp_path / "q.csv"), [tf.string, tf.string])) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n\n", "Expect 2 fields but have 1"),
        ("1,2,3\n", "Expect 2 fields but have more"),
        ('a"b,2\n', "Unquoted fields cannot have quotes"),
        ('"a,2\n', "Quoted field has to end"),
        (",2\n", "Field 0 is required"),
    ],
)
def test_invalid_records_raise(text, message, tmp_path):
    (tmp_path / "q.csv").write_text(text)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        listed(CsvDataset(str(tmp_path / "q.csv"), [tf.string, tf.string]))


@pytest.mark.parametrize("number", ["x", "99999999999", "1.5"])
def test_invalid_numbers_raise(number, tmp_path):
    (tmp_path / "q.csv").write_text(number)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"not a valid int32: {number}"):
        listed(CsvDataset(str(tmp_path / "q.csv"), [tf.int32]))


def test_invalid_column_selections_raise(files):
    name = str(files / "a.csv")
    with pytest.raises(tf.errors.InvalidArgumentError, match="strictly increasing"):
        CsvDataset(name, [tf.int32, tf.int32], select_cols=[2, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="match output size"):
        CsvDataset(name, [tf.int32, tf.int32], select_cols=[0])
    with pytest.raises(ValueError, match="default"):
        CsvDataset(name, [tf.bool])
    with pytest.raises(tf.errors.NotFoundError):
        listed(CsvDataset(str(files / "none.csv"), [tf.int32]))


def test_batches_of_named_columns(files):
    dataset = make_csv_dataset(str(files / "a.csv"), 2, num_epochs=1, shuffle=False)
    assert listed(dataset) == [
        OrderedDict(x=[1, 3], y=[2.5, 0.0], z=[b"a", b"b"]),
        OrderedDict(x=[5], y=[4.5], z=[b'q,"r']),
    ]
    assert dataset.element_spec["x"] == tf.TensorSpec((None,), tf.int32)
    assert dataset.element_spec["y"] == tf.TensorSpec((None,), tf.float32)
    pattern = str(files / "*.csv")
    labelled = make_csv_dataset(pattern, 2, num_epochs=1, shuffle=False, label_name="x")
    assert [label for _, label in listed(labelled)] == [[1, 3], [5, 7], [9]]
    endless = make_csv_dataset(pattern, 3, shuffle=False)
    assert endless.element_spec["z"] == tf.TensorSpec((3,), tf.string)
    assert [e["x"] for e in listed(endless.take(3))] == [[1, 3, 5], [7, 9, 1], [3, 5, 7]]
    renamed = make_csv_dataset(
        str(files / "b.csv"), 3, ["p", "q", "r"], header=False, num_epochs=1, shuffle=False,
        select_columns=["r", "p"],
    )  # fmt: skip
    assert listed(renamed) == [OrderedDict(p=[b"x", b"7", b"9"], r=[b"z", b"c", b"d"])]


def test_the_order_is_that_of_tensorflow(files):
    tf.random.set_seed(1)
    pattern = str(files / "*.csv")
    few = make_csv_dataset(pattern, 2, num_epochs=2, shuffle_seed=3, shuffle_buffer_size=3)
    assert [e["x"] for e in listed(few)] == [[7, 1], [9, 5], [3, 5], [1, 7], [9, 3]]
    turns = make_csv_dataset(pattern, 2, num_epochs=2, shuffle_seed=3, num_parallel_reads=2)
    assert [e["x"] for e in listed(turns)] == [[9, 7], [1, 5], [3, 9], [1, 7], [5, 3]]


def test_missing_names_and_files_raise(files):
    with pytest.raises(ValueError, match="No files match"):
        make_csv_dataset(str(files / "zz*.csv"), 2)
    with pytest.raises(ValueError, match=r"label_name.*\['x', 'y', 'z'\]"):
        make_csv_dataset(str(files / "a.csv"), 2, label_name="nope")
    (files / "c.csv").write_text("x,q,z\n1,2,3\n")
    with pytest.raises(ValueError, match="same column names"):
        make_csv_dataset(str(files / "*.csv"), 2)
