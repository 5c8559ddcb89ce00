"""IndexedSlices: what they show, and how they become dense."""

import numpy as np
import pytest

import gradtape as tf


def slices():
    rows = tf.constant([[1.0, 2.0], [10.0, 20.0]])
    return tf.IndexedSlices(rows, tf.constant([1, 1]), tf.constant([3, 2]))


def test_repeated_rows_are_added_up():
    dense = [[0.0, 0.0], [11.0, 22.0], [0.0, 0.0]]
    assert tf.convert_to_tensor(slices()).numpy().tolist() == dense
    for total in (tf.zeros((3, 2)) + slices(), slices() + tf.zeros((3, 2))):
        assert total.numpy().tolist() == dense


def test_negation_stays_sparse():
    negative = -slices()
    assert isinstance(negative, tf.IndexedSlices)
    assert negative.values.numpy().tolist() == [[-1.0, -2.0], [-10.0, -20.0]]


def test_text_shows_the_parts():
    one = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert str(one) == (
        "IndexedSlices(indices=tf.Tensor([0], shape=(1,), dtype=int32), "
        "values=tf.Tensor([1.], shape=(1,), dtype=float32))"
    )


def test_what_cannot_be_converted():
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    with pytest.raises(ValueError, match="dtype"):
        tf.convert_to_tensor(slices(), tf.int32)


def test_casting_keeps_them_sparse():
    cast = tf.cast(slices(), tf.float64)
    assert isinstance(cast, tf.IndexedSlices)
    assert cast.dtype is tf.float64
    assert not hasattr(cast, "numpy")
    assert np.shape(cast.values) == (2, 2)
