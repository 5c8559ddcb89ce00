"""Errors as users see them: one exception, at the user's line, of TensorFlow's class."""

import subprocess
import sys
import traceback
from pathlib import Path

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


@pytest.mark.parametrize("namespace", ["math", "nn", "io", "bitwise", "strings"])
def test_a_namespace_has_help_about_its_functions(namespace):
    import pydoc

    module = getattr(tf, namespace)
    text = pydoc.plain(pydoc.render_doc(module))
    names = [name for name in module.__all__ if not isinstance(getattr(module, name), type(tf))]
    assert names
    assert [name for name in names if name not in text] == []
    assert {"add_examples", "annotations"}.isdisjoint(module.__all__)


def test_the_package_has_help_without_keras():
    code = (
        "import sys; sys.modules['keras'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name: None if name == 'keras' else find(name)\n"
        "import pydoc, gradtape; assert 'keras' not in dir(gradtape)\n"
        "assert 'TensorFlow' in pydoc.render_doc(gradtape)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.parametrize("method", ["map", "filter", "take_while", "flat_map", "interleave"])
def test_a_function_of_the_wrong_arity_is_named_with_both_numbers(method):
    data = tf.data.Dataset.from_tensor_slices(([1.0], [2.0]))
    said = rf"^{method}: .* 2 arguments, the components of an element, .* 1 parameter: \(x\)"
    with pytest.raises(TypeError, match=said):
        list(getattr(data, method)(lambda x: x > 0))


def test_the_error_of_a_wrong_arity_says_what_the_arguments_are():
    numbers = tf.data.Dataset.range(3)
    with pytest.raises(
        TypeError, match=r"^reduce: .* 2 arguments, the state and the element, .* 1"
    ):
        numbers.reduce(np.int64(0), lambda total: total)
    with pytest.raises(TypeError, match=r"^scan: .* 2 arguments, the state and the element, .* 1"):
        list(numbers.scan(np.int64(0), lambda total: (total, total)))
    with pytest.raises(TypeError, match=r"^group_by_window: .* the key and the dataset of a group"):
        list(numbers.group_by_window(lambda x: x % 2, lambda group: group, 2))
    with pytest.raises(TypeError, match=r"^map: .* 1 argument, the element as a dict .* 2 param"):
        list(tf.data.Dataset.from_tensor_slices({"a": [1], "b": [2]}).map(lambda a, b: a))


def test_a_reduction_with_another_number_of_states_raises():
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many components"):
        tf.data.Dataset.range(3).reduce(np.int64(0), lambda total, x: (total, x))


def leak_from_call():
    kept = []

    @tf.function
    def step(x):
        kept.append(x * 2.0)
        return x

    step(tf.constant([1.0, 2.0]))
    return kept[0]


def leak_from_signature():
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def step(x):
        kept.append(x * 2.0)
        return x

    step.get_concrete_function()
    return kept[0]


def leak_from_map():
    kept = []

    def step(x):
        kept.append(x * 2.0)
        return x

    list(tf.data.Dataset.from_tensors([1.0, 2.0]).map(step))
    return kept[0]


USES = {
    "operator": lambda x: x + 1,
    "assign": lambda x: tf.Variable([1.0, 2.0]).assign(x),
    "variable": tf.Variable,
    "constant": tf.constant,
    "identity": tf.identity,
    "dataset": lambda x: list(tf.data.Dataset.from_tensors(x)),
    "shape": tf.shape,
    "length": len,
    "bool": lambda x: bool(x[0] > 1),
    "float": lambda x: float(x[0]),
    "py_function": lambda x: tf.py_function(lambda y: y, [x], tf.float32),
    "stack": lambda x: tf.stack([x, x]),
    "argument": lambda x: tf.function(lambda y: y)(x),
    "argument in a dict": lambda x: tf.function(lambda d: d["a"])({"a": x}),
    "argument with a signature": lambda x: tf.function(
        lambda y: y, input_signature=[tf.TensorSpec([None])]
    )(x),
    "capture": lambda x: tf.function(lambda: x + 1)(),
    "map_fn": lambda x: tf.map_fn(lambda y: y, x),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("leak", [leak_from_call, leak_from_signature, leak_from_map])
def test_a_leaked_tensor_is_out_of_scope_wherever_it_is_used(leak, use):
    tensor = leak()
    with pytest.raises(TypeError, match=r"is out of scope .* while step was traced"):
        USES[use](tensor)


def test_a_signature_error_names_the_argument():
    specs = [tf.TensorSpec([]), {"a": tf.TensorSpec([2])}]
    f = tf.function(lambda x, d: x, input_signature=specs)
    with pytest.raises(TypeError, match=r"\(3,\).* to .*\(2,\).* for the argument 'd'"):
        f(1.0, {"a": tf.ones([3])})
    with pytest.raises(TypeError, match=r"for the argument 'd'. Pass a value of the structure"):
        f(1.0, {"b": tf.ones([2])})


@pytest.mark.parametrize(
    "allocate",
    [
        lambda: tf.zeros([1 << 20, 1 << 20, 1 << 12]),
        lambda: tf.random.normal([1 << 20, 1 << 20, 1 << 12]),
        lambda: tf.Variable(tf.ones([1 << 26, 1])) @ tf.ones([1, 1 << 26]),
    ],
)
def test_too_large_a_tensor_is_one_error_at_the_users_line(allocate):
    with pytest.raises(tf.errors.ResourceExhaustedError, match="Unable to allocate") as info:
        allocate()
    assert info.value.__cause__ is None
    assert info.value.__suppress_context__ or info.value.__context__ is None
    assert info.traceback[-1].path == Path(__file__)


def test_a_misspelt_name_ends_at_the_users_line():
    with pytest.raises(AttributeError, match=r"nearest name is tf.nn.relu") as info:
        tf.nn.reluu  # noqa: B018
    assert info.traceback[-1].path == Path(__file__)


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
