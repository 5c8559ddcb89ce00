"""The k largest elements: ties, NaN and targets out of range."""

import numpy as np

import gradtape as tf


def test_ties_keep_their_order_and_nan_is_last():
    values, indices = tf.math.top_k([1.0, 3.0, 3.0, np.nan], 4)
    np.testing.assert_array_equal(values.numpy(), [3, 3, 1, np.nan])
    assert indices.numpy().tolist() == [1, 2, 0, 3]


def test_a_tied_target_is_in_the_top_and_one_out_of_range_is_not():
    scores = [[0.1, 0.5, 0.5], [0.3, 0.2, 0.1]]
    assert tf.math.in_top_k([2, 7], scores, 1).numpy().tolist() == [True, False]


def test_nan_sorts_last_and_is_never_among_the_largest():
    # In TensorFlow the result depends on the position of the NaN: its comparison is no order.
    x = tf.constant([np.nan, 1.0, np.nan, 3.0, np.inf])
    np.testing.assert_array_equal(tf.sort(x), [1, 3, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(tf.argsort(x), [1, 3, 4, 0, 2])
    np.testing.assert_array_equal(tf.sort(x, direction="DESCENDING")[:2], [np.nan, np.nan])
    np.testing.assert_array_equal(tf.math.top_k(x, 3).indices, [4, 3, 1])
