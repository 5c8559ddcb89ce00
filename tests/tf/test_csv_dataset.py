"""Datasets of the rows of CSV files."""

import pytest

import gradtape as tf

TEXT = "a,b,c,d\n1,0.5,x,3000000000\n2,,y,4\n3,2.5,,5\n4,1.0,z,6\n"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(TEXT)
    return str(file)


def values(row):
    return [column.numpy() for column in row]


def test_rows_are_tuples_of_scalars(path):
    defaults = [tf.int32, [-1.0], tf.constant(["?"]), tf.int64]
    dataset = tf.data.experimental.CsvDataset(path, defaults, header=True)
    rows = [values(row) for row in dataset]
    assert rows[1] == [2, -1.0, b"y", 4]
    assert rows[2][2] == b"?"
    assert len(rows) == 4
    assert dataset.element_spec[3] == tf.TensorSpec([], tf.int64)


def test_columns_are_selected_or_left_out(path):
    selected = tf.data.experimental.CsvDataset(
        path, [tf.int32, ""], header=True, select_cols=[0, 2]
    )
    left = tf.data.experimental.CsvDataset(path, [tf.int32, ""], header=True, exclude_cols=[1, 3])
    assert [values(r) for r in selected] == [values(r) for r in left]


def test_a_required_field_must_be_there(path):
    dataset = tf.data.experimental.CsvDataset(path, [tf.float32], header=True, select_cols=[1])
    rows = iter(dataset)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 0 is required but missing"):
        list(rows)


def test_batches_are_dicts_with_inferred_dtypes(path):
    dataset = tf.data.experimental.make_csv_dataset(
        path, 2, label_name="d", num_epochs=1, shuffle=False
    )
    features, label = next(iter(dataset))
    assert list(features) == ["a", "b", "c"]
    assert [t.dtype for t in features.values()] == [tf.int32, tf.float32, tf.string]
    assert label.dtype == tf.int64
    assert features["b"].numpy().tolist() == [0.5, 0.0]
    assert len(list(dataset)) == 2


def test_the_order_is_that_of_the_seed(path):
    tf.random.set_seed(5)
    dataset = tf.data.experimental.make_csv_dataset(path, 4, select_columns=["a"], num_epochs=1)
    assert next(iter(dataset))["a"].numpy().tolist() == [4, 2, 3, 1]
    tf.random.set_seed(None)


def test_what_is_wrong_is_said(path):
    make = tf.data.experimental.make_csv_dataset
    with pytest.raises(ValueError, match="No files match"):
        make(path + "x", 2)
    with pytest.raises(ValueError, match="label_name"):
        make(path, 2, label_name="e")
    with pytest.raises(ValueError, match="one of the columns"):
        make(path, 2, select_columns=["e"])
    with pytest.raises(ValueError, match="duplicate"):
        make(path, 2, column_names=["a", "a", "b", "c"])
