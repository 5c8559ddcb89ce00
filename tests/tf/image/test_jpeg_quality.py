"""tf.image.adjust_jpeg_quality and its random forms."""

import numpy as np
import pytest

import gradtape as tf

pytest.importorskip("PIL")

IMAGE = np.random.default_rng(0).integers(0, 256, (16, 16, 3)).astype(np.uint8)


def distance(image):
    return np.abs(image.numpy().astype(int) - IMAGE).mean()


def test_a_lower_quality_changes_more():
    good, bad = (tf.image.adjust_jpeg_quality(IMAGE, quality) for quality in (100, 5))
    assert good.dtype is tf.uint8
    assert distance(good) < distance(bad)
    floats = tf.image.adjust_jpeg_quality(IMAGE / np.float32(255), tf.constant(50))
    assert floats.dtype is tf.float32
    assert floats.shape == IMAGE.shape


def test_a_seed_chooses_the_quality():
    draw = tf.function(lambda x: tf.image.stateless_random_jpeg_quality(x, 5, 30, (1, 2)))
    quality = tf.random.stateless_uniform([], (1, 2), 5, 30, tf.int32)
    np.testing.assert_array_equal(draw(IMAGE), tf.image.adjust_jpeg_quality(IMAGE, quality))
    assert tf.image.random_jpeg_quality(IMAGE, 5, 30).shape == IMAGE.shape


def test_errors():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.adjust_jpeg_quality(IMAGE, 101)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.adjust_jpeg_quality(IMAGE[..., :2], 50)
    for bounds in ((-1, 50), (50, 50), (20, 101)):
        with pytest.raises(ValueError, match="jpeg"):
            tf.image.random_jpeg_quality(IMAGE, *bounds)
