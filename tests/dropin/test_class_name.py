"""Under the drop-in, classes have the names of TensorFlow's classes."""

import importlib
import pickle
import subprocess
import sys

import pytest

import gradtape as tf
from gradtape.dropin.class_name import CLASS_ROWS
from gradtape.dropin.install import InstallState


@pytest.fixture
def uninstalled():
    """Start uninstalled, and restore the state of the process afterwards."""
    before = InstallState.finder
    tf.uninstall()
    yield
    tf.uninstall()
    if before is not None:
        tf.install()


EXAMPLES = {
    "tensorflow.python.framework.ops.EagerTensor": lambda: tf.constant(1.0),
    "tensorflow.python.ops.resource_variable_ops.ResourceVariable": lambda: tf.Variable(1.0),
    "tensorflow.python.framework.dtypes.DType": lambda: tf.float32,
    "tensorflow.python.framework.tensor_shape.TensorShape": lambda: tf.TensorShape([1]),
    "tensorflow.python.data.ops.dataset_ops.DatasetV2": lambda: tf.data.Dataset.range(2),
    "tensorflow.python.framework.sparse_tensor.SparseTensor": lambda: tf.sparse.eye(2),
    "tensorflow.python.ops.ragged.ragged_tensor.RaggedTensor": lambda: tf.ragged.constant([[1]]),
    "tensorflow.python.framework.errors_impl.NotFoundError": lambda: tf.errors.NotFoundError(
        None, None, "lost"
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_classes_say_tensorflow_only_while_it_is_installed(name, uninstalled):
    value = EXAMPLES[name]()
    assert type(value).__module__.startswith("gradtape.")
    with tf.install():
        assert repr(type(value)) == f"<class '{name}'>"
    assert type(value).__module__.startswith("gradtape.")


def test_tensors_of_traces_say_tensorflow(uninstalled):
    seen = []

    @tf.function
    def note(x):
        seen.append(type(x))
        return x + 1.0

    with tf.install():
        note(tf.constant(1.0))
        assert {f"{cls.__module__}.{cls.__name__}" for cls in seen} == {
            "tensorflow.python.framework.ops.SymbolicTensor"
        }


@pytest.mark.parametrize("row", CLASS_ROWS, ids=lambda row: row.name)
def test_each_class_can_be_imported_under_its_shown_name(row, uninstalled):
    cls = getattr(importlib.import_module(row.home), row.name)
    with tf.install():
        assert (cls.__module__, cls.__name__) == (row.module, row.shown)
        found = getattr(importlib.import_module(row.module), row.shown)
        assert issubclass(cls, found)


def test_pickles_of_the_drop_in(uninstalled):
    values = [tf.constant([1.0]), tf.TensorSpec([None]), tf.errors.NotFoundError(None, None, "x")]
    with tf.install():
        for value in [*values, tf.Tensor, tf.GradientTape, type(values[0])]:
            again = pickle.loads(pickle.dumps(value))
            assert type(again) is type(value)
    for value in values:
        assert type(pickle.loads(pickle.dumps(value))) is type(value)


def test_modules_that_are_imported_later_are_renamed():
    code = (
        "import gradtape as tf; tf.install()\n"
        "print(type(tf.data.Dataset.range(1)).__module__, tf.random.Generator.__module__)"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert said == [
        "tensorflow.python.data.ops.dataset_ops",
        "tensorflow.python.ops.stateful_random_ops",
    ]


def test_errors_still_name_the_call(uninstalled):
    with (
        tf.install(),
        pytest.raises(tf.errors.InvalidArgumentError, match=r"matmul: .*\[2,3\]"),
    ):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
