"""gradtape reads TensorFlow's checkpoints, and TensorFlow reads gradtape's."""

import collections
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gradtape

# TensorFlow warns when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore")
tensorflow = pytest.importorskip("tensorflow")
BOTH = [pytest.param("gradtape", id="from gradtape"), pytest.param("tensorflow", id="to gradtape")]
Pair = collections.namedtuple("Pair", "first second")


def pair(writer):
    """The module that writes and the one that reads."""
    return (gradtape, tensorflow) if writer == "gradtape" else (tensorflow, gradtape)


def tree(tf, start):
    """A module with variables in nested lists, dicts and tuples, numbered from `start`."""
    count = iter(range(start, 1000))

    def variable():
        return tf.Variable(np.full([2], next(count), np.float32))

    inner = tf.Module()
    inner.w = variable()
    net = tf.Module()
    net.inner = inner
    net.layers = [variable(), [variable(), "text"], None]
    net.parts = {"b": variable(), "a/x": {"z.y": variable()}}
    net.pair = (variable(), 3)
    net.named = Pair(variable(), 3)
    net.ordered = collections.OrderedDict(z=variable(), y=1)
    net._private = variable()
    net.again = inner.w
    net.nothing = []
    net.number = 3
    return net


def values(net):
    return {v[0] for v in (variable.numpy().tolist() for variable in net.variables)}


def graph(path):
    """The objects in a checkpoint: their children and keys."""
    from tensorflow.core.protobuf import trackable_object_graph_pb2 as messages

    text = tensorflow.train.load_checkpoint(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    return [
        (
            [(child.local_name, child.node_id) for child in node.children],
            [(one.name, one.full_name, one.checkpoint_key) for one in node.attributes],
            node.has_checkpoint_values.value,
        )
        for node in messages.TrackableObjectGraph.FromString(text).nodes
    ]


@pytest.mark.parametrize("writer", BOTH)
def test_modules_lists_dicts_and_tuples(tmp_path, writer):
    a, b = pair(writer)
    a.train.Checkpoint(net=tree(a, 1), step=a.Variable(7)).save(str(tmp_path / "c"))
    net, step = tree(b, 500), b.Variable(0)
    checkpoint = b.train.Checkpoint(net=net, step=step)
    checkpoint.restore(b.train.latest_checkpoint(str(tmp_path))).assert_consumed()
    assert values(net) == values(tree(a, 1))
    assert step.numpy() == 7
    assert checkpoint.save_counter.numpy() == 1
    assert checkpoint.save(str(tmp_path / "c")) == str(tmp_path / "c-2")


@pytest.mark.parametrize("writer", BOTH)
def test_variables_created_after_restore_get_their_values(tmp_path, writer):
    a, b = pair(writer)
    path = a.train.Checkpoint(net=tree(a, 1)).write(str(tmp_path / "c"))
    late = b.Module()
    status = b.train.Checkpoint(net=late).read(path)
    late.layers = []
    late.layers.append(b.Variable([0.0, 0.0]))
    late.parts = {"a/x": {}}
    late.parts["a/x"]["z.y"] = b.Variable([0.0, 0.0])
    wanted = tree(a, 1)
    assert late.layers[0].numpy()[0] == wanted.layers[0].numpy()[0]
    assert late.parts["a/x"]["z.y"].numpy()[0] == wanted.parts["a/x"]["z.y"].numpy()[0]
    status.expect_partial()


def test_the_graph_of_objects_is_the_same(tmp_path):
    paths = [
        tf.train.Checkpoint(net=tree(tf, 1), data=[tf.Variable(1), {"k": tf.Variable(2)}]).save(
            str(tmp_path / tf.__name__ / "c")
        )
        for tf in (gradtape, tensorflow)
    ]
    assert graph(paths[0]) == graph(paths[1])
    states = [(tmp_path / tf.__name__ / "checkpoint").read_text() for tf in (gradtape, tensorflow)]
    assert states[0] == states[1]


def test_the_graph_below_a_root_is_the_same(tmp_path):
    paths = [
        tf.train.Checkpoint(tree(tf, 1), extra=tf.Variable(1)).save(str(tmp_path / tf.__name__))
        for tf in (gradtape, tensorflow)
    ]
    assert graph(paths[0]) == graph(paths[1])


@pytest.mark.parametrize("writer", BOTH)
@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int64", "float16", "bfloat16", "float64", "bool", "string", "complex64"],
)
def test_every_dtype(tmp_path, writer, dtype):
    a, b = pair(writer)
    plain = {"string": [b"x", b"", b"y" * 1000], "bool": [True, False, True]}.get(dtype, [1, 0, 5])
    path = a.train.Checkpoint(v=a.Variable(a.constant(plain, dtype))).write(str(tmp_path / "c"))
    v = b.Variable(b.constant(plain[:1] * 3, dtype))
    b.train.Checkpoint(v=v).read(path).assert_consumed()
    assert v.numpy().tolist() == plain


@pytest.mark.parametrize("writer", BOTH)
def test_a_prefix_can_be_overwritten(tmp_path, writer):
    a, b = pair(writer)
    v = a.Variable(0.0)
    for n in range(3):
        v.assign(n)
        path = a.train.Checkpoint(v=v).write(str(tmp_path / "c"))
        assert b.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == n


@pytest.mark.parametrize("writer", BOTH)
def test_many_variables_in_many_blocks(tmp_path, writer):
    a, b = pair(writer)
    path = a.train.Checkpoint(v=[a.Variable(n) for n in range(5000)]).write(str(tmp_path / "c"))
    variables = [b.Variable(0) for _ in range(5000)]
    b.train.Checkpoint(v=variables).read(path).assert_consumed()
    assert [v.numpy() for v in variables] == list(range(5000))


@pytest.mark.parametrize("writer", BOTH)
def test_a_manager_continues_the_numbering_of_the_other(tmp_path, writer):
    for number, tf in enumerate(pair(writer)):
        checkpoint = tf.train.Checkpoint(v=tf.Variable(0))
        manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
        restored = manager.restore_or_initialize()
        assert (restored is None) == (number == 0)
        manager.save()
        manager.save()
        manager.save()
        names = [os.path.basename(path) for path in manager.checkpoints]
        assert names == [f"ckpt-{3 * number + 2}", f"ckpt-{3 * number + 3}"]
        assert sorted(path.name for path in tmp_path.glob("*.index")) == [
            f"{n}.index" for n in names
        ]


@pytest.mark.parametrize("writer", BOTH)
def test_python_state(tmp_path, writer):
    def count(tf, value):
        class Count(tf.train.experimental.PythonState):
            def serialize(self):
                return str(self.value)

            def deserialize(self, string_value):
                self.value = int(string_value)

        made = Count()
        made.value = value
        return made

    a, b = pair(writer)
    path = a.train.Checkpoint(count=count(a, 5)).write(str(tmp_path / "c"))
    read = count(b, 0)
    b.train.Checkpoint(count=read).read(path).assert_consumed()
    assert read.value == 5


KERAS = """
    import sys

    task, library, path = sys.argv[1:]
    if library == "gradtape":
        import gradtape

        gradtape.install()
    import keras
    import numpy as np
    import tensorflow as tf

    assert hasattr(tf.Tensor, "_array") == (library == "gradtape")
    x, y = np.arange(12.0).reshape(4, 3) / 12, np.arange(8.0).reshape(4, 2) / 8


    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(4, activation="tanh")
            self.norm = keras.layers.BatchNormalization()
            self.out = keras.layers.Dense(2)
            self.extra = tf.Variable(1.0)

        def call(self, x, training=False):
            return self.out(self.norm(self.hidden(x), training=training)) * self.extra


    def sequential():
        layers = [keras.layers.Dense(4), keras.layers.BatchNormalization(), keras.layers.Dense(2)]
        return keras.Sequential([keras.Input((3,)), *layers])


    shown = []
    for name, build in (("net", Net), ("sequential", sequential)):
        model = build()
        model.compile(keras.optimizers.Adam(0.01), "mse", run_eagerly=True)
        checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        if task == "write":
            model.fit(x, y, epochs=3, verbose=0)
            model.optimizer.learning_rate = 0.125
            checkpoint.save(path + name)
        else:
            # On gradtape, restore may come before Keras creates its variables; on TensorFlow not.
            if library == "gradtape":
                status = checkpoint.restore(path + name + "-1")
            model(x[:1])
            model.optimizer.build(model.trainable_variables)
            if library == "tensorflow":
                status = checkpoint.restore(path + name + "-1")
            status.assert_consumed()
        shown += [model(x).numpy().ravel()]
        shown += [np.ravel(v.numpy()) for v in model.optimizer.variables]
    np.save(path + task + ".npy", np.concatenate(shown))
"""


@pytest.mark.parametrize("writer", BOTH)
def test_keras_models_and_optimizers(tmp_path, writer):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(KERAS))
    for task, module in zip(("write", "read"), pair(writer), strict=True):
        command = [sys.executable, str(script), task, module.__name__, f"{tmp_path}/"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    written, read = (np.load(tmp_path / f"{task}.npy") for task in ("write", "read"))
    np.testing.assert_allclose(read, written, rtol=1e-5, atol=1e-6)
