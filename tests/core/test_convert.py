"""Conversion to tensors: inferred dtypes, and values that are refused."""

import collections

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.convert import CONVERSIONS


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, "float32"),
        (2**31, "int64"),
        ([1, 2**40], "int64"),
        ([1, 2.5], "float32"),
        ([1, True], "int32"),
        ([], "float32"),
        (1j, "complex128"),
        ("a", "string"),
        (np.float64(1), "float64"),
        ([np.float64(1), 2], "float64"),
        ([1.0, np.float64(2)], "float32"),
        ([np.int64(1)], "int32"),
        ([np.array([1.0]), [2]], "float64"),
        (np.array([1, 2], ">i4"), "int32"),
        (range(3), "int32"),
        (collections.deque([1.0]), "float32"),
        (bytearray(b"ab"), "int32"),
        (tf.TensorShape([1, 2]), "int32"),
    ],
)
def test_the_inferred_dtype(value, dtype):
    assert tf.convert_to_tensor(value).dtype.name == dtype


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [
        (300, "uint8", 44),
        (-1, "uint8", 255),
        (True, "float32", 1.0),
        (2**70, "float32", 2.0**70),
        (2**63, "uint64", 2**63),
        (np.float64(1.5), "int32", 1),
        (np.array(1 + 2j), "float32", 1.0),
        (1e10, "float16", np.inf),
    ],
)
def test_a_given_dtype(value, dtype, result):
    assert tf.convert_to_tensor(value, dtype).numpy() == result


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (1.5, "int32", TypeError),
        ([1, 2.0], "int32", TypeError),
        (1, "bool", TypeError),
        (1, "string", TypeError),
        ("1", "float32", TypeError),
        (1j, "float32", TypeError),
        (None, None, ValueError),
        ({"a": 1}, None, ValueError),
        ({1}, None, ValueError),
        (object(), None, ValueError),
        ([1, None], None, ValueError),
        ([1, "a"], None, ValueError),
        ([True, 1], None, ValueError),
        ([[1], [2, 3]], None, ValueError),
        (2**63, None, ValueError),
        (2**70, "int64", ValueError),
        (1e39, None, ValueError),
        (np.array([1, "a"], object), None, ValueError),
        (np.datetime64("2020-01-01"), None, ValueError),
        (tf.TensorShape([None]), None, ValueError),
        (tf.TensorShape([1]), "float32", TypeError),
    ],
)
def test_values_that_are_refused(value, dtype, error):
    with pytest.raises(error):
        tf.convert_to_tensor(value, dtype)


def test_a_hint_is_ignored_if_the_value_does_not_fit():
    assert tf.convert_to_tensor(1, dtype_hint=tf.float64).dtype is tf.float64
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype is tf.float32


def test_a_tensor_is_never_cast():
    t = tf.constant(1)
    assert tf.convert_to_tensor(t) is t
    with pytest.raises(ValueError, match="dtype"):
        tf.convert_to_tensor(t, tf.float32)


def test_lists_of_tensors_are_stacked_and_differentiable():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.convert_to_tensor([[x, 1], [3 * x, x]]))
    assert tape.gradient(y, x).numpy() == 5.0
    assert tf.convert_to_tensor([tf.constant(1)], tf.float32).dtype is tf.float32
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.convert_to_tensor([tf.constant(1.0), tf.constant(1)])


def test_objects_may_convert_themselves():
    class Celsius:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant([20.0])

    assert tf.convert_to_tensor(Celsius()).numpy() == 20.0
    assert (tf.constant([1.0]) + Celsius()).numpy() == 21.0
    assert tf.convert_to_tensor([Celsius(), [1.0]]).numpy().tolist() == [[20.0], [1.0]]


@pytest.fixture
def conversions():
    before = list(CONVERSIONS)
    yield
    CONVERSIONS[:] = before


@pytest.mark.usefixtures("conversions")
def test_registered_conversions_go_by_priority():
    class Money:
        pass

    def giving(result):
        return lambda value, dtype=None, name=None, as_ref=False: result

    tf.register_tensor_conversion_function(Money, giving(tf.constant(1.0)))
    tf.register_tensor_conversion_function(Money, giving(tf.constant(2.0)), priority=50)
    tf.register_tensor_conversion_function(Money, giving(NotImplemented), priority=10)
    assert tf.convert_to_tensor(Money()).numpy() == 2.0
    with pytest.raises(RuntimeError, match="dtype"):
        tf.convert_to_tensor(Money(), tf.int32)
    with pytest.raises(TypeError):
        tf.register_tensor_conversion_function(int, giving(None))
    with pytest.raises(TypeError):
        tf.register_tensor_conversion_function(Money, 3)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_float_tensors_in_a_list_of_sizes_are_cast(wrap):
    """TensorFlow casts them, because it packs the list as integers."""

    def make(sizes):
        shape = (sizes[0], 2)
        return tf.reshape(tf.ones([6]), shape), tf.zeros(shape), tf.fill(shape, 1.0)

    for made in wrap(make)(tf.constant([3.0, 2.0])):
        assert made.shape == (3, 2)
    for made in wrap(lambda: make(tf.constant([3.0])))():
        assert made.shape == (3, 2)


def test_python_floats_are_no_sizes():
    for call in (lambda: tf.reshape(tf.ones([4]), [2.0, 2]), lambda: tf.fill([2.0, 2], 1)):
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            call()
