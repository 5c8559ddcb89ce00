"""Distributed datasets; the expected elements are those of TensorFlow 2.21."""

import numpy as np
import pytest

import gradtape as tf


def make_strategy(count):
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)])


def as_lists(value):
    if isinstance(value, tf.distribute.DistributedValues):
        return [as_lists(v) for v in value.values]
    if isinstance(value, tuple):
        return tuple(map(as_lists, value))
    if isinstance(value, dict):
        return {k: as_lists(v) for k, v in value.items()}
    return value.to_list() if isinstance(value, tf.RaggedTensor) else value.numpy().tolist()


def elements(count, dataset):
    return list(map(as_lists, make_strategy(count).experimental_distribute_dataset(dataset)))


@pytest.mark.parametrize(
    ("count", "size", "batch", "wanted"),
    [
        (2, 9, 4, [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], []]]),
        (2, 7, 3, [[[0, 1], [2]], [[3, 4], [5]], [[6], []]]),
        (2, 3, 1, [[[0], []], [[1], []], [[2], []]]),
        (2, 11, 8, [[[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9], [10]]]),
        (3, 6, 4, [[[0, 1], [2, 3], []], [[4], [5], []]]),
        (3, 11, 8, [[[0, 1, 2], [3, 4, 5], [6, 7]], [[8], [9], [10]]]),
        (3, 6, 5, [[[0, 1], [2, 3], [4]], [[5], [], []]]),
    ],
)
def test_batches_are_divided_as_in_tensorflow(count, size, batch, wanted):
    assert elements(count, tf.data.Dataset.range(size).batch(batch)) == wanted


def test_batches_of_later_transformations_are_divided():
    data = tf.data.Dataset.range(5).batch(4)
    assert elements(2, data.repeat(2)) == [[[0, 1], [2, 3]], [[4], []]] * 2
    assert elements(2, data.map(lambda x: 2 * x)) == [[[0, 2], [4, 6]], [[8], []]]
    assert elements(2, data.take(1)) == [[[0, 1], [2, 3]]]


def test_structures_and_ragged_batches():
    rows = {"a": np.arange(3), "b": np.arange(6).reshape(3, 2)}
    assert elements(2, tf.data.Dataset.from_tensor_slices(rows).batch(2)) == [
        {"a": [[0], [1]], "b": [[[0, 1]], [[2, 3]]]},
        {"a": [[2], []], "b": [[[4, 5]], []]},
    ]
    ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [4]])).batch(2)
    assert elements(2, ragged) == [[[[1]], [[2, 3]]], [[[4]], []]]


def test_element_spec():
    strategy = make_strategy(2)
    data = tf.data.Dataset.from_tensor_slices(np.zeros([8, 3], np.float32))
    spec = strategy.experimental_distribute_dataset(data.batch(4)).element_spec
    assert repr(spec).startswith("PerReplicaSpec(TensorSpec(shape=(None, 3)")
    spec = strategy.experimental_distribute_dataset(data.batch(4, drop_remainder=True)).element_spec
    assert [s.shape.as_list() for s in spec._component_specs] == [[2, 3], [2, 3]]
    one = make_strategy(1).experimental_distribute_dataset(data.batch(4)).element_spec
    assert one == tf.TensorSpec([None, 3], tf.float32)


def test_elements_that_are_no_batches_are_refused():
    with pytest.raises(ValueError, match="batch"):
        make_strategy(2).experimental_distribute_dataset(tf.data.Dataset.range(4))


def test_datasets_from_a_function():
    strategy = make_strategy(2)
    seen = []

    def make(context):
        seen.append((context.num_input_pipelines, context.input_pipeline_id))
        assert context.num_replicas_in_sync == 2
        return tf.data.Dataset.range(5).batch(context.get_per_replica_batch_size(4))

    made = strategy.distribute_datasets_from_function(make)
    assert list(map(as_lists, made)) == [[[0, 1], [2, 3]], [[4], []]]
    assert seen == [(1, 0)]
    static = strategy.distribute_datasets_from_function(
        lambda c: tf.data.Dataset.range(6).batch(2, drop_remainder=True)
    )
    assert list(map(as_lists, static)) == [[[0, 1], [2, 3]]]
    with pytest.raises(ValueError, match="not divisible"):
        strategy.distribute_datasets_from_function(
            lambda c: tf.data.Dataset.range(5).batch(c.get_per_replica_batch_size(5))
        )


def test_iterators():
    strategy = make_strategy(2)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(4))
    assert isinstance(data, tf.distribute.DistributedDataset)
    assert data.cardinality == 3
    iterator = iter(data)
    assert isinstance(iterator, tf.distribute.DistributedIterator)
    assert as_lists(iterator.get_next()) == [[0, 1], [2, 3]]
    optional = iterator.get_next_as_optional()
    assert optional.has_value()
    assert as_lists(optional.get_value()) == [[4, 5], [6, 7]]
    next(iterator)
    assert not iterator.get_next_as_optional().has_value()
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_loops_over_distributed_datasets_inside_functions():
    strategy = make_strategy(3)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4))

    def total_of(x):
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None)

    @tf.function
    def sum_all(dataset):
        total = tf.constant(0, tf.int64)
        for x in dataset:
            total += total_of(x)
        return total

    @tf.function
    def sum_next(iterator):
        return total_of(next(iterator))

    assert int(sum_all(data)) == int(sum_all(data)) == 45
    iterator = iter(data)
    assert [int(sum_next(iterator)) for _ in range(3)] == [6, 22, 17]
