"""tf.ragged.stack of dense tensors, and stack_dynamic_partitions with partitions of any rank."""

import numpy as np
import pytest

import gradtape as tf


def test_dense_tensors_of_different_sizes():
    stacked = tf.ragged.stack([[[1, 2], [3, 4]], [[5]]])
    assert stacked.to_list() == [[[1, 2], [3, 4]], [[5]]]
    assert stacked.ragged_rank == 2
    vectors = tf.ragged.stack([[1, 2], [3]])
    assert (vectors.to_list(), vectors.row_splits.dtype) == ([[1, 2], [3]], tf.int32)


def test_an_inner_axis_of_dense_tensors_stays_dense():
    stacked = tf.ragged.stack([[[1, 2]], [[3, 4]]], axis=1)
    assert isinstance(stacked, tf.Tensor)
    assert stacked.numpy().tolist() == [[[1, 2], [3, 4]]]


def test_partitions_of_any_rank():
    grid = [["a", "b"], ["c", "d"]]
    rows = tf.ragged.stack_dynamic_partitions(grid, [[0, 1], [1, 0]], 2)
    assert rows.to_list() == [[b"a", b"d"], [b"b", b"c"]]
    assert tf.ragged.stack_dynamic_partitions("a", 1, 2).to_list() == [[], [b"a"]]
    data = tf.ragged.constant([["a"], ["b", "c"]])
    numbers = tf.ragged.constant([[0], [1, 0]])
    assert tf.ragged.stack_dynamic_partitions(data, numbers, 2).to_list() == [[b"a", b"c"], [b"b"]]
    with pytest.raises(ValueError, match="begin"):
        tf.ragged.stack_dynamic_partitions(np.ones((2, 3)), [[0, 1], [1, 0]], 2)
