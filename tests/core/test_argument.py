"""Checks of arguments that are no tensors."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import argument


@pytest.mark.parametrize(
    "value", [3, np.int8(3), True, tf.constant(3), tf.Variable(3), np.array(3)]
)
def test_integers_are_indices(value):
    assert argument.as_index(value, "n") == argument.as_integer(value, "n") == int(value)


@pytest.mark.parametrize("value", [None, "3", b"3", [3], object(), 1j, tf.ones(2), float("nan")])
def test_other_values_are_no_integers(value):
    for convert in (argument.as_index, argument.as_integer):
        with pytest.raises(TypeError, match=r"^n must be an integer\. Received "):
            convert(value, "n")


def test_floats_are_truncated_but_are_no_indices():
    assert argument.as_integer(2.5, "n") == 2
    with pytest.raises(TypeError, match="n must be an integer"):
        argument.as_index(2.5, "n")


def test_a_traced_integer_is_read():
    function = tf.function(lambda n: tf.zeros(argument.as_index(n, "n")))
    assert [function(tf.constant(n)).shape for n in (2, 3, 2)] == [(2,), (3,), (2,)]


def test_real_numbers_become_floats():
    assert argument.as_real(tf.constant(1.5), "x") == 1.5
    for value in ("1.5", None, [1.5], 1j):
        with pytest.raises(TypeError, match="x must be a real number"):
            argument.as_real(value, "x")


def test_sequences_become_lists():
    assert argument.as_sequence((1, 2), "xs") == [1, 2]
    assert argument.as_sequence(iter("ab"), "xs") == ["a", "b"]
    for value in (3, "ab", b"ab", None, tf.constant(1)):
        with pytest.raises(TypeError, match="xs must be a list or tuple"):
            argument.as_sequence(value, "xs")


def test_arrays_are_rectangular_and_finite():
    assert argument.as_host_array([[1, 2]], "x").tolist() == [[1, 2]]
    loop = []
    loop.extend([loop, loop])
    for value, text in (([[1], [2, 3]], "does not convert"), (loop, "contains itself")):
        with pytest.raises(ValueError, match=f"^x {text}"):
            argument.as_host_array(value, "x")


def test_functions_strings_numbers_and_instances_are_checked():
    argument.check_callable(len, "f")
    argument.check_text("a", "s")
    argument.check_instance({}, dict, "d")
    for number in (1, 2.0, np.float32(3), tf.constant(1.0), tf.Variable(1.0), np.ones(2)):
        argument.check_number(number, "x")
    for check in (argument.check_callable, argument.check_text, argument.check_number):
        with pytest.raises(TypeError, match=r"^it must be .* Received None\.$"):
            check(None, "it")
    with pytest.raises(TypeError, match="d must be a dict"):
        argument.check_instance([], dict, "d")
