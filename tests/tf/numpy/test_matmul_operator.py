"""The operator @ with NumPy behaviour enabled."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.tf.numpy.numpy_behavior import disable_numpy_behavior


@pytest.fixture
def enabled():
    tf.experimental.numpy.experimental_enable_numpy_behavior()
    yield
    disable_numpy_behavior()


def test_vectors(enabled):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    x, y = tf.constant(a), tf.constant(b)
    for left, right, expected in ((x, y, a @ b), (y, y, b @ b), (y, tf.transpose(x), b @ a.T)):
        np.testing.assert_allclose((left @ right).numpy(), expected)
    np.testing.assert_allclose((b @ tf.transpose(x)).numpy(), b @ a.T)


def test_vectors_are_refused_otherwise():
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        _ = tf.ones([2, 3]) @ tf.ones([3])
