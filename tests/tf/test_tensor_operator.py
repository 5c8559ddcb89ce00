"""Operators: dtypes, Python operands, and operands of other classes."""

import numpy as np
import pytest

import gradtape as tf

F, N, B = tf.constant([1.0, 2.0]), tf.constant([1, 2]), tf.constant([True, False])


@pytest.mark.parametrize("other", [2, 2.0, np.float64(2), np.array([2.0, 2.0]), [2, 2], True])
def test_python_and_numpy_operands_take_the_dtype_of_the_tensor(other):
    for out in (F + other, other + F, F * other, other - F, F / other):
        assert out.dtype == tf.float32


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (lambda: F + N, tf.errors.InvalidArgumentError),
        (lambda: N + 1.5, tf.errors.InvalidArgumentError),
        (lambda: 1.5 + N, TypeError),
        (lambda: N * 1.5, TypeError),
        (lambda: F / N, TypeError),
        (lambda: F + None, ValueError),
        (lambda: B + B, tf.errors.InvalidArgumentError),
        (lambda: F & F, tf.errors.InvalidArgumentError),
        (lambda: B & 1, TypeError),
        (lambda: F < "a", TypeError),
        (lambda: N // 0, tf.errors.InvalidArgumentError),
        (lambda: N % tf.constant([0, 1]), tf.errors.InvalidArgumentError),
        (lambda: N**-1, tf.errors.InvalidArgumentError),
        (lambda: F + tf.constant([1.0, 2.0, 3.0]), tf.errors.InvalidArgumentError),
    ],
)
def test_operands_that_do_not_match_raise_tensorflows_error(operation, error):
    with pytest.raises(error):
        operation()


def test_integers_divide_into_floats_that_hold_them():
    assert (N / N).dtype == tf.float64
    assert (tf.constant([1], tf.int8) / tf.constant([2], tf.int8)).dtype == tf.float32
    assert (2 / N).numpy().tolist() == [2, 1]


def test_python_integers_wrap_around_in_narrow_tensors():
    assert (tf.constant([1], tf.uint8) + 300).numpy().tolist() == [45]
    assert (tf.constant([1], tf.uint8) - 5).numpy().tolist() == [252]


def test_strings_are_joined():
    s = tf.constant(["a", "b"])
    assert (s + "z").numpy().tolist() == [b"az", b"bz"]
    assert ("z" + tf.constant("a")).numpy() == b"za"


def test_logical_operators_of_bools_and_bitwise_operators_of_integers():
    assert (B & True).numpy().tolist() == [True, False]
    assert (B * B).numpy().tolist() == [True, False]
    assert (N | 4).numpy().tolist() == [5, 6]
    assert (~N).numpy().tolist() == [-2, -3]


def test_none_and_other_shapes_compare_as_unequal():
    assert (F == None) is False  # noqa: E711 - this tests the operator
    assert (F != None) is True  # noqa: E711 - this tests the operator
    assert not bool(tf.constant([1.0, 2.0, 3.0]) == F)
    assert bool(tf.constant([1.0, 2.0, 3.0]) != F)


def test_the_right_operands_reflected_method_is_the_fallback():
    class Other:
        def __radd__(self, left):
            return "reflected"

    assert F + Other() == "reflected"


def test_a_python_base_has_a_gradient_for_its_exponent():
    with tf.GradientTape() as tape:
        tape.watch(F)
        y = 2.0**F
    g = tape.gradient(y, F)
    assert g.dtype == tf.float32
    np.testing.assert_allclose(g.numpy(), np.log(2) * np.array([2, 4]), rtol=1e-6)
