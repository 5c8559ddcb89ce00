"""Windows in which the largest element is looked for."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(4)
X = RNG.standard_normal((2, 5, 4, 2))
W = RNG.standard_normal((2, 3, 2))


def dilated(x, w):
    """Dilation without padding, one place at a time."""
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


def test_the_gradient_of_dilation_goes_to_the_first_of_equals():
    x, w = tf.constant(np.zeros((1, 2, 2, 1))), tf.constant(np.zeros((2, 2, 1)))
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.dilation2d(x, w, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])
    for gradient in tape.gradient(y, [x, w]):
        assert gradient.numpy().ravel().tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("whole", [True, False])
def test_positions_of_a_pool_point_at_its_values(padding, whole):
    values, places = tf.nn.max_pool_with_argmax(X, 2, 2, padding, include_batch_in_index=whole)
    np.testing.assert_array_equal(values, tf.nn.max_pool2d(X, 2, 2, padding))
    found = np.asarray(places)
    if not whole:
        found = found + (np.arange(2) * X[0].size)[:, None, None, None]
    np.testing.assert_array_equal(X.ravel()[found], values)


def test_other_formats_are_refused():
    with pytest.raises(ValueError, match="data_format"):
        tf.nn.dilation2d(X, W, [1, 1, 1, 1], "SAME", "NCHW", [1, 1, 1, 1])
    with pytest.raises(ValueError, match="NHWC"):
        tf.nn.max_pool_with_argmax(X, 2, 2, "SAME", data_format="NCHW")


@pytest.mark.parametrize("decreasing", [True, False])
def test_isotonic_regression_is_monotonic_and_keeps_the_means_of_its_pieces(decreasing):
    x = RNG.standard_normal((3, 8))
    out, pieces = (np.asarray(t) for t in tf.nn.isotonic_regression(x, decreasing))
    steps = np.diff(out, axis=-1)
    assert (steps <= 1e-12).all() if decreasing else (steps >= -1e-12).all()
    for row in range(3):
        for piece in np.unique(pieces[row]):
            inside = pieces[row] == piece
            np.testing.assert_allclose(out[row, inside], x[row, inside].mean())
