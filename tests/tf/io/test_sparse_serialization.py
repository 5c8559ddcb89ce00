"""tf.io.serialize_sparse and its inverse, with TensorFlow's bytes."""

import pytest

import gradtape as tf

SPARSE = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])


def test_parts_are_tensor_protos():
    texts = tf.io.serialize_sparse(SPARSE).numpy()
    assert texts[1] == b'\x08\x01\x12\x04\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@'


def test_slices_come_back():
    texts = tf.io.serialize_many_sparse(SPARSE)
    again = tf.io.deserialize_many_sparse(texts, tf.float32)
    assert tf.sparse.to_dense(again).numpy().tolist() == [[1, 0], [0, 2]]


def test_shapes_grow_to_the_largest():
    parts = [tf.io.serialize_sparse(tf.sparse.from_dense(x)) for x in ([[1, 0]], [[0, 0, 2]])]
    again = tf.io.deserialize_many_sparse(tf.stack(parts), tf.int32)
    assert again.dense_shape.numpy().tolist() == [2, 1, 3]


def test_errors():
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.io.serialize_sparse(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="> 1"):
        tf.io.serialize_many_sparse(tf.sparse.from_dense([1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.deserialize_many_sparse([tf.io.serialize_sparse(SPARSE)], tf.int32)
