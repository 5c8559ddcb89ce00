"""Parts of images around points, and boxes at random."""

import numpy as np
import pytest

import gradtape as tf

X = np.arange(1, 26, dtype=np.float32).reshape(1, 5, 5, 1)

STARTS = [  # centered, normalized, offset, first row and column: TensorFlow's answers
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
def test_glimpses_begin_where_tensorflows_do(centered, normalized, offset, start):
    got = tf.image.extract_glimpse(X, [3, 3], [[offset] * 2], centered, normalized, "zero")
    wide = np.pad(X, ((0, 0), (3, 3), (3, 3), (0, 0)))
    at = slice(start + 3, start + 6)
    np.testing.assert_array_equal(got, wide[:, at, at])


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_noise_fills_what_is_outside_only(noise):
    got = tf.image.extract_glimpse(X, [3, 3], [[-1.0, -1.0]], noise=noise).numpy()[0, ..., 0]
    np.testing.assert_array_equal(got[1:, 1:], [[1, 2], [6, 7]])
    assert (got[0] != 0).all()


def test_another_noise_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.extract_glimpse(X, [3, 3], [[0.0, 0.0]], noise="pink")


def test_distorted_boxes_keep_to_what_was_asked():
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


def test_without_objects_or_luck_the_whole_image_is_the_box():
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
