"""tf.data.experimental: sources, groups, tables and Examples."""

import sqlite3

import numpy as np
import pytest

import gradtape as tf

Dataset, experimental = tf.data.Dataset, tf.data.experimental


def values_of(dataset):
    return list(dataset.as_numpy_iterator())


def test_from_list_takes_elements_of_different_shapes():
    dataset = experimental.from_list([{"a": [1]}, {"a": [2, 3]}])
    assert [e["a"].tolist() for e in values_of(dataset)] == [[1], [2, 3]]
    assert dataset.element_spec == {"a": tf.TensorSpec([None], tf.int32)}
    assert len(dataset) == 2


@pytest.mark.parametrize("elements", [[], (1, 2), [(1, 2), (3,)]])
def test_from_list_refuses_other_arguments(elements):
    with pytest.raises(ValueError, match="from_list"):
        experimental.from_list(elements)


def test_from_list_refuses_mixed_dtypes():
    with pytest.raises(TypeError, match="same dtypes"):
        experimental.from_list([1, 2.5])


def test_group_by_reducer_returns_groups_in_the_order_of_keys():
    reducer = experimental.Reducer(
        lambda key: (np.int64(0), key),
        lambda state, x: (state[0] + x, state[1]),
        lambda a, b: (a, b),
    )
    dataset = Dataset.range(10).apply(experimental.group_by_reducer(lambda x: 2 - x % 3, reducer))
    assert values_of(dataset) == [(15, 0), (12, 1), (18, 2)]
    assert dataset.element_spec == (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int64))


def test_pad_to_cardinality_refuses_a_larger_dataset():
    with pytest.raises(ValueError, match="at most 3"):
        Dataset.range(10).apply(experimental.pad_to_cardinality(3))


def test_parallel_interleave():
    cycle = experimental.parallel_interleave(lambda x: Dataset.from_tensors(x).repeat(2), 2)
    assert values_of(Dataset.range(3).apply(cycle)) == [0, 1, 0, 1, 2, 2]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "data.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t(a int, b text, c real)")
        connection.executemany("insert into t values(?, ?, ?)", [(1, "x", 0.5), (2, None, 1.5)])
    connection.close()
    return str(path)


def test_rows_of_a_query(database):
    types = (tf.int32, tf.string, tf.float64)
    dataset = experimental.SqlDataset("sqlite", database, "select a, b, c from t", types)
    assert values_of(dataset) == [(1, b"x", 0.5), (2, b"", 1.5)]


@pytest.mark.parametrize(
    ("driver", "query", "error"),
    [
        ("sqlite", "select a, b from t", tf.errors.InvalidArgumentError),
        ("sqlite", "select z from t", tf.errors.UnknownError),
        ("mysql", "select a from t", tf.errors.InvalidArgumentError),
    ],
)
def test_wrong_queries(database, driver, query, error):
    with pytest.raises(error):
        list(experimental.SqlDataset(driver, database, query, (tf.int32,)))


def test_tables_of_datasets():
    words = Dataset.from_tensor_slices(["a", "b", "c"])
    table = experimental.index_table_from_dataset(words, vocab_size=2)
    assert table.lookup(tf.constant(["b", "c"])).numpy().tolist() == [1, -1]
    buckets = experimental.index_table_from_dataset(words, num_oov_buckets=2)
    assert buckets.lookup(tf.constant(["c", "z"])).numpy()[0] == 2
    pairs = Dataset.from_tensor_slices(([1], ["x"]))
    with pytest.raises(ValueError, match="default_value"):
        experimental.table_from_dataset(pairs, key_dtype=tf.int32)


def test_records_of_a_dataset(tmp_path):
    path = str(tmp_path / "records")
    writer = experimental.TFRecordWriter(path)
    writer.write(Dataset.range(3).map(tf.io.serialize_tensor))
    read = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_tensor(x, tf.int64))
    assert values_of(read) == [0, 1, 2]
    with pytest.raises(TypeError, match="scalar strings"):
        writer.write(Dataset.range(3))


def test_batches_of_features(tmp_path):
    path = str(tmp_path / "examples")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5):
            value = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"%d" % i]))
            features = tf.train.Features(feature={"x": value, "y": text})
            writer.write(tf.train.Example(features=features).SerializeToString())
    features = {
        "x": tf.io.FixedLenFeature([], tf.int64),
        "y": tf.io.FixedLenFeature([], tf.string),
    }
    batches = experimental.make_batched_features_dataset(
        path, 2, features, label_key="y", num_epochs=1, shuffle=False
    )
    found = [(x["x"].tolist(), y.tolist()) for x, y in values_of(batches)]
    assert found == [([0, 1], [b"0", b"1"]), ([2, 3], [b"2", b"3"]), ([4], [b"4"])]
    with pytest.raises(TypeError, match="vectors of strings"):
        Dataset.range(3).apply(experimental.parse_example_dataset(features))


def test_random_dataset_is_dataset_random():
    tf.random.set_seed(1)
    ours = values_of(experimental.RandomDataset(seed=4).take(3))
    tf.random.set_seed(1)
    assert ours == values_of(Dataset.random(seed=4).take(3))
