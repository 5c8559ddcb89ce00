"""Python functions called like ops: their gradients, results and errors."""

import numpy as np
import pytest

import gradtape as tf


def test_gradients_flow_to_the_arguments_and_to_nothing_else():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.py_function(lambda a: a * a * x, [x], tf.float32)
        several = tf.py_function(lambda a: [a * a, a * 5.0], [x], [tf.float32, tf.float32])
    assert float(tape.gradient(y, x)) == 18.0  # not 27: the `x` inside does not count
    assert float(tape.gradient(several, x)) == 11.0


def test_a_numpy_function_has_no_gradient_and_its_own_dtypes():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.numpy_function(lambda a: a.astype(np.float64) * 2, [x], tf.float32)
    assert y.dtype == tf.float64
    assert tape.gradient(y, x) is None
    assert tf.numpy_function(lambda: None, [], []) is None
    assert [int(t) for t in tf.numpy_function(lambda: (1, 2), [], [tf.int32] * 2)] == [1, 2]


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (TypeError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError),
        (MemoryError, tf.errors.ResourceExhaustedError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (KeyError, tf.errors.UnknownError),
    ],
)
def test_an_exception_in_a_py_function_comes_out_as(raised, kind):
    def fails(a):
        raise raised("why")

    with pytest.raises(kind, match="why"):
        tf.py_function(fails, [1.0], tf.float32)
    with pytest.raises(raised, match="why"):
        tf.numpy_function(fails, [1.0], tf.float32)


def test_results_are_what_tout_says():
    assert tf.py_function(lambda: 3, [], tf.float32).dtype == tf.float32
    assert tf.py_function(lambda a: None, [1.0], []) == []
    assert float(tf.py_function(lambda a: a, [1.0], tf.TensorSpec([], tf.float32))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 values"):
        tf.py_function(lambda a: a, [1.0], [tf.float32, tf.float32])
    with pytest.raises(TypeError, match="Tout"):
        tf.py_function(lambda a: a, [1.0])
    with pytest.raises(ValueError, match="callable"):
        tf.py_function(3, [1.0], tf.float32)


def test_both_decorate():
    @tf.py_function(Tout=tf.float32)
    def double(a):
        return a * 2.0

    @tf.numpy_function(Tout=tf.float32)
    def triple(a):
        return a * np.float32(3.0)

    assert float(double(2.0)) == 4.0
    assert float(triple(tf.constant(2.0))) == 6.0
