"""Glimpses: parts of images around points."""

import numpy as np
import pytest

import gradtape as tf

X = np.arange(1, 26, dtype=np.float32).reshape(1, 5, 5, 1)

STARTS = [  # centered, normalized, offset, first row and column in TensorFlow
    (True, True, 0.0, 1),
    (True, True, 1.0, 3),
    (True, True, -1.0, -1),
    (True, False, 0.0, 2),
    (True, False, -1.0, 1),
    (False, True, 0.0, 0),
    (False, True, 0.5, 2),
    (False, False, 1.0, 1),
    (False, False, -1.0, -1),
]


@pytest.mark.parametrize(("centered", "normalized", "offset", "start"), STARTS)
def test_glimpses_start_at_the_same_pixel_as_in_tensorflow(centered, normalized, offset, start):
    got = tf.image.extract_glimpse(X, [3, 3], [[offset] * 2], centered, normalized, "zero")
    wide = np.pad(X, ((0, 0), (3, 3), (3, 3), (0, 0)))
    at = slice(start + 3, start + 6)
    np.testing.assert_array_equal(got, wide[:, at, at])


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_noise_fills_only_pixels_outside_the_image(noise):
    got = tf.image.extract_glimpse(X, [3, 3], [[-1.0, -1.0]], noise=noise).numpy()[0, ..., 0]
    np.testing.assert_array_equal(got[1:, 1:], [[1, 2], [6, 7]])
    assert (got[0] != 0).all()


def test_an_unknown_noise_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.extract_glimpse(X, [3, 3], [[0.0, 0.0]], noise="pink")
