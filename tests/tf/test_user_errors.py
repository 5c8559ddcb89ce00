"""Errors as users see them: one exception, at the user's line, of TensorFlow's class."""

import traceback

import numpy as np
import pytest

import gradtape as tf

MISTAKES = {
    "gather": lambda: tf.gather(tf.ones([3]), [5]),
    "gather_nd": lambda: tf.gather_nd(tf.ones([3]), [[5]]),
    "cross-entropy": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[5], logits=[[0.0, 1.0]]
    ),
    "read_file": lambda: tf.io.read_file("/no/such/file"),
    "reshape": lambda: tf.reshape(tf.ones([6]), [4, 2]),
    "embedding": lambda: tf.nn.embedding_lookup(tf.ones([3, 2]), [7]),
    "checkpoint": lambda: tf.train.load_checkpoint("/no/such/file"),
    "inverse": lambda: tf.linalg.inv(tf.zeros([2, 2])),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_error_at_the_users_line(name):
    with pytest.raises(Exception) as info:  # noqa: PT011
        MISTAKES[name]()
    assert "above exception" not in "".join(traceback.format_exception(info.value))
    files = [frame.filename for frame in traceback.extract_tb(info.value.__traceback__)]
    assert set(files) == {__file__}


def test_an_error_of_the_user_behind_an_error_stays_visible():
    def look_up():
        try:
            raise KeyError("mine")
        except KeyError:
            return tf.gather(tf.ones([3]), [5])

    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        look_up()
    assert "mine" in "".join(traceback.format_exception(info.value))


def test_the_error_of_a_callback_stays_visible():
    def fail(x):
        raise KeyError("mine")

    with pytest.raises(tf.errors.OpError) as info:
        tf.function(lambda x: tf.numpy_function(fail, [x], tf.float32))(1.0)
    assert "mine" in "".join(traceback.format_exception(info.value))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: tf.ones([n, 1]) + tf.ones([1, n]),
        lambda n: tf.zeros([n, n]),
        lambda n: tf.fill([n, n], 1.0).numpy(),
        lambda n: tf.function(lambda x, y: x * y)(tf.ones([n, 1]), tf.ones([1, n])),
    ],
)
def test_too_large_a_tensor_is_resource_exhausted(make):
    with pytest.raises(tf.errors.ResourceExhaustedError, match="allocate"):
        make(10**7)


class Interface:
    """An object that describes its memory, as Pillow's pictures do."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


def test_an_object_with_an_array_interface_becomes_a_tensor():
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    tensor = tf.convert_to_tensor(Interface(array))
    array[:] = 0
    assert tensor.dtype is tf.uint8
    assert tensor.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tf.expand_dims(Interface(array), 0).shape == (1, 2, 3)


def test_debug_has_help():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(tf.debug))
    assert all(name in text for name in tf.debug.__all__)
    assert "compare_engines" in tf.debug.__all__


@pytest.mark.parametrize("method", ["map", "filter", "take_while"])
def test_a_function_of_the_wrong_arity_is_named_with_both_numbers(method):
    data = tf.data.Dataset.from_tensor_slices(([1.0], [2.0]))
    with pytest.raises(TypeError, match=rf"{method}: an element has 2 components.*takes 1 arg"):
        list(getattr(data, method)(lambda x: x > 0))


def test_a_name_that_no_branch_has_set_says_so():
    @tf.function
    def f(x):
        if x > 0:
            y = x
        return y

    with pytest.raises(UnboundLocalError) as info:
        f(tf.constant(-1.0))
    assert "branch" in info.value.__notes__[0]


def test_a_variable_created_twice_names_the_line():
    @tf.function
    def f(x):
        return tf.Variable(x) + 1

    with pytest.raises(ValueError, match=rf"line {f.python_function.__code__.co_firstlineno + 2}"):
        f(tf.constant(1.0))


def test_an_error_of_the_input_signature_shows_specs_and_no_values():
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None, 2])])
    with pytest.raises(TypeError) as info:
        f(tf.fill([40, 4], 0.125))
    assert "(40, 4)" in str(info.value)
    assert "(None, 2)" in str(info.value)
    assert "0.125" not in str(info.value)
    with pytest.raises(TypeError, match=r"Received 2 arguments .* for the 1 parameters \(x\)"):
        tf.function(lambda x: x)(tf.ones([2]), 1)


def test_an_error_of_values_while_tracing_is_an_invalid_argument_error():
    f = tf.function(lambda x: tf.gather([1.0, 2.0], x))
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        f(tf.constant(5))
    assert type(info.value).__name__ == "InvalidArgumentError"


def test_operations_of_a_graph_can_be_listed():
    made = tf.function(lambda x: tf.sin(x) * 2.0).get_concrete_function(tf.TensorSpec([]))
    operations = made.graph.get_operations()
    assert len(operations) >= 3
    assert made.graph.get_operation_by_name(operations[1].name).op == operations[1].op
    with pytest.raises(KeyError, match="none"):
        made.graph.get_operation_by_name("none")
