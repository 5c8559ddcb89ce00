"""Tensors from nothing: how many numbers a range has."""

import pytest

import gradtape as tf


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_steps_of_a_range_are_counted_in_its_dtype(dtype):
    for n in range(1, 40):
        step = tf.constant(1.0, dtype) / tf.constant(n, dtype)
        assert len(tf.range(tf.constant(0.0, dtype), tf.constant(1.0, dtype), step)) == n
    assert len(tf.range(0.0, 0.3, 0.1)) == 3


def test_the_sizes_of_a_filled_tensor_are_a_vector():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.fill([[0, 1], [2, 3]], 1.0)


def test_integers_beyond_every_float_are_refused():
    with pytest.raises(ValueError, match="out-of-range"):
        tf.constant(10**310, tf.float64)
