"""Fractional pools: windows, gradients and ratios."""

import numpy as np
import pytest

import gradtape as tf

X = np.random.default_rng(2).normal(size=(2, 7, 9, 3))


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("seed", range(1, 9))
def test_windows_cover_the_image_and_are_pooled(overlapping, pseudo_random, seed):
    ratio = [1.0, 1.5, 1.3, 1.0]
    for op, reduce in ((tf.nn.fractional_max_pool, np.max), (tf.nn.fractional_avg_pool, np.mean)):
        out, rows, columns = op(X, ratio, pseudo_random, overlapping, seed)
        assert out.shape == (2, 4, 6, 3)
        for marks, size in ((rows, 7), (columns, 9)):
            steps = np.diff(marks)
            assert (marks[0], marks[-1]) == (0, size)
            assert set(steps) <= {1, 2}
        more = int(overlapping)
        for i in range(4):
            for j in range(6):
                part = X[:, rows[i] : rows[i + 1] + more, columns[j] : columns[j + 1] + more]
                np.testing.assert_allclose(out[:, i, j], reduce(part, axis=(1, 2)))


def test_maxima_get_the_whole_gradient_and_means_share_it():
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        largest = tf.nn.fractional_max_pool(x, 1.5, seed=4)[0]
        means = tf.nn.fractional_avg_pool(x, [1, 1.5, 1.5, 1], overlapping=True, seed=4)[0]
    back = tape.gradient(largest, x).numpy()
    assert set(np.unique(back)) == {0, 1}
    np.testing.assert_array_equal(np.sort(X[back == 1]), np.sort(np.ravel(largest)))
    np.testing.assert_allclose(np.sum(tape.gradient(means, x)), np.size(means))


def test_invalid_ratios_raise():
    for ratio in (0.5, [2.0, 1.5, 1.5, 1.0], [1.5] * 3):
        with pytest.raises(ValueError, match="pooling_ratio"):
            tf.nn.fractional_max_pool(X, ratio)
    with pytest.raises(TypeError):
        tf.nn.fractional_avg_pool(X, 1.5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.fractional_max_pool(X[0], 1.5)
