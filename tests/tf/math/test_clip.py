"""Clipping: IndexedSlices, None, zeros, NaN and infinity."""

import numpy as np
import pytest

import gradtape as tf

SLICES = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([3, 2]))


def test_slices_and_none_keep_their_place():
    clipped, norm = tf.clip_by_global_norm([SLICES, None], 1.0)
    assert norm.numpy() == 5
    assert isinstance(clipped[0], tf.IndexedSlices)
    np.testing.assert_allclose(clipped[0].values.numpy(), [[0.6, 0.8]])
    assert clipped[1] is None


def test_the_norm_of_an_empty_list_is_zero():
    assert tf.linalg.global_norm([None]).numpy() == 0
    assert tf.clip_by_global_norm([], 1.0)[0] == []


def test_an_infinite_norm_gives_nan():
    (clipped,), norm = tf.clip_by_global_norm([tf.constant([np.inf, 1.0])], 1.0)
    assert np.isnan(clipped.numpy()).all()
    assert np.isinf(norm.numpy())


def test_a_dict_is_not_a_list_of_gradients():
    with pytest.raises(TypeError):
        tf.clip_by_global_norm({"a": tf.constant([1.0])}, 1.0)


def test_clipping_zero_by_norm_has_a_gradient():
    x = tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.clip_by_norm(x, 1.0)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [1, 1])


def test_bounds_must_not_change_the_shape():
    with pytest.raises(ValueError, match="incompatible"):
        tf.clip_by_value(tf.constant([1.0, 2.0]), [[0.0], [1.5]], 1.8)


def test_clip_by_norm_casts_the_bound_and_clip_by_global_norm_raises():
    x = tf.constant([3.0, 4.0], tf.float64)
    np.testing.assert_allclose(tf.clip_by_norm(x, tf.constant(1.0)), [0.6, 0.8])
    with pytest.raises(TypeError, match="same dtype"):
        tf.clip_by_global_norm([x], tf.constant(1.0))
