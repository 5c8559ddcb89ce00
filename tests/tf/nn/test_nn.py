"""tf.nn: activations, convolutions, pools, moments, embeddings; and real Fourier transforms."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(0)


def gradient(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy()


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (tf.nn.relu, 0.0),
        (tf.nn.relu6, 0.0),
        (tf.nn.leaky_relu, 0.2),
        (tf.nn.elu, 1.0),
        (tf.nn.selu, 1.0507),
        (tf.nn.gelu, 0.5),
        (tf.nn.silu, 0.5),
    ],
)
def test_slopes_at_zero_are_those_of_tensorflow(function, slope):
    np.testing.assert_allclose(gradient(function, tf.constant([0.0])), [slope], rtol=1e-4)


def test_channels_may_come_first():
    x, w = RNG.normal(size=(2, 5, 5, 3)), RNG.normal(size=(3, 3, 3, 4))
    last = tf.nn.conv2d(x, w, 2, "SAME")
    first = tf.nn.conv2d(np.moveaxis(x, -1, 1), w, 2, "SAME", data_format="NCHW")
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, rtol=1e-12)


def test_a_transposed_convolution_is_the_adjoint():
    x, w = tf.constant(RNG.normal(size=(1, 5, 5, 2))), RNG.normal(size=(3, 3, 2, 3))
    y = RNG.normal(size=(1, 3, 3, 3))
    back = gradient(lambda x: tf.reduce_sum(tf.nn.conv2d(x, w, 2, "SAME") * y), x)
    layer = tf.nn.conv2d_transpose(y, w, (1, 5, 5, 2), 2, "SAME")
    np.testing.assert_allclose(layer, back, rtol=1e-12)


def test_a_depthwise_convolution_convolves_each_channel():
    x, w = RNG.normal(size=(1, 4, 4, 2)), RNG.normal(size=(2, 2, 2, 3))
    whole = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
    parts = [tf.nn.conv2d(x[..., k : k + 1], w[:, :, k : k + 1], 1, "VALID") for k in range(2)]
    np.testing.assert_allclose(whole, np.concatenate(parts, -1), rtol=1e-12)


def test_average_pools_exclude_the_padding():
    out = tf.nn.avg_pool2d(tf.ones((1, 3, 3, 1)), 2, 2, "SAME")
    np.testing.assert_array_equal(out, np.ones((1, 2, 2, 1)))


def test_the_first_of_equal_maxima_gets_the_gradient():
    got = gradient(lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.ones((1, 2, 2, 1)))
    assert got.ravel().tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.nn.conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 2, 1)), 1, "VALID"),
        lambda: tf.nn.conv2d(tf.ones((1, 4, 4, 1)), tf.ones((2, 2, 1, 1)), 1, "FULL"),
        lambda: tf.nn.conv2d(tf.ones((4, 4, 1)), tf.ones((2, 2, 1, 1)), 1, "VALID"),
        lambda: tf.nn.softmax(tf.constant([1, 2])),
        lambda: tf.nn.softmax(1.0),
        lambda: tf.nn.bias_add(tf.ones((2, 3)), tf.ones(2)),
    ],
)
def test_invalid_arguments_raise(call):
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()


def test_moments_of_half_precision_are_computed_in_float32():
    x = tf.constant(np.full((4096, 1), 1.0), tf.float16)
    mean, variance = tf.nn.moments(x, [0])
    assert mean.dtype == tf.float16
    assert float(mean[0]) == 1
    assert float(variance[0]) == 0


def test_embeddings_are_scaled_down_to_the_norm():
    table = tf.constant([[3.0, 4.0], [0.3, 0.4]])
    rows = tf.nn.embedding_lookup(table, [0, 1], max_norm=1.0)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_pixels_move_into_channels_and_back():
    x = tf.reshape(tf.range(32.0), (1, 4, 4, 2))
    deep = tf.nn.space_to_depth(x, 2)
    assert deep.shape == (1, 2, 2, 8)
    np.testing.assert_array_equal(tf.nn.depth_to_space(deep, 2), x)
    moved = tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]])
    np.testing.assert_array_equal(tf.batch_to_space(moved, [2, 2], [[0, 0], [0, 0]]), x)


@pytest.mark.parametrize("n", [5, 6])
def test_real_transforms_invert_each_other(n):
    x = RNG.normal(size=(2, n))
    signals = tf.constant(x)
    np.testing.assert_allclose(tf.signal.irfft(tf.signal.rfft(signals), [n]), x, rtol=1e-10)
    np.testing.assert_allclose(tf.signal.rfft2d(signals), np.fft.rfft2(x), rtol=1e-10)
    got = gradient(lambda x: tf.abs(tf.signal.rfft(x)) ** 2, signals)
    spectrum = np.pad(np.conj(np.fft.rfft(x)), ((0, 0), (0, n - n // 2 - 1)))
    np.testing.assert_allclose(got, 2 * np.real(np.fft.fft(spectrum)), rtol=1e-10)
