"""Functions can be copied and pickled. Copies have no traces."""

import copy
import pickle

import pytest

import gradtape as tf

THREE = tf.constant(3.0)


def double(x):
    return x * 2.0


@tf.function
def triple(x):
    return x * 3.0


class Scale:
    """An object with a compiled method."""

    def __init__(self, factor):
        self.factor = factor
        self.double = tf.function(double)

    @tf.function
    def apply(self, x):
        return x * self.factor


def unpickle(value):
    return pickle.loads(pickle.dumps(value))


COPIES = [copy.copy, copy.deepcopy, unpickle]


@pytest.mark.parametrize("duplicate", COPIES)
@pytest.mark.parametrize("is_called", [False, True])
def test_functions_can_be_copied(duplicate, is_called):
    signature = [tf.TensorSpec([], tf.float32)]
    function = tf.function(double, input_signature=signature, reduce_retracing=True)
    if is_called:
        function(THREE)
    made = duplicate(function)
    assert made is not function
    assert made.experimental_get_tracing_count() == 0
    assert made.input_signature == signature
    assert made.__name__ == "double"
    assert [float(made(THREE)) for _ in range(2)] == [6.0, 6.0]
    assert float(function(THREE)) == 6.0


@pytest.mark.parametrize("duplicate", COPIES)
def test_methods_can_be_copied(duplicate):
    scale = Scale(4.0)
    made = duplicate(scale.apply)
    assert float(made(THREE)) == 12.0
    assert float(scale.apply(THREE)) == 12.0


def test_a_copied_method_belongs_to_the_same_object():
    scale = Scale(4.0)
    made = copy.deepcopy(scale.apply)
    scale.factor = 9.0
    assert float(made(THREE)) == 27.0


@pytest.mark.parametrize("duplicate", COPIES)
def test_objects_with_functions_can_be_copied(duplicate):
    scale = Scale(4.0)
    scale.apply(THREE)
    made = duplicate(scale)
    made.factor = 5.0
    assert float(made.double(THREE)) == 6.0
    assert float(made.apply(THREE)) == 15.0
    assert float(scale.apply(THREE)) == 12.0


def test_a_decorated_function_is_pickled_by_name():
    assert unpickle(triple) is triple
    assert float(copy.deepcopy(triple)(THREE)) == 9.0
