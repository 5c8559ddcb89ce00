"""tf.train.Checkpoint: names, values, deferred restoration and the status object."""

import collections
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from gradtape.files import tensor_bundle

Pair = collections.namedtuple("Pair", "first second")


class Net(tf.Module):
    """A module with variables in attributes, lists, dicts and tuples."""

    def __init__(self, value=1.0):
        """Set all variables to this value."""
        super().__init__()
        self.w = tf.Variable([value, value], name="w")
        self.layers = [tf.Variable(value), [tf.Variable(value), "text"], None]
        self.parts = {"b": tf.Variable(value), "a/x": {"z": tf.Variable(value)}}
        self.pair = (tf.Variable(value), 3)
        self.named = Pair(tf.Variable(value), 3)
        self.ordered = collections.OrderedDict(z=tf.Variable(value), y=1)
        self.plain = 7
        self.constant = tf.constant(3.0)
        self._private = tf.Variable(value)
        self.same = self.w
        self.nothing = []


def keys(path):
    return [name for name, _ in tf.train.list_variables(path)]


def values(net):
    return [v.numpy().tolist() for v in net.variables]


# -- names


def test_keys_are_tensorflows(tmp_path):
    path = tf.train.Checkpoint(model=Net(), **{"a.b": tf.Variable(1)}).save(tmp_path / "c")
    names = """
        a..b model/_private model/layers/0 model/layers/1/0 model/named/first model/ordered/z
        model/pair/0 model/parts/a.Sx/z model/parts/b model/w save_counter
    """
    wanted = [f"{name}/.ATTRIBUTES/VARIABLE_VALUE" for name in names.split()]
    assert keys(path) == sorted(["_CHECKPOINTABLE_OBJECT_GRAPH", *wanted])


def test_with_a_root_keys_begin_there(tmp_path):
    net = Net()
    path = tf.train.Checkpoint(net, extra=tf.Variable(5.0)).write(tmp_path / "c")
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in keys(path)
    assert "extra/.ATTRIBUTES/VARIABLE_VALUE" in keys(path)
    other, extra = Net(0.0), tf.Variable(0.0)
    tf.train.Checkpoint(root=other, extra=extra).read(path).assert_consumed()
    assert values(other) == values(net)
    assert extra.numpy() == 5


def test_save_increments_the_counter_and_records_the_latest(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    assert checkpoint.save(tmp_path / "deep" / "c") == str(tmp_path / "deep" / "c-1")
    assert checkpoint.save(str(tmp_path / "deep" / "c")) == str(tmp_path / "deep" / "c-2")
    assert tf.train.latest_checkpoint(tmp_path / "deep") == str(tmp_path / "deep" / "c-2")
    text = (tmp_path / "deep" / "checkpoint").read_text()
    assert text == 'model_checkpoint_path: "c-2"\nall_model_checkpoint_paths: "c-2"\n'
    assert checkpoint.save_counter.numpy() == 2
    assert checkpoint.save_counter.dtype == tf.int64


def test_write_leaves_the_counter_and_the_state_file_alone(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c")
    assert path == str(tmp_path / "c")
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert not any("save_counter" in key for key in keys(path))


# -- values


def test_all_values_are_restored(tmp_path):
    net = Net(2.0)
    path = tf.train.Checkpoint(net=net).save(tmp_path / "c")
    other = Net(0.0)
    checkpoint = tf.train.Checkpoint(net=other)
    checkpoint.restore(path).assert_consumed().assert_existing_objects_matched()
    assert values(other) == values(net)
    assert checkpoint.save_counter.numpy() == 1
    assert checkpoint.save(tmp_path / "c").endswith("c-2")


@pytest.mark.parametrize(
    "value",
    [
        tf.constant([1, 2], tf.int8),
        tf.constant(["a", "bc"]),
        tf.constant("scalar"),
        tf.constant(True),
        tf.constant([1.5], tf.bfloat16),
        tf.constant([1 + 2j]),
        tf.zeros([0, 2]),
    ],
    ids=lambda value: value.dtype.name,
)
def test_every_dtype(tmp_path, value):
    v = tf.Variable(value)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "c")
    v.assign(value)
    checkpoint.read(path).assert_consumed()
    assert v.dtype == value.dtype
    np.testing.assert_array_equal(v.numpy(), value.numpy())


def test_a_restored_scalar_is_a_numpy_scalar(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    checkpoint.read(checkpoint.write(tmp_path / "c"))
    assert isinstance(v._value._array, np.float32)


def test_python_state(tmp_path):
    class Count(tf.train.experimental.PythonState):
        def __init__(self, value):
            self.value = value

        def serialize(self):
            return str(self.value)

        def deserialize(self, string_value):
            self.value = int(string_value)

    path = tf.train.Checkpoint(count=Count(5)).write(tmp_path / "c")
    assert "count/.ATTRIBUTES/py_state" in keys(path)
    count = Count(0)
    tf.train.Checkpoint(count=count).read(path).assert_consumed()
    assert count.value == 5


def test_restored_variables_keep_their_static_shape(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tmp_path / "c")
    free = tf.Variable([0.0], shape=[None])
    tf.train.Checkpoint(v=free).read(path).assert_consumed()
    assert free.numpy().tolist() == [1, 2]


def test_a_mismatched_value_changes_nothing(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0, 2.0])).write(tmp_path / "c")
    a, b = tf.Variable(0.0), tf.Variable([0.0, 0.0, 0.0], name="b")
    with pytest.raises(ValueError, match=r"shape \(2,\) when attempting .* \(3,\) and name b:0"):
        tf.train.Checkpoint(a=a, b=b).read(path)
    assert a.numpy() == 0
    with pytest.raises(
        InvalidArgumentError, match=r"expected dtype int32 does not equal .*float32"
    ):
        tf.train.Checkpoint(a=a, b=tf.Variable([1, 2])).read(path)
    assert a.numpy() == 0


def test_a_failed_save_does_not_count(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(tf.errors.OpError):
        checkpoint.save(tmp_path / "file" / "c")
    assert checkpoint.save_counter.numpy() == 0


# -- deferred restoration


def test_values_are_restored_when_variables_are_created(tmp_path):
    path = tf.train.Checkpoint(net=Net(2.0)).save(tmp_path / "c")
    late = tf.Module()
    checkpoint = tf.train.Checkpoint(net=late)
    status = checkpoint.restore(path)
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.net\.w"):
        status.assert_consumed()
    late.w = tf.Variable([0.0, 0.0])
    assert late.w.numpy().tolist() == [2, 2]
    late.layers = []
    late.layers.append(tf.Variable(0.0))
    late.layers.append([])
    late.layers[1] += [tf.Variable(0.0)]
    assert [late.layers[0].numpy(), late.layers[1][0].numpy()] == [2, 2]
    late.parts = {}
    late.parts["b"] = tf.Variable(0.0)
    late.parts.update({"a/x": {"z": tf.Variable(0.0)}})
    assert late.parts["a/x"]["z"].numpy() == 2
    late.pair = (tf.Variable(0.0),)
    late.named = Pair(tf.Variable(0.0), 0)
    late.ordered = {"z": tf.Variable(0.0)}
    late._private = tf.Variable(0.0)
    late.same = late.w
    status.assert_consumed()
    assert {float(np.ravel(v.numpy())[0]) for v in late.variables} == {2}
    late.w = tf.Variable([7.0, 7.0])
    assert late.w.numpy().tolist() == [7, 7], "a value is given once"


def test_values_are_restored_when_whole_trees_are_created(tmp_path):
    path = tf.train.Checkpoint(net=Net(2.0)).write(tmp_path / "c")
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.read(path)
    checkpoint.net = Net(0.0)
    status.assert_consumed()
    assert values(checkpoint.net) == values(Net(2.0))


def test_a_later_restore_wins(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    first = checkpoint.write(tmp_path / "a")
    v.assign(2.0)
    second = checkpoint.write(tmp_path / "b")
    late = tf.train.Checkpoint()
    late.read(first)
    late.read(second)
    late.v = tf.Variable(0.0)
    assert late.v.numpy() == 2


def test_a_module_with_pending_values_lists_only_its_variables(tmp_path):
    path = tf.train.Checkpoint(net=Net(2.0)).write(tmp_path / "c")
    late = tf.Module()
    tf.train.Checkpoint(net=late).read(path).expect_partial()
    late.w = tf.Variable([0.0, 0.0])
    assert len(late.variables) == 1
    assert late.submodules == ()


# -- the status object


def test_objects_missing_in_the_checkpoint_are_named(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0), more=tf.Variable(0.0, name="more"))
    status = checkpoint.read(path)
    for question in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match=r"Found 1 Python objects .*'more:0'"):
            question()
    assert status.assert_nontrivial_match() is status
    assert status.expect_partial() is status


def test_a_checkpoint_of_other_objects_is_no_nontrivial_match(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c")
    status = tf.train.Checkpoint(other=tf.Variable(0.0)).read(path).expect_partial()
    with pytest.raises(AssertionError, match="Nothing except the root object"):
        status.assert_nontrivial_match()
    status = tf.train.Checkpoint().read(path).expect_partial()
    with pytest.raises(AssertionError, match="Nothing to load"):
        status.assert_nontrivial_match()


def test_unused_values_are_named_in_the_log(tmp_path, caplog):
    path = tf.train.Checkpoint(v=tf.Variable(1.0), w=tf.Variable(1.0)).write(tmp_path / "c")
    tf.train.Checkpoint(v=tf.Variable(0.0)).read(path).expect_partial()
    assert not caplog.records
    restoration = tf.train.Checkpoint(v=tf.Variable(0.0)).read(path)._restoration
    restoration.__del__()
    assert "(root).w" in caplog.text
    restoration.expects_partial = True


def test_restoring_none(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    status = checkpoint.restore(tf.train.latest_checkpoint(tmp_path))
    for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            getattr(status, name)()
    assert status.expect_partial() is status
    status.initialize_or_restore()


def test_restoring_one_variable_into_two_is_logged(tmp_path, caplog):
    v = tf.Variable(1.0)
    path = tf.train.Checkpoint(a=v, b=v).write(tmp_path / "c")
    tf.train.Checkpoint(a=tf.Variable(0.0), b=tf.Variable(0.0)).read(path)
    assert "Inconsistent references" in caplog.text


# -- errors


@pytest.mark.parametrize("value", [3, None, (1, 2), "text", tf.constant(1.0), {1, 2}])
def test_an_object_that_cannot_be_saved_raises(value):
    with pytest.raises(ValueError, match="was expecting v to be a trackable object"):
        tf.train.Checkpoint(v=value)


def test_a_root_must_be_an_object():
    with pytest.raises(ValueError, match="was expecting root to be a trackable object"):
        tf.train.Checkpoint([tf.Variable(1.0)])
    net = Net()
    with pytest.raises(ValueError, match=r"if root\.w already exists"):
        tf.train.Checkpoint(net, w=tf.Variable(1.0))


def test_keys_of_saved_dicts_must_be_strings(tmp_path):
    with pytest.raises(ValueError, match="non-string key 5"):
        tf.train.Checkpoint(d={5: tf.Variable(1.0)}).write(tmp_path / "c")
    tf.train.Checkpoint(d={5: 1}).write(tmp_path / "c")


def test_the_error_for_a_missing_checkpoint_mentions_the_number(tmp_path):
    with pytest.raises(NotFoundError, match="number at its end"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "none")


def test_a_corrupt_file_raises_and_changes_nothing(tmp_path):
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "c")
    file = tmp_path / "c.data-00000-of-00001"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    v.assign([0.0, 0.0])
    with pytest.raises(DataLossError, match=r"c\.data-00000-of-00001: v/\.ATTRIBUTES"):
        checkpoint.read(path)
    assert v.numpy().tolist() == [0, 0]


def test_a_graph_with_dangling_references_raises(tmp_path):
    from gradtape.state.checkpoint import object_graph

    graph = object_graph.ObjectGraphProto()
    graph.nodes.add().children.add(node_id=7, local_name="v")
    text = np.array(graph.SerializeToString(), object)
    tensor_bundle.write_bundle(tmp_path / "c", {object_graph.OBJECT_GRAPH_KEY: text})
    with pytest.raises(DataLossError, match="refers to missing objects"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).read(tmp_path / "c")


def test_a_checkpoint_without_an_object_graph_raises(tmp_path):
    tensor_bundle.write_bundle(tmp_path / "c", {"v": np.float32(1)})
    with pytest.raises(tf.errors.UnimplementedError, match="load_variable"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).read(tmp_path / "c")


# -- reading by name


def test_tensors_by_name(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1, 2]), s=tf.Variable(1.0)).save(tmp_path / "c")
    key = "v/.ATTRIBUTES/VARIABLE_VALUE"
    reader = tf.train.load_checkpoint(tmp_path)
    assert reader.has_tensor(key)
    assert not reader.has_tensor("v")
    assert reader.get_variable_to_shape_map()[key] == [2]
    assert reader.get_variable_to_dtype_map()[key] == tf.int32
    assert f"{key} (int32) [2]" in reader.debug_string().decode()
    assert tf.train.load_variable(path, f"{key}:0").tolist() == [1, 2]
    assert isinstance(tf.train.load_variable(path, "s/.ATTRIBUTES/VARIABLE_VALUE"), np.float32)
    assert isinstance(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"), bytes)
    with pytest.raises(NotFoundError, match="Key none not found"):
        reader.get_tensor("none")


def test_directories_without_checkpoints(tmp_path):
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(tmp_path)
    with pytest.raises(NotFoundError, match="Failed to find any matching files"):
        tf.train.list_variables(tmp_path / "none")


def test_a_state_file_that_cannot_be_read_is_ignored(tmp_path, caplog):
    (tmp_path / "checkpoint").write_text("nonsense {")
    assert tf.train.get_checkpoint_state(tmp_path) is None
    assert "state file ignored" in caplog.text


def test_a_deleted_latest_checkpoint_is_none(tmp_path, caplog):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "c")
    os.unlink(path + ".index")
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert "Couldn't match files" in caplog.text


# -- the process may be killed at any moment

KILLING = """
    import os, signal, sys
    import numpy as np
    import gradtape as tf

    folder = sys.argv[1]
    countdown = None  # number of file operations until the process is killed


    def kill_at_zero(event, args):
        global countdown
        if countdown is not None and (event == "open" or event.startswith("os.")):
            if args and isinstance(args[0], (str, os.PathLike)) and folder in os.fspath(args[0]):
                countdown -= 1
                if countdown == 0:
                    os.kill(os.getpid(), signal.SIGKILL)


    class State(tf.Module):
        def __init__(self):
            super().__init__()
            self.values = [tf.Variable(np.zeros(20_000, np.float32)) for _ in range(4)]


    def save_once():
        state = State()
        saved = tf.train.Checkpoint(state=state)
        manager = tf.train.CheckpointManager(saved, folder + "/numbered", max_to_keep=2)
        manager.restore_or_initialize()
        for v in state.values:
            v.assign_add(tf.ones_like(v))
        manager.save()
        saved.write(folder + "/one")


    def found_in(path):
        tensors = tf.train.load_checkpoint(path)
        keys = [k for k in tensors.get_variable_to_shape_map() if k.startswith("state/")]
        found = {value for key in keys for value in tensors.get_tensor(key).tolist()}
        assert len(keys) == 4 and len(found) == 1, "values of two saves are mixed"
        return found.pop()


    def save_in_child(moment):
        global countdown
        child = os.fork()
        if not child:
            countdown = moment
            save_once()
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


    def check_files():
        for name, path in (
            ("numbered", tf.train.latest_checkpoint(folder + "/numbered")),
            ("one", folder + "/one" if os.path.exists(folder + "/one.index") else None),
        ):
            if path is None:
                assert not latest[name], "a saved checkpoint is missing"
            else:
                value = found_in(path)
                assert value >= latest[name], "an older checkpoint came back"
                latest[name] = value


    sys.addaudithook(kill_at_zero)
    latest = {"numbered": 0, "one": 0}
    moment, code = 1, -signal.SIGKILL
    while code:
        code = save_in_child(moment)
        assert code in (0, -signal.SIGKILL), code
        check_files()
        assert save_in_child(0) == 0  # goes on where the other one was killed
        check_files()
        assert latest["one"] == latest["numbered"], latest
        moment += 1
    assert moment > 20, moment
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_save_killed_at_any_file_operation_leaves_a_complete_checkpoint(tmp_path):
    script = tmp_path / "killing.py"
    script.write_text(textwrap.dedent(KILLING))
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# -- iterators and generators


def test_an_iterator_continues_at_its_saved_position(tmp_path):
    def numbers():
        return iter(tf.data.Dataset.range(10).shuffle(5, seed=3).batch(2).prefetch(2))

    iterator = numbers()
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    seen = [next(iterator).numpy().tolist() for _ in range(2)]
    path = checkpoint.write(tmp_path / "c")
    rest = [element.numpy().tolist() for element in iterator]
    fresh = numbers()
    tf.train.Checkpoint(iterator=fresh).read(path).assert_consumed()
    assert [element.numpy().tolist() for element in fresh] == rest
    assert sorted(n for batch in seen + rest for n in batch) == list(range(10))


def test_an_iterator_can_be_moved_back(tmp_path):
    iterator = iter(tf.data.Dataset.range(5))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    next(iterator)
    path = checkpoint.write(tmp_path / "c")
    assert [int(element) for element in iterator] == [1, 2, 3, 4]
    checkpoint.read(path)
    assert [int(element) for element in iterator] == [1, 2, 3, 4]


def test_a_generator_continues_from_its_saved_state(tmp_path):
    generator = tf.random.Generator.from_seed(1)
    generator.normal([3])
    path = tf.train.Checkpoint(g=generator).write(tmp_path / "c")
    assert "g/_state_var/.ATTRIBUTES/VARIABLE_VALUE" in keys(path)
    following = generator.normal([3]).numpy().tolist()
    other = tf.random.Generator.from_seed(2)
    tf.train.Checkpoint(g=other).read(path).assert_consumed()
    assert other.normal([3]).numpy().tolist() == following


def write_graph(path, graph, **tensors):
    from gradtape.state.checkpoint.object_graph import OBJECT_GRAPH_KEY

    text = np.array(graph.SerializeToString(), object)
    tensor_bundle.write_bundle(path, {OBJECT_GRAPH_KEY: text, **tensors})
    return path


def test_two_values_of_one_name_raise(tmp_path):
    from gradtape.state.checkpoint.object_graph import ObjectGraphProto

    graph = ObjectGraphProto()
    graph.nodes.add().children.add(node_id=1, local_name="v")
    node = graph.nodes.add()
    for _ in range(2):
        node.attributes.add(name="VARIABLE_VALUE", checkpoint_key="key")
    path = write_graph(tmp_path / "c", graph, key=np.float32(3))
    v = tf.Variable(1.0)
    with pytest.raises(DataLossError, match="two values of one name"):
        tf.train.Checkpoint(v=v).read(path)
    assert v.numpy() == 1


def test_a_deep_graph_has_short_names(tmp_path):
    from gradtape.state.checkpoint.object_graph import ObjectGraphProto

    graph = ObjectGraphProto()
    for i in range(3000):
        node = graph.nodes.add()
        node.attributes.add(name="VARIABLE_VALUE", checkpoint_key="key")
        if i < 2999:
            node.children.add(node_id=i + 1, local_name="child" * 100)
    path = write_graph(tmp_path / "c", graph, key=np.float32(3))
    status = tf.train.Checkpoint(v=tf.Variable(1.0)).read(path).expect_partial()
    assert len(status._restoration.names[2999]) < 3000
    assert status._restoration.names[2].count("child") == 40
    with pytest.raises(AssertionError):
        status.assert_consumed()
