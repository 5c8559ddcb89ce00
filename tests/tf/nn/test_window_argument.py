"""Invalid window arguments of convolutions and pools raise TensorFlow's exception classes."""

import numpy as np
import pytest

import gradtape as tf

INVALID = tf.errors.InvalidArgumentError
UNIMPLEMENTED = tf.errors.UnimplementedError

X = np.ones((1, 4, 4, 2), np.float32)
W = np.ones((2, 2, 2, 3), np.float32)
PAIRS = [[0, 0], [1, 0], [0, 1], [0, 0]]
VOLUME, CUBE = np.ones((1, 3, 3, 3, 2), np.float32), np.ones((2, 2, 2, 2, 1), np.float32)

RAISES = {
    "padding in lower case": (lambda: tf.nn.conv2d(X, W, 1, "same"), INVALID),
    "a stride of the batch": (lambda: tf.nn.conv2d(X, W, [2, 1, 1, 1], "SAME"), UNIMPLEMENTED),
    "a dilation of channels": (
        lambda: tf.nn.conv2d(X, W, 1, "SAME", dilations=[1, 2, 2, 2]),
        UNIMPLEMENTED,
    ),
    "a stride of a volume's batch": (
        lambda: tf.nn.conv3d(VOLUME, CUBE, [2, 1, 1, 1, 1], "SAME"),
        INVALID,
    ),
    "too few strides of a volume": (lambda: tf.nn.conv3d(VOLUME, CUBE, [1, 1], "SAME"), INVALID),
    "groups of a volume": (lambda: tf.nn.conv3d(VOLUME, CUBE[..., :1, :], 1, "SAME"), INVALID),
    "padding of the batch": (lambda: tf.nn.conv2d(X, W, 1, [[1, 0], *PAIRS[1:]]), INVALID),
    "negative padding": (lambda: tf.nn.conv2d(X, W, 1, [[0, 0], [-1, 0], *PAIRS[2:]]), INVALID),
    "three pairs of padding": (lambda: tf.nn.conv2d(X, W, 1, PAIRS[1:]), INVALID),
    "a window twice too large": (lambda: tf.nn.max_pool2d(X, 7, 1, "VALID"), INVALID),
    "an empty filter": (lambda: tf.nn.conv2d(X, W[:0], 1, "VALID"), INVALID),
    "int8": (lambda: tf.nn.conv2d(X.astype(np.int8), W.astype(np.int8), 1, "VALID"), INVALID),
    "integers depthwise": (
        lambda: tf.nn.depthwise_conv2d(X.astype(int), W.astype(int), [1, 1, 1, 1], "SAME"),
        INVALID,
    ),
    "unequal strides depthwise": (
        lambda: tf.nn.depthwise_conv2d(X, W, [1, 1, 2, 1], "SAME"),
        INVALID,
    ),
    "another batch in output_shape": (
        lambda: tf.nn.conv2d_transpose(X, W.transpose(0, 1, 3, 2), [2, 4, 4, 3], 1),
        INVALID,
    ),
    "other channels in output_shape": (
        lambda: tf.nn.conv2d_transpose(X, W.transpose(0, 1, 3, 2), [1, 4, 4, 5], 1),
        INVALID,
    ),
    "an output_shape of three": (
        lambda: tf.nn.conv2d_transpose(X, W.transpose(0, 1, 3, 2), [1, 4, 4], 1),
        INVALID,
    ),
    "padding as large as the pool": (
        lambda: tf.nn.max_pool2d(X, 2, 2, [[0, 0], [2, 0], [0, 0], [0, 0]]),
        INVALID,
    ),
    "a pool over channels": (lambda: tf.nn.avg_pool2d(X, [1, 2, 2, 2], 1, "SAME"), UNIMPLEMENTED),
    "strides beyond the window": (lambda: tf.nn.pool(X, [1, 1], "MAX", [2, 2]), ValueError),
    "strides and dilations": (
        lambda: tf.nn.pool(X, [2, 2], "MAX", [2, 2], dilations=[2, 2]),
        ValueError,
    ),
    "SAME and dilations": (
        lambda: tf.nn.pool(X, [2, 2], "AVG", padding="SAME", dilations=[2, 2]),
        ValueError,
    ),
    "another rank than the window's": (lambda: tf.nn.pool(X, [2], "MAX"), ValueError),
    "one dilation for two axes": (lambda: tf.nn.pool(X, [2, 2], "MAX", dilations=[2]), ValueError),
    "patches over the batch": (
        lambda: tf.image.extract_patches(X, [2, 2, 2, 1], [1] * 4, [1] * 4, "SAME"),
        UNIMPLEMENTED,
    ),
    "patches with a stride of zero": (
        lambda: tf.image.extract_patches(X, [1, 2, 2, 1], [1, 0, 1, 1], [1] * 4, "SAME"),
        tf.errors.OutOfRangeError,
    ),
    "patches with too few strides": (
        lambda: tf.image.extract_patches(X, [1, 2, 2, 1], [1, 1, 1], [1] * 4, "SAME"),
        INVALID,
    ),
}


@pytest.mark.parametrize("what", RAISES)
def test_invalid_arguments_raise(what):
    call, kind = RAISES[what]
    with pytest.raises(kind):
        call()


def test_pools_ignore_the_stride_of_the_channels():
    got = tf.nn.max_pool2d(X, [1, 2, 2, 1], [1, 2, 2, 5], "VALID")
    assert got.shape == (1, 2, 2, 2)


@pytest.mark.parametrize("shape", [(0, 4, 4, 2), (1, 4, 4, 0)])
def test_an_empty_convolution_is_zero_and_so_are_its_gradients(shape):
    x, w = tf.zeros(shape), tf.constant(W[:, :, : shape[-1] or 1])
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "VALID")
    assert y.shape == (shape[0], 3, 3, 3)
    dx, dw = tape.gradient(y, [x, w])
    assert dx.shape == x.shape
    np.testing.assert_array_equal(dw, np.zeros(w.shape))
