"""Casts of floats to integers: XLA gives the same integers as NumPy."""

import numpy as np
import pytest

pytest.importorskip("jax")
import gradtape as tf

VALUES = [np.nan, np.inf, -np.inf, 3e9, -5e9, 300.7, -300.7, 70000.5, 0.0, 2.0**31, -(2.0**31)]


@pytest.mark.parametrize("source", [tf.float32, tf.float64, tf.bfloat16])
@pytest.mark.parametrize("target", [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.int64])
def test_casts_equal_eager_ones(source, target):
    x = tf.cast(tf.constant(VALUES, tf.float64), source)
    compiled = tf.function(lambda x: tf.cast(x, target), jit_compile=True)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(x), tf.cast(x, target))


def test_parts_of_infinite_complex_numbers_are_those_that_were_given():
    make = tf.function(lambda a, b: tf.complex(a, b), jit_compile=True)
    for _ in range(3):  # the first call runs the ops one by one
        out = make(tf.constant([1.0, -np.inf]), tf.constant([np.inf, -np.inf])).numpy()
        assert out.real.tolist() == [1.0, -np.inf]
        assert out.imag.tolist() == [np.inf, -np.inf]
