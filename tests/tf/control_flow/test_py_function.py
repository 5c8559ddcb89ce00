"""py_function and numpy_function; and initializers."""

import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf


def test_gradients_flow_through_py_function_but_not_numpy_function():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        through = tf.py_function(lambda v: v * v, [x], tf.float32)
        around = tf.numpy_function(lambda v: v * v, [x], tf.float32)
    assert tape.gradient(through, x).numpy().tolist() == [2.0, 4.0]
    assert tape.gradient(around, x) is None


def test_results_must_match_tout():
    both = tf.py_function(lambda v: (v, v * 2), [1.0], [tf.float32, tf.float32])
    assert [float(t) for t in both] == [1.0, 2.0]
    assert tf.py_function(lambda v: None, [1.0], []) == []
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.py_function(lambda v: v, [1.0], tf.float64)


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (ZeroDivisionError, tf.errors.UnknownError),
        (ValueError, tf.errors.InvalidArgumentError),
        (NotImplementedError, tf.errors.UnimplementedError),
    ],
)
def test_errors_of_a_function_become_errors_of_the_op(raised, seen):
    def fail(_):
        raise raised("no")

    with pytest.raises(seen, match=raised.__name__):
        tf.py_function(fail, [1.0], tf.float32)
    with pytest.raises(raised, match="no"):
        tf.numpy_function(fail, [1.0], tf.float32)


def test_initializers_make_tensors_of_a_shape():
    assert tf.zeros_initializer()([2]).numpy().tolist() == [0, 0]
    assert tf.ones_initializer()([2], tf.int32).dtype == tf.int32
    assert tf.constant_initializer([1, 2])([2]).numpy().tolist() == [1, 2]
    drawn = tf.random_uniform_initializer(1.0, 2.0)([50]).numpy()
    assert ((drawn >= 1) & (drawn < 2)).all()
    assert np.std(tf.random_normal_initializer(stddev=3.0)([500])) > 1
    with pytest.raises(ValueError, match="dtype"):
        tf.zeros_initializer()([2], tf.string)


def test_numpy_function_in_a_graph_gets_scalars_as_tensorflow_gives_them():
    kinds = []

    def length(text, number, row):
        kinds.append((type(text), type(number), type(row)))
        return np.float32(len(text.decode()) + number)

    @tf.function
    def f(text, number, row):
        return tf.numpy_function(length, [text, number, row], tf.float32)

    for _ in range(3):
        assert f(tf.constant("ab"), tf.constant(1), tf.ones([2])).numpy() == 3.0
    assert set(kinds) == {(bytes, np.int32, np.ndarray)}


def test_a_variable_is_an_argument_under_the_drop_in():
    code = """if True:
        import gradtape as tf
        tf.install()
        x = tf.Variable(3.0)
        f = tf.function(lambda x: tf.py_function(lambda t: t * t, [x], tf.float32) + x)
        for call in (f, f, f, f.python_function):
            with tf.GradientTape() as tape:
                y = call(x)
            assert (y.numpy(), tape.gradient(y, x).numpy()) == (12.0, 7.0)
        """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_function_may_return_strings(compiled):
    def shout(text):
        return tf.py_function(lambda t: t.numpy().decode().upper(), [text], tf.string)

    assert (tf.function(shout) if compiled else shout)(tf.constant("abc")).numpy() == b"ABC"


def test_a_dataset_may_map_a_function_that_returns_strings():
    words = tf.data.Dataset.from_tensor_slices(["a", "b"])
    mapped = words.map(lambda t: tf.py_function(lambda t: t.numpy().decode() + "!", [t], tf.string))
    assert list(mapped.as_numpy_iterator()) == [b"a!", b"b!"]
