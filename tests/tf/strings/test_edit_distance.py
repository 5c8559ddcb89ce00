"""tf.edit_distance: TensorFlow's distances of sequences in sparse tensors."""

import numpy as np
import pytest

import gradtape as tf

sparse = tf.sparse.from_dense
HYPOTHESIS = sparse([[1, 2, 3], [4, 0, 0]])
TRUTH = sparse([[1, 3, 3], [0, 0, 0]])


def test_distances_are_relative_to_the_true_length():
    assert tf.edit_distance(HYPOTHESIS, TRUTH).numpy().tolist() == [np.float32(1 / 3), np.inf]
    assert tf.edit_distance(HYPOTHESIS, TRUTH, normalize=False).numpy().tolist() == [1, 1]


def test_strings_and_functions():
    words = sparse([["k", "i", "t", "t", "e", "n", ""]]), sparse([[*"sitting"]])
    measure = tf.function(lambda a, b: tf.edit_distance(a, b, normalize=False))
    assert measure(*words).numpy().tolist() == [3]


def test_the_larger_shape_wins_and_empty_rows_are_equal():
    taller = sparse([[1, 2, 3], [4, 0, 0], [0, 0, 0]])
    assert tf.edit_distance(taller, TRUTH).numpy().tolist()[1:] == [np.inf, 0]
    none = tf.SparseTensor(np.zeros((0, 3)), tf.constant([], tf.int32), [2, 3, 4])
    assert tf.edit_distance(none, none).shape == [2, 3]


@pytest.mark.parametrize("truth", [sparse([1, 3]), sparse([[1.0, 3.0]])])
def test_ranks_and_dtypes_must_agree(truth):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.edit_distance(HYPOTHESIS, truth)


def test_dense_tensors_are_refused():
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.edit_distance(tf.constant([[1, 2]]), TRUTH)
