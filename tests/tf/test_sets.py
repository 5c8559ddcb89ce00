"""tf.sets: set operations on rows."""

import pytest

import gradtape as tf


def parts(sparse):
    return sparse.indices.numpy().tolist(), sparse.values.numpy().tolist()


A, B = [[1, 2], [3, 3]], [[9, 2], [3, 4]]


def test_sets_of_dense_rows():
    assert parts(tf.sets.union(A, B)) == (
        [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]],
        [1, 2, 9, 3, 4],
    )
    assert parts(tf.sets.intersection(A, B)) == ([[0, 0], [1, 0]], [2, 3])
    assert parts(tf.sets.difference(A, B)) == ([[0, 0]], [1])
    assert parts(tf.sets.difference(A, B, aminusb=False)) == ([[0, 0], [1, 0]], [9, 4])


def test_sets_of_sparse_rows():
    a = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [5, 3, 2], [2, 2])
    b = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [3, 5, 7], [2, 2])
    common = tf.sets.intersection(a, b)
    assert parts(common) == ([[0, 0], [0, 1]], [3, 5])
    assert common.dense_shape.numpy().tolist() == [2, 2]
    assert tf.sets.size(common).numpy().tolist() == [2, 0]
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.sets.size([[1]])
