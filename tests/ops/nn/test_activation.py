"""Activations: TensorFlow's values at special points, and accuracy over the whole range."""

import numpy as np
import pytest
from scipy import special

import gradtape as tf
from gradtape.ops.cache_block import CACHE_BLOCK, block_slices, fill_in_blocks

EDGES = np.array([np.inf, -np.inf, np.nan, 0, 100, -100], np.float32)
LINE = np.linspace(-13, 13, CACHE_BLOCK + 5).astype(np.float32)  # more than one block


def value_and_slope(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return y.numpy(), tape.gradient(y, x).numpy()


def test_blocks_cover_an_array_once():
    assert list(block_slices(5, CACHE_BLOCK // 2)) == [slice(0, 2), slice(2, 4), slice(4, 6)]
    assert list(block_slices(2, 2 * CACHE_BLOCK)) == [slice(0, 1), slice(1, 2)]
    assert list(block_slices(0, 3)) == []

    def fill(x, twice, negative):
        np.multiply(x, 2, out=twice)
        np.negative(x, out=negative)

    for size in (0, 1, CACHE_BLOCK - 1, CACHE_BLOCK, CACHE_BLOCK + 1):
        x = np.arange(size, dtype=float)
        twice, negative = fill_in_blocks(fill, x, 2)
        np.testing.assert_array_equal(twice, x * 2)
        np.testing.assert_array_equal(negative, -x)


def test_gelu_is_accurate_also_where_it_is_tiny():
    value, slope = value_and_slope(tf.nn.gelu, LINE)
    x = LINE.astype(float)
    below, density = special.ndtr(x), np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    near = np.abs(x) < 5
    np.testing.assert_allclose(value[near], (x * below)[near], rtol=1.5e-6, atol=0)
    np.testing.assert_allclose(value, x * below, rtol=1e-5, atol=0)
    np.testing.assert_allclose(slope, below + x * density, rtol=1e-5, atol=4e-7)


def test_gelu_of_huge_numbers_has_no_overflow():
    x = np.float32([1e4, 1e8, 1e13, 3e38, -1e4, -1e8, -1e13, -3e38])
    value, slope = value_and_slope(tf.nn.gelu, x)
    np.testing.assert_array_equal(value, np.maximum(x, 0))
    np.testing.assert_array_equal(slope, x > 0)


def test_gelu_in_float64_is_exact():
    x = LINE.astype(float)
    value, slope = value_and_slope(tf.nn.gelu, x)
    np.testing.assert_allclose(value, x * special.ndtr(x), rtol=1e-13)
    want = special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(slope, want, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", [tf.nn.gelu, tf.nn.silu], ids=["gelu", "silu"])
def test_half_precision_is_rounded_once(function, dtype):
    x = tf.cast(LINE[::100], dtype)
    got = function(x)
    want = tf.cast(function(tf.cast(x, tf.float32)), dtype)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(tf.cast(got, tf.float32), tf.cast(want, tf.float32))


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_at_special_points_agrees_with_tensorflow(approximate):
    value, slope = value_and_slope(lambda x: tf.nn.gelu(x, approximate), EDGES)
    np.testing.assert_array_equal(value, [np.inf, np.nan, np.nan, 0, 100, 0])
    np.testing.assert_array_equal(slope, [np.nan, np.nan, np.nan, 0.5, 1, 0])


def test_silu_at_special_points_agrees_with_tensorflow():
    value, slope = value_and_slope(tf.nn.silu, EDGES)
    np.testing.assert_array_equal(value[:5], [np.inf, np.nan, np.nan, 0, 100])
    np.testing.assert_array_equal(slope[:5], [np.nan, np.nan, np.nan, 0.5, 1])
    np.testing.assert_allclose(value[5], 0, atol=1e-40)


def test_silu_of_integers_raises_as_in_tensorflow():
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        tf.nn.silu(tf.constant([1, 2]))
    np.testing.assert_allclose(tf.nn.silu(tf.constant([1 + 0j])), [0.73105858], rtol=1e-6)


def test_the_approximate_gelu_agrees_with_its_formula():
    x = LINE.astype(float)
    value, slope = value_and_slope(lambda x: tf.nn.gelu(x, approximate=True), x)
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    np.testing.assert_allclose(value, x * (1 + t) / 2, rtol=1e-12, atol=1e-15)
    bend = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
    np.testing.assert_allclose(slope, (1 + t + x * (1 - t * t) * bend) / 2, rtol=1e-9, atol=1e-12)


def test_elu_and_selu_at_special_points_agree_with_tensorflow():
    value, slope = value_and_slope(tf.nn.elu, EDGES)
    np.testing.assert_array_equal(value, [np.inf, -1, np.nan, 0, 100, -1])
    np.testing.assert_array_equal(slope, [1, 0, 1, 1, 1, 0])
    value, slope = value_and_slope(tf.nn.selu, EDGES)
    np.testing.assert_allclose(value, [np.inf, -1.7580993, np.nan, 0, 105.0701, -1.7580993])
    one = 1.050701
    np.testing.assert_allclose(slope, [one, 0, one, one, one, 0], rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.2, 0.0, 1.0, 3.0, -0.5])
def test_leaky_relu_at_special_points_agrees_with_tensorflow(alpha):
    value, slope = value_and_slope(lambda x: tf.nn.leaky_relu(x, alpha), EDGES)
    left = np.float32(alpha)
    with np.errstate(invalid="ignore"):
        want = [np.inf, -np.inf * left, np.nan, 0, 100, -100 * left]
    np.testing.assert_array_equal(value, np.array(want, np.float32))
    np.testing.assert_array_equal(slope, [1, left, left, left, 1, left])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softplus_is_accurate_on_large_arrays(dtype):
    x = LINE.astype(dtype) * 6
    want = np.logaddexp(x.astype(np.longdouble), 0).astype(float)
    rtol = 4e-7 if dtype == "float32" else 1e-15
    np.testing.assert_allclose(tf.math.softplus(x), want, rtol=rtol)
