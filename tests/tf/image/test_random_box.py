"""Boxes drawn at random."""

import numpy as np
import pytest

import gradtape as tf


def test_random_boxes_cover_the_object_and_respect_the_ranges():
    for seed in range(30):
        begin, size, box = tf.image.stateless_sample_distorted_bounding_box(
            [100, 80, 3],
            [[[0.1, 0.1, 0.6, 0.7]]],
            [seed, 1],
            min_object_covered=0.5,
            area_range=[0.2, 0.9],
        )
        (top, left, _), (rows, columns, all_channels) = begin.numpy(), size.numpy()
        assert all_channels == -1
        assert 0.2 <= rows * columns / 8000 <= 0.9
        assert 0.7 <= columns / rows <= 1.4
        corners = [top / 100, left / 80, (top + rows) / 100, (left + columns) / 80]
        np.testing.assert_allclose(np.ravel(box), corners, rtol=1e-6)
        low = np.maximum(corners[:2], [0.1, 0.1])
        high = np.minimum(corners[2:], [0.6, 0.7])
        assert np.prod(np.maximum(high - low, 0)) >= 0.5 * 0.5 * 0.6 - 1e-6


def test_the_whole_image_is_the_box_when_no_box_fits():
    nothing = np.zeros((1, 0, 4), np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.sample_distorted_bounding_box([9, 9, 3], nothing)
    tf.image.sample_distorted_bounding_box([9, 9, 3], nothing, use_image_if_no_bounding_boxes=True)
    begin, size, box = tf.image.sample_distorted_bounding_box(
        [9, 8, 3], [[[0.0, 0.0, 1.0, 1.0]]], min_object_covered=1.0, area_range=[0.1, 0.2]
    )
    np.testing.assert_array_equal(begin, [0, 0, 0])
    np.testing.assert_array_equal(size, [9, 8, -1])
    np.testing.assert_array_equal(np.ravel(box), [0, 0, 1, 1])
