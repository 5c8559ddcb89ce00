"""Sparse tensors as components of elements."""

import numpy as np
import pytest

import gradtape as tf

DENSE = np.array([[1, 0, 0, 5], [0, 2, 0, 0], [0, 0, 3, 0]])


@pytest.fixture
def sparse():
    return tf.sparse.from_dense(DENSE)


def test_slices_are_sparse_tensors_of_one_axis_less(sparse):
    dataset = tf.data.Dataset.from_tensor_slices((sparse, tf.constant([7, 8, 9])))
    assert dataset.element_spec[0] == tf.SparseTensorSpec((4,), tf.int64)
    rows, numbers = zip(*dataset, strict=True)
    assert [row.indices.numpy().tolist() for row in rows] == [[[0], [3]], [[1]], [[2]]]
    assert [row.dense_shape.numpy().tolist() for row in rows] == [[4]] * 3
    assert [int(n) for n in numbers] == [7, 8, 9]


@pytest.mark.parametrize("filtered", [False, True])
def test_slices_are_stacked_in_batches(sparse, filtered):
    dataset = tf.data.Dataset.from_tensor_slices(sparse)
    if filtered:  # then elements are stacked instead of rows gathered
        dataset = dataset.filter(lambda x: tf.size(x.values) > 0)
    batches = dataset.batch(2)
    assert batches.element_spec == tf.SparseTensorSpec((None, 4), tf.int64)
    dense = [tf.sparse.to_dense(batch).numpy() for batch in batches]
    np.testing.assert_array_equal(np.concatenate(dense), DENSE)
    mapped = batches.map(tf.sparse.to_dense)
    np.testing.assert_array_equal(next(iter(mapped)), DENSE[:2])
    assert mapped.element_spec == tf.TensorSpec((None, 4), tf.int64)


def test_unordered_entries_find_their_slices():
    sparse = tf.SparseTensor([[1, 0], [0, 1], [1, 1]], [1.0, 2.0, 3.0], (2, 2))
    first, second = tf.data.Dataset.from_tensor_slices(sparse)
    assert first.values.numpy().tolist() == [2.0]
    assert second.values.numpy().tolist() == [1.0, 3.0]


def test_slices_of_different_ranks_cannot_be_stacked():
    def elements():
        yield tf.sparse.from_dense([1, 2])
        yield tf.sparse.from_dense([[1, 2]])

    spec = tf.SparseTensorSpec(None, tf.int32)
    dataset = tf.data.Dataset.from_generator(elements, output_signature=spec)
    with pytest.raises(tf.errors.InvalidArgumentError, match="same rank"):
        list(dataset.batch(2))
