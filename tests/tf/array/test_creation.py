"""Creation of tensors: lengths of ranges, sizes of filled tensors, integers out of range."""

import pytest

import gradtape as tf


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_the_length_of_a_range_is_computed_in_its_dtype(dtype):
    for n in range(1, 40):
        step = tf.constant(1.0, dtype) / tf.constant(n, dtype)
        assert len(tf.range(tf.constant(0.0, dtype), tf.constant(1.0, dtype), step)) == n
    assert len(tf.range(0.0, 0.3, 0.1)) == 3


def test_fill_takes_a_vector_of_sizes():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.fill([[0, 1], [2, 3]], 1.0)


def test_integers_beyond_the_largest_float_are_rejected():
    with pytest.raises(ValueError, match="out-of-range"):
        tf.constant(10**310, tf.float64)
