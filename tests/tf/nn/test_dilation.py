"""Dilation and erosion."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(4)
X = RNG.standard_normal((2, 5, 4, 2))
W = RNG.standard_normal((2, 3, 2))


def dilated(x, w):
    """Dilation without padding, one output position at a time."""
    rows, columns = x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1
    out = np.empty((x.shape[0], rows, columns, x.shape[3]))
    for i in range(rows):
        for j in range(columns):
            part = x[:, i : i + w.shape[0], j : j + w.shape[1]] + w
            out[:, i, j] = part.max(axis=(1, 2))
    return out


def test_dilation_is_the_largest_sum_and_erosion_the_smallest_difference():
    plain = ([1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])
    np.testing.assert_allclose(tf.nn.dilation2d(X, W, *plain), dilated(X, W))
    eroded = -dilated(-X, W[::-1, ::-1])
    np.testing.assert_allclose(tf.nn.erosion2d(X, W, *plain), eroded)


def test_the_first_of_tied_elements_gets_the_gradient():
    x, w = tf.constant(np.zeros((1, 2, 2, 1))), tf.constant(np.zeros((2, 2, 1)))
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.dilation2d(x, w, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])
    for gradient in tape.gradient(y, [x, w]):
        assert gradient.numpy().ravel().tolist() == [1, 0, 0, 0]


def test_other_data_formats_raise():
    with pytest.raises(ValueError, match="data_format"):
        tf.nn.dilation2d(X, W, [1, 1, 1, 1], "SAME", "NCHW", [1, 1, 1, 1])
