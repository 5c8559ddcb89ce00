"""Ops of tf.raw_ops only: buckets, unique slices, projective transforms."""

import numpy as np
import pytest

import gradtape as tf


def test_bucketize_counts_the_boundaries_below_each_element():
    found = tf.raw_ops.Bucketize(input=tf.constant([-1.0, 0.0, 1.0, 5.0]), boundaries=[0, 1, 3])
    assert (found.numpy().tolist(), found.dtype) == ([0, 1, 2, 3], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="sorted"):
        tf.raw_ops.Bucketize(input=[1.0], boundaries=[2, 1])


def test_unique_slices_keep_the_order_of_first_occurrence():
    y, idx = tf.raw_ops.UniqueV2(x=[[1, 2], [0, 1], [1, 2]], axis=[0])
    assert (y.numpy().tolist(), idx.numpy().tolist()) == ([[1, 2], [0, 1]], [0, 1, 0])
    y, idx, count = tf.raw_ops.UniqueWithCountsV2(x=[[1, 2, 1], [0, 1, 0]], axis=[1])
    assert y.numpy().tolist() == [[1, 2], [0, 1]]
    assert (idx.numpy().tolist(), count.numpy().tolist()) == ([0, 1, 0], [2, 1])


def test_every_nan_is_unique():
    assert tf.unique([np.nan, 1.0, np.nan]).y.shape == (3,)


def transformed(image, transform, **options):
    given = {"interpolation": "NEAREST", "fill_value": 9.0, "output_shape": image.shape, **options}
    x = tf.constant(image[None, :, :, None])
    out = tf.raw_ops.ImageProjectiveTransformV3(images=x, transforms=[transform], **given)
    return out.numpy()[0, :, :, 0]


IMAGE = np.arange(6, dtype=np.float32).reshape(2, 3)
LEFT = [1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0]
OUTSIDE = {
    "CONSTANT": [2, 9, 9],
    "NEAREST": [2, 2, 2],
    "REFLECT": [2, 2, 1],
    "WRAP": [2, 0, 0],
}


@pytest.mark.parametrize("mode", OUTSIDE)
def test_fill_mode_determines_pixels_outside_the_image(mode):
    assert transformed(IMAGE, LEFT, fill_mode=mode)[0].tolist() == OUTSIDE[mode]


def test_bilinear_interpolation_averages_pixels():
    half = [1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert transformed(IMAGE, half, interpolation="BILINEAR")[0].tolist() == [0.5, 1.5, 5.5]
    shape = tf.constant([1, 2])
    assert transformed(IMAGE, half, interpolation="BILINEAR", output_shape=shape).shape == (1, 2)


def test_gradients_reach_the_image():
    x = tf.Variable(IMAGE[None, :, :, None])
    with tf.GradientTape() as tape:
        out = tf.raw_ops.ImageProjectiveTransformV3(
            images=x,
            transforms=[LEFT],
            output_shape=[2, 3],
            fill_value=0.0,
            interpolation="NEAREST",
            fill_mode="NEAREST",
        )
    assert tape.gradient(out, x).numpy()[0, 0, :, 0].tolist() == [0, 0, 3]


def test_modes_and_shapes_are_checked():
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown mode"):
        transformed(IMAGE, LEFT, fill_mode="MIRROR")
    with pytest.raises(tf.errors.InvalidArgumentError, match="transforms"):
        transformed(IMAGE, LEFT[:6])
