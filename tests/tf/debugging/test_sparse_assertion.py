"""Assertions on shapes and dtypes of sparse and ragged tensors."""

import pytest

import gradtape as tf

SPARSE = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
RAGGED = tf.ragged.constant([[1.0], [2.0, 3.0]])


def test_shapes_of_sparse_tensors():
    tf.debugging.assert_shapes([(SPARSE, ["N", "N"]), (tf.ones([2]), ["N"])])
    tf.debugging.assert_rank(SPARSE, 2)
    with pytest.raises(ValueError, match="must have size 3"):
        tf.debugging.assert_shapes([(SPARSE, [2, 3])])


def test_unknown_shapes_and_single_elements():
    tf.debugging.assert_shapes([(tf.ones([2]), None), (tf.ones([1]), [])])
    with pytest.raises(ValueError, match="rank"):
        tf.debugging.assert_shapes([(tf.ones([2]), [])])


@pytest.mark.parametrize("value", [SPARSE, RAGGED])
def test_dtypes_of_composites(value):
    tf.debugging.assert_type(value, tf.float32)
    with pytest.raises(TypeError, match="int32"):
        tf.debugging.assert_type(value, tf.int32)


def test_strings_that_meet_are_joined():
    joined = tf.scatter_nd([[0], [0], [2]], ["a", "b", "c"], [3])
    assert joined.numpy().tolist() == [b"ab", b"", b"c"]
