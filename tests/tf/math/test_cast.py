"""Casts between dtypes, with and without saturation."""

import numpy as np
import pytest

import gradtape as tf


def test_saturate_cast_clips_and_cast_wraps():
    assert tf.saturate_cast([300, -5, 7], tf.uint8).numpy().tolist() == [255, 0, 7]
    assert tf.saturate_cast([3e9, -3e9], tf.int32).numpy().tolist() == [2147483520, -(2**31)]
    assert tf.cast([300, -5, 7], tf.uint8).numpy().tolist() == [44, 251, 7]
    with pytest.raises(tf.errors.UnimplementedError):
        tf.cast("1", tf.float32)


def test_complex_numbers_saturate_part_by_part():
    most = np.finfo(np.float32).max
    cast = tf.saturate_cast(tf.constant([1e200 - 1e300j, 1 + 2j], tf.complex128), tf.complex64)
    assert cast.dtype == tf.complex64
    assert cast.numpy().tolist() == [complex(most, -most), 1 + 2j]
