"""Values and gradients at special points where TensorFlow has its own conventions."""

import numpy as np
import pytest

import gradtape as tf

NAN, INF = float("nan"), float("inf")


def gradients(function, *values):
    tensors = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        out = function(*tensors)
    return [None if g is None else g.numpy() for g in tape.gradient(out, tensors)]


def test_ties_of_maximum_go_to_the_first_operand_and_nan_to_the_second():
    a, b = gradients(tf.maximum, [1.0, 2.0, NAN, 1.0], [1.0, 1.0, 1.0, NAN])
    np.testing.assert_array_equal(a, [1, 1, 0, 0])
    np.testing.assert_array_equal(b, [0, 0, 1, 1])


def test_floordiv_is_a_step_function_without_gradient():
    assert gradients(tf.math.floordiv, [7.0], [2.0]) == [None, None]
    assert (tf.constant(1.0) // tf.constant(0.1)).numpy() == 10


def test_floormod_has_the_gradient_of_its_formula():
    a, b = gradients(tf.math.floormod, [7.0, -7.0], [3.0, 3.0])
    np.testing.assert_array_equal(a, [1, 1])
    np.testing.assert_array_equal(b, [-2, 3])


def test_power_treats_the_logarithm_of_a_nonpositive_base_as_zero():
    x, y = gradients(tf.pow, [0.0, -1.0, 2.0], [2.0, 2.0, 3.0])
    np.testing.assert_allclose(x, [0, -2, 12])
    np.testing.assert_allclose(y, [0, 0, 8 * np.log(2)], rtol=1e-6)


@pytest.mark.parametrize("exponent", [2, 2.0])
def test_squares_have_the_gradient_of_powers(exponent):
    (g,) = gradients(lambda x: x**exponent, [-3.0, 0.0, 2.0])
    np.testing.assert_array_equal(g, [-6, 0, 4])


@pytest.mark.parametrize(
    ("function", "values", "slopes"),
    [
        (tf.sigmoid, [NAN, 1, 0, 0.5], [NAN, 0, 0, 0.25]),
        (tf.math.softplus, [NAN, INF, 0, np.log(2)], [NAN, 1, 0, 0.5]),
        (tf.math.log_sigmoid, [NAN, 0, -INF, -np.log(2)], [NAN, 0, 1, 0.5]),
        (tf.math.softsign, [NAN, NAN, NAN, 0], [NAN, 0, 0, 1]),
        (tf.abs, [NAN, INF, INF, 0], [NAN, 1, -1, 0]),
    ],
)
def test_activations_at_nan_infinity_and_zero(function, values, slopes):
    x = [NAN, INF, -INF, 0.0]
    np.testing.assert_allclose(function(x).numpy(), values, rtol=1e-6)
    np.testing.assert_allclose(gradients(function, x)[0], slopes)


def test_softplus_is_accurate_on_large_arrays():
    x = np.linspace(-80, 80, 8192).astype(np.float32)
    want = np.logaddexp(x.astype(np.float64), 0)
    np.testing.assert_allclose(tf.math.softplus(x).numpy(), want, rtol=1e-6)


@pytest.mark.parametrize("step", [tf.round, tf.floor, tf.math.ceil, tf.math.rint])
def test_rounding_has_no_gradient(step):
    assert gradients(step, [1.5]) == [None]


def test_halves_round_to_even():
    np.testing.assert_array_equal(tf.round([0.5, 1.5, 2.5, -0.5]).numpy(), [0, 2, 2, 0])


def test_a_zero_factor_gives_zero_even_if_the_other_is_undefined():
    np.testing.assert_array_equal(tf.math.xlogy([0.0, 0.0], [0.0, NAN]).numpy(), [0, 0])
    np.testing.assert_array_equal(tf.math.multiply_no_nan([NAN, INF], [0.0, 0.0]).numpy(), [0, 0])
    np.testing.assert_array_equal(tf.math.divide_no_nan([1.0, NAN], [0.0, 0.0]).numpy(), [0, 0])
    assert tf.math.reciprocal_no_nan(0.0).numpy() == 0


def test_infinite_parts_of_complex_numbers_give_no_nan():
    z = tf.complex(1.0, INF).numpy()
    assert (z.real, z.imag) == (1, INF)


@pytest.mark.parametrize(
    ("root", "slope"), [(tf.sqrt, INF), (tf.math.rsqrt, -INF), (tf.math.reciprocal, -INF)]
)
def test_an_infinite_slope_times_a_zero_cotangent_is_zero(root, slope):
    (g,) = gradients(lambda x: root(x) * [0.0, 1.0], [0.0, 0.0])
    np.testing.assert_array_equal(g, [0.0, slope])
    (g,) = gradients(lambda x: root(x) * 0.0, 0.0)
    assert g == 0


@pytest.mark.parametrize("shape", [(7,), (8192,), (5, 1023), (3, 5000), (600, 256)], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_relu_and_its_gradient_for_arrays_of_any_length(shape, order):
    x = np.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32), order=order)
    special = [NAN, -NAN, INF, -INF, 0.0, -0.0]
    x[(0,) * (x.ndim - 1)][:6] = special
    x[(-1,) * (x.ndim - 1)][-1:] = -1
    (slope,) = gradients(tf.nn.relu, x)
    np.testing.assert_array_equal(tf.nn.relu(x), np.where(np.isnan(x), x, np.maximum(x, 0)))
    np.testing.assert_array_equal(slope, x > 0)
    endless = tf.constant(np.full(shape, INF, np.float32))
    with tf.GradientTape() as tape:
        y = tf.nn.relu(source := tf.Variable(x))
    back = tape.gradient(y, source, output_gradients=endless)
    np.testing.assert_array_equal(back, np.where(x > 0, INF, 0))
