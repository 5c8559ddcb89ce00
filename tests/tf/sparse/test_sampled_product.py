"""tf.sparse.sampled_addmm and mask."""

import numpy as np
import pytest

import gradtape as tf

LEFT, RIGHT = tf.constant([[1.0, 2], [3, 4]]), tf.constant([[5.0, 6], [7, 8]])


def test_chosen_elements_of_a_product():
    places = [[0, 0], [1, 1]]
    indices, values, shape = tf.sparse.sampled_addmm(places, [1.0, 2], [2, 2], LEFT, RIGHT)
    assert values.numpy().tolist() == [20, 52]
    assert indices.numpy().tolist() == places
    assert shape.numpy().tolist() == [2, 2]
    scaled = tf.sparse.sampled_addmm(places, [1.0, 2], [2, 2], LEFT, RIGHT, beta=0.5, alpha=2.0)
    assert scaled[1].numpy().tolist() == [38.5, 101]


def test_batches():
    left, right = tf.stack([LEFT, LEFT]), tf.stack([RIGHT, RIGHT])
    places = [[[0, 0], [1, 1]], [[0, 1], [1, 0]]]
    values = tf.sparse.sampled_addmm(places, [[1.0, 2], [3, 4]], [2, 2], left, right)[1]
    assert values.numpy().tolist() == [[20, 52], [25, 47]]


def test_gradients():
    values = tf.constant([1.0, 2])
    with tf.GradientTape() as tape:
        tape.watch([LEFT, RIGHT, values])
        out = tf.sparse.sampled_addmm(
            [[0, 0], [1, 0]], values, [2, 2], LEFT, RIGHT, beta=3.0, alpha=0.5
        )[1]
    left, right, base = tape.gradient(out, [LEFT, RIGHT, values])
    assert tf.convert_to_tensor(left).numpy().tolist() == [[2.5, 3.5], [2.5, 3.5]]
    assert right.numpy().tolist() == [[2, 0], [3, 0]]
    assert base.numpy().tolist() == [3, 3]


def test_dtypes_must_agree():
    with pytest.raises(ValueError, match="float16"):
        tf.sparse.sampled_addmm([[0, 0]], tf.ones(1, tf.float16), [2, 2], LEFT, RIGHT)


def test_mask_drops_slices():
    slices = tf.IndexedSlices(tf.constant([[1.0], [3], [5]]), tf.constant([1, 3, 5]), [10, 1])
    kept = tf.sparse.mask(slices, [3, 4])
    assert kept.indices.numpy().tolist() == [1, 5]
    np.testing.assert_array_equal(kept.values, [[1], [5]])
