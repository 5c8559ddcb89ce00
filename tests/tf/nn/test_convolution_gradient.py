"""Gradient functions of convolutions agree with the gradients of the tape."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(4)
X, W = RNG.normal(size=(2, 6, 5, 2)), RNG.normal(size=(3, 2, 2, 3))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("first", [False, True])
def test_backprop_functions_agree_with_the_tape(padding, stride, first):
    form = "NCHW" if first else "NHWC"
    strides = [1, 1, stride, stride] if first else [1, stride, stride, 1]
    x = tf.constant(np.moveaxis(X, -1, 1) if first else X)
    w = tf.constant(W)
    for op, back_input, back_filter, plain in (
        (
            tf.nn.depthwise_conv2d,
            tf.nn.depthwise_conv2d_backprop_input,
            tf.nn.depthwise_conv2d_backprop_filter,
            True,
        ),
        (tf.nn.conv2d, tf.conv2d_backprop_input_v2, tf.conv2d_backprop_filter_v2, False),
    ):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = op(x, w, strides, padding, form)
        g = tf.constant(RNG.normal(size=y.shape))
        dx, dw = tape.gradient(y, [x, w], g)
        shapes = (x.shape, w.shape) if plain else (x, w)
        wanted = {"strides": strides, "padding": padding, "data_format": form}
        np.testing.assert_allclose(back_input(shapes[0], w, g, **wanted), dx, atol=1e-12)
        np.testing.assert_allclose(back_filter(x, shapes[1], g, **wanted), dw, atol=1e-12)


def test_atrous_conv2d_transpose_is_the_adjoint():
    x, w = tf.constant(X), tf.constant(W)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.atrous_conv2d(x, w, 2, "VALID")
    g = RNG.normal(size=y.shape)
    got = tf.nn.atrous_conv2d_transpose(g, w, X.shape, 2, "VALID")
    np.testing.assert_allclose(got, tape.gradient(y, x, tf.constant(g)), atol=1e-12)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_with_space_to_batch_agrees_with_a_dilated_convolution(padding):
    def op(parts, n, how):
        assert (n, how) == (2, "VALID")
        return tf.nn.conv2d(parts, W, 1, how)

    got = tf.nn.with_space_to_batch(X, [2, 2], padding, op, filter_shape=[3, 2])
    np.testing.assert_allclose(got, tf.nn.conv2d(X, W, 1, padding, dilations=2), atol=1e-12)


def test_required_paddings_make_sizes_divisible():
    pads, crops = tf.required_space_to_batch_paddings([5, 7], [2, 3])
    np.testing.assert_array_equal(pads, [[0, 1], [0, 2]])
    np.testing.assert_array_equal(crops, [[0, 1], [0, 2]])
    pads, crops = tf.required_space_to_batch_paddings([5, 7], [2, 3], [[1, 0], [0, 2]])
    np.testing.assert_array_equal(pads, [[1, 0], [0, 2]])
    np.testing.assert_array_equal(crops, [[0, 0], [0, 0]])


def test_the_general_convolution_takes_its_axes_from_the_filter():
    np.testing.assert_allclose(
        tf.conv(X, W, [1, 1, 1, 1], "SAME"), tf.nn.conv2d(X, W, 1, "SAME"), atol=1e-12
    )
