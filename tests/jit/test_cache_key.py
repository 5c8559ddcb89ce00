"""One cache for all ways to pass arguments: keywords, variables, NumPy arrays, structures."""

import collections
import gc

import numpy as np
import pytest

import gradtape as tf

Pair = collections.namedtuple("Pair", "second first")


def scalar(x):
    return tf.constant(float(x))


@pytest.mark.parametrize("first", ["captured", "other"])
def test_a_captured_variable_may_be_an_argument_too(first):
    v, w = tf.Variable(1.0), tf.Variable(5.0)

    @tf.function
    def f(a):
        a.assign_add(1.0)
        v.assign_add(10.0)

    order = (v, w, v, w, v) if first == "captured" else (w, v, w, v, w)
    expected_v, expected_w = 1.0, 5.0
    for argument in order:
        f(argument)
        expected_v += 11.0 if argument is v else 10.0
        expected_w += 1.0 if argument is w else 0.0
        assert (float(v), float(w)) == (expected_v, expected_w)
    assert f.experimental_get_tracing_count() == 2


def test_variables_that_are_not_captured_share_a_trace():
    @tf.function
    def f(a, b):
        a.assign_add(1.0)
        b.assign_add(10.0)
        return a + b

    p, q = tf.Variable(0.0), tf.Variable(0.0)
    for _ in range(3):
        f(p, q)
        f(q, p)
    assert (float(p), float(q)) == (33.0, 33.0)
    assert f.experimental_get_tracing_count() == 1
    f(p, p)
    assert float(p) == 44.0
    assert f.experimental_get_tracing_count() == 2


def test_gradients_of_variable_arguments():
    @tf.function
    def f(a):
        with tf.GradientTape() as tape:
            y = a * a
        return tape.gradient(y, a)

    for value in (3.0, 4.0, 5.0):
        assert float(f(tf.Variable(value))) == 2 * value
    assert f.experimental_get_tracing_count() == 1


def test_keywords_in_any_order():
    @tf.function
    def f(b, a, *, z=1.0, y):
        return b * 100 + a * 10 + y * z

    for _ in range(3):
        assert float(f(scalar(1), scalar(2), y=scalar(3))) == 123.0
        assert float(f(a=scalar(2), b=scalar(1), y=scalar(3))) == 123.0
        assert float(f(y=scalar(3), b=scalar(1), a=scalar(2))) == 123.0
        assert float(f(scalar(1), y=scalar(3), a=scalar(2), z=2.0)) == 126.0
    assert f.experimental_get_tracing_count() == 2


def test_keywords_that_are_no_parameters():
    f = tf.function(lambda x, **more: x + more["b"] * 10 + more["a"] * 100)
    for _ in range(3):
        assert float(f(scalar(1), b=scalar(2), a=scalar(3))) == 321.0
        assert float(f(a=scalar(3), x=scalar(1), b=scalar(2))) == 321.0
    assert f.experimental_get_tracing_count() == 1


def test_values_that_input_signature_converts_are_not_confused_with_others():
    f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.float32)])
    for n in (1, 2, 1, 3):
        expected = [2.0] * n
        assert f(tf.ones([n])).numpy().tolist() == expected
        assert f([1.0] * n).numpy().tolist() == expected
        assert f(np.ones(n, np.float32)).numpy().tolist() == expected
        assert f(np.ones(n)).numpy().tolist() == expected
        assert f(x=tf.ones([n])).numpy().tolist() == expected
        with pytest.raises(TypeError):
            f(tf.ones([n], tf.int32))


def test_arrays_and_python_values():
    f = tf.function(lambda x, k: x * k)
    for k in (2, 3.0, True, 2, 3.0, True):
        assert f(np.ones(2, np.float32), k).numpy().tolist() == [float(k)] * 2
    assert f.experimental_get_tracing_count() == 3


def test_an_array_is_copied():
    f = tf.function(lambda x: x)
    for _ in range(3):
        array = np.ones(2, np.float32)
        result = f(array)
        array[0] = 5.0
        assert result.numpy().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", [">f4", np.longdouble, np.float16, np.uint64, "U1"])
def test_arrays_of_unusual_dtypes(dtype):
    f = tf.function(lambda x: tf.identity(x))
    try:
        expected = tf.constant(np.array([1, 2]).astype(dtype))
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            f(np.array([1, 2]).astype(dtype))
        return
    for _ in range(3):
        result = f(np.array([1, 2]).astype(dtype))
        assert result.dtype == expected.dtype
        assert result.numpy().tolist() == expected.numpy().tolist()


def test_structures():
    f = tf.function(lambda m: m["a"].second * 10 + m["a"].first + m["b"][0])
    for k in range(4):
        assert float(f({"b": [scalar(k)], "a": Pair(scalar(1), scalar(2))})) == 12.0 + k
    assert f.experimental_get_tracing_count() == 1


def test_a_deleted_object_takes_its_trace_with_it():
    class Scale:
        def __init__(self, k):
            self.k = k

    f = tf.function(lambda scale, x: x * scale.k)
    two, three = Scale(2.0), Scale(3.0)
    for _ in range(3):
        assert float(f(two, scalar(1))) == 2.0
        assert float(f(three, x=scalar(1))) == 3.0
    del three
    gc.collect()
    assert len(f.list_specializations()) == 1


def test_a_signature_in_use_is_not_dropped():
    f = tf.function(lambda x, k: x * k)
    x = scalar(1)
    for k in range(300):
        f(x, -1.0)
        f(x, k)
    assert f.experimental_get_tracing_count() == 301


def test_default_tensors():
    three = scalar(3)
    f = tf.function(lambda x, y=three: x * y)
    for _ in range(3):
        assert float(f(scalar(2))) == 6.0
        assert float(f(scalar(2), scalar(4))) == 8.0
        assert float(f(x=scalar(2))) == 6.0
