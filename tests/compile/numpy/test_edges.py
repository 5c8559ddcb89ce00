"""Edges of plans: empty arrays and no axes. Every call gives the eager result."""

import numpy as np
import pytest

import gradtape as tf

CASES = {
    "sum over no axes": (lambda x: tf.reduce_sum(x, axis=[]), [3]),
    "sum over no axes, kept": (lambda x: tf.reduce_sum(x, axis=[], keepdims=True), [3]),
    "mean over no axes": (lambda x: tf.reduce_mean(x, axis=[]), [2, 3]),
    "norm over no axes": (lambda x: tf.math.reduce_euclidean_norm(x, axis=[]), [3]),
    "maximum over no axes": (lambda x: tf.reduce_max(x, axis=[]), [3]),
    "reshape to a row": (lambda x: tf.reshape(x, [1, -1]), [0, 3]),
    "reshape of a row": (lambda x: tf.reshape(x, [1, 0]), [1, 0]),
    "reshape like a transposition": (lambda x: tf.reshape(x, [1, 0]) + 1.0, [0, 7]),
    "transposition": (lambda x: tf.transpose(x, [1, 0]), [0, 3]),
    "stitch": (lambda x: tf.dynamic_stitch([[0, 2], [1]], [tf.stack([x, x]), x[None]]), [0]),
    "stitch of no indices": (lambda x: tf.dynamic_stitch([[0], []], [x[None], x[None][:0]]), [0]),
    "repeat": (lambda x: tf.repeat(x, [], axis=0), [0, 2]),
    "rfft": (tf.signal.rfft, [2, 0]),
    "rfft2d": (tf.signal.rfft2d, [2, 3, 0]),
    "irfft": (lambda x: tf.signal.irfft(tf.cast(x, tf.complex64)), [2, 0]),
    "dct": (tf.signal.dct, [2, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_calls_equal_eager_results(name):
    run, shape = CASES[name]
    x = tf.constant(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    expected = run(x)
    compiled = tf.function(run)
    for _ in range(3):
        out = compiled(x)
        assert (out.shape, out.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(out, expected)


def test_repeat_needs_integers():
    with pytest.raises(TypeError, match="integer dtype"):
        tf.repeat([1.0], [2.0])


@pytest.mark.parametrize("use", ["gather", "read"])
def test_the_gradient_through_unstack_is_dense(use):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
            y = array.gather([2, 0]) if use == "gather" else array.read(2)
        return tape.gradient(y, x)

    expected = [1.0, 0.0, 1.0] if use == "gather" else [0.0, 0.0, 1.0]
    compiled = tf.function(slope)
    for run in (slope, compiled, compiled):
        out = run(tf.constant([1.0, 2.0, 3.0]))
        assert isinstance(out, tf.Tensor)
        assert out.numpy().tolist() == expected


def test_an_array_without_a_size_is_an_error_in_functions_too():
    with pytest.raises(ValueError, match="Size must be declared"):
        tf.function(lambda x: tf.TensorArray(tf.float32).unstack(x).stack())(tf.ones(3))
