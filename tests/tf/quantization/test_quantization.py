"""tf.quantization against results of TensorFlow 2.21."""

import numpy as np
import pytest

import gradtape as tf

X = tf.constant([[-7.0, 0.1], [3.3, 9.0]])


def gradients(function, *args):
    args = [tf.constant(arg) for arg in args]
    with tf.GradientTape() as tape:
        tape.watch(args)
        out = function(*args)
    return [g.numpy().tolist() for g in tape.gradient(out, args)]


def test_values_are_clipped_and_rounded_to_steps():
    coarse = tf.quantization.fake_quant_with_min_max_args([-9.0, 0.1, 5.0], num_bits=2)
    assert coarse.numpy().tolist() == [-8, 0, 4]
    fine = tf.quantization.fake_quant_with_min_max_vars(X, -3.0, 4.0, num_bits=4)
    np.testing.assert_allclose(fine, [[-2.8, 0], [3.2666667, 4.2]], rtol=1e-6)
    assert not tf.quantization.fake_quant_with_min_max_vars(X, 0.0, 0.0).numpy().any()


def test_bounds_get_the_cotangents_beyond_them():
    quantize = tf.quantization.fake_quant_with_min_max_vars
    assert gradients(quantize, X, -3.0, 4.0) == [[[0, 1], [1, 0]], 1, 1]
    quantize = tf.quantization.fake_quant_with_min_max_vars_per_channel
    found = gradients(quantize, X, [-3.0, -1.0], [4.0, 2.0])
    assert found == [[[0, 1], [1, 0]], [1, 0], [0, 1]]
    named = tf.quantization.fake_quant_with_min_max_vars_gradient(2 * X, X, -3.0, 4.0)
    assert named.backprop_wrt_max == 18


def test_the_round_trip_uses_the_range():
    given = tf.quantization.quantize_and_dequantize_v2(X, -3.0, 4.0, num_bits=4, range_given=True)
    np.testing.assert_allclose(given, [[-4.571429, 0], [3.4285717, 4]], rtol=1e-6)
    own = tf.quantization.quantize_and_dequantize(X, 0.0, 0.0, num_bits=4)
    step = 9 / 7
    np.testing.assert_allclose(own, np.round(X.numpy() / step) * step, rtol=1e-6)


def test_gradients_of_the_round_trip():
    inside = [[0, 1], [1, 0]]
    first = lambda x: tf.quantization.quantize_and_dequantize_v2(x, -3.0, 4.0)  # noqa: E731
    assert gradients(first, X) == [inside]
    second = lambda x: tf.quantization.quantize_and_dequantize(x, -3.0, 4.0)  # noqa: E731
    assert gradients(tf.function(second), X) == [[[1, 1], [1, 1]]]


@pytest.mark.parametrize(
    "call",
    [
        lambda q: q.fake_quant_with_min_max_args(X, 4.0, -3.0),
        lambda q: q.fake_quant_with_min_max_args(X, num_bits=17),
        lambda q: q.fake_quant_with_min_max_vars(X, [0.0], 1.0),
        lambda q: q.fake_quant_with_min_max_vars_per_channel(X, [0.0], [1.0]),
        lambda q: q.quantize_and_dequantize_v2(X, 4.0, -3.0, range_given=True),
        lambda q: q.quantize_and_dequantize_v2(X, -4.0, 3.0, round_mode="x"),
        lambda q: q.quantize_and_dequantize_v2(X, -4.0, 3.0, axis=5),
    ],
)
def test_settings_that_do_not_exist(call):
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(tf.quantization)
