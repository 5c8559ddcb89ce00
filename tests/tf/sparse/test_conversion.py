"""tf.sparse: conversion to and from dense tensors."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError


def test_from_dense_and_back():
    dense = tf.constant([[0.0, 1.0], [2.0, 0.0]])
    sparse = tf.sparse.from_dense(dense)
    assert sparse.indices.numpy().tolist() == [[0, 1], [1, 0]]
    assert sparse.shape == (2, 2)
    assert sparse.dtype == tf.float32
    np.testing.assert_array_equal(tf.sparse.to_dense(sparse).numpy(), dense.numpy())
    assert tf.sparse.to_dense(sparse, default_value=9).numpy()[0, 0] == 9


def test_sparse_strings_have_empty_strings_for_missing_elements():
    sparse = tf.SparseTensor([[1]], ["x"], [3])
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [b"", b"x", b""]
    assert tf.sparse.to_dense(sparse, "-").numpy().tolist() == [b"-", b"x", b"-"]
    assert tf.sparse.from_dense(["", "y"]).indices.numpy().tolist() == [[1]]


def test_gradients_flow_to_the_values():
    values = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        dense = tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 0]], values, [2, 2]))
        y = tf.reduce_sum(dense * dense)
    assert tape.gradient(y, values).numpy().tolist() == [6, 8]


@pytest.mark.parametrize("places", [[[3], [4]], [[1], [0]], [[1], [1]], [[-1], [0]]])
def test_invalid_indices_are_rejected(places):
    with pytest.raises(InvalidArgumentError, match=r"to_dense: indices\["):
        tf.sparse.to_dense(tf.SparseTensor(places, [1, 2], [3]))


def test_incompatible_component_shapes_are_rejected():
    with pytest.raises(ValueError, match="SparseTensor: indices"):
        tf.SparseTensor([[0, 1]], [1, 2], [2, 2])


def test_a_sparse_tensor_is_a_structure_of_tensors():
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    assert len(tf.nest.flatten(sparse, expand_composites=True)) == 3
    assert tf.type_spec_from_value(sparse) == tf.SparseTensorSpec([2], tf.float32)
    assert "SparseTensor(indices=tf.Tensor([[0]], shape=(1, 1), dtype=int64)" in repr(sparse)
