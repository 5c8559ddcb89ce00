"""tf.sparse.cross and cross_hashed: TensorFlow's combinations, in its order, with its hashes."""

import numpy as np
import pytest

import gradtape as tf

A = tf.constant([["a", "b"], ["c", "d"]])
B = tf.constant([["e"], ["f"]])
I = tf.constant([[1, -2], [3, 40]], tf.int64)  # noqa: E741
S = tf.SparseTensor([[0, 0], [2, 1], [2, 3]], ["x", "y", "zz"], [3, 4])
T = tf.SparseTensor([[0, 0], [0, 2], [2, 0]], tf.constant([5, 6, 7], tf.int64), [3, 3])


def test_cross_joins_all_combinations():
    crossed = tf.sparse.cross([A, I])
    assert crossed.values.numpy().tolist() == [
        *(b"a_X_1", b"a_X_-2", b"b_X_1", b"b_X_-2"),
        *(b"c_X_3", b"c_X_40", b"d_X_3", b"d_X_40"),
    ]
    assert crossed.indices.numpy().tolist() == [[b, i] for b in range(2) for i in range(4)]
    assert crossed.dense_shape.numpy().tolist() == [2, 4]
    assert tf.sparse.cross([B, B], separator="-").values.numpy().tolist() == [b"e-e", b"f-f"]


def test_rows_of_sparse_tensors_may_be_empty():
    crossed = tf.sparse.cross([S, T])
    assert crossed.values.numpy().tolist() == [b"x_X_5", b"x_X_6", b"y_X_7", b"zz_X_7"]
    assert crossed.indices.numpy().tolist() == [[0, 0], [0, 1], [2, 0], [2, 1]]
    assert crossed.dense_shape.numpy().tolist() == [3, 2]


def test_hashes_are_those_of_tensorflow():
    hashed = tf.sparse.cross_hashed([A, B], num_buckets=100)
    assert hashed.values.numpy().tolist() == [17, 61, 68, 75]
    assert hashed.dtype == tf.int64
    unbounded = tf.sparse.cross_hashed([A, tf.constant([[1], [2]], tf.int64)])
    assert unbounded.values.numpy().tolist() == [
        *(2928842892298887678, 5354134812324246176),
        *(8046540229177717716, 4378917100114174116),
    ]
    other = tf.sparse.cross_hashed([A, B], num_buckets=100, hash_key=7)
    assert other.values.numpy().tolist() != hashed.values.numpy().tolist()


def test_cross_in_a_function_and_invalid_inputs():
    f = tf.function(lambda x: tf.sparse.to_dense(tf.sparse.cross_hashed([x, B], 100)))
    for _ in range(3):
        np.testing.assert_array_equal(f(A), [[17, 61], [68, 75]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch"):
        tf.sparse.cross([A, tf.constant([["e"]])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tf.sparse.cross([tf.constant(["a"])])
    with pytest.raises(TypeError, match="strings or integers"):
        tf.sparse.cross([tf.constant([[1.0]])])
