"""tf.saved_model: what is saved runs again, without its Python, as it did before."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf


def close(a, b, rtol=1e-5):
    """Hold values against each other."""
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=1e-6)


def again(obj, tmp_path, **kwargs):
    """An object saved and loaded."""
    path = str(tmp_path / f"model{len(list(tmp_path.iterdir()))}")
    tf.saved_model.save(obj, path, **kwargs)
    return tf.saved_model.load(path)


def holding(function, **attributes):
    """A module with this function, and what it uses."""
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    module.f = function
    return module


class Line(tf.Module):
    """The module of the guides."""

    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.0)

    @tf.function
    def __call__(self, x):
        return x * self.v

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mutate(self, new):
        self.v.assign(new)


def test_the_example_of_the_page(capsys):
    page = pathlib.Path(__file__).parents[3] / "docs" / "saved_model.md"
    _, code, _, said, *_ = re.split("^```.*\n", page.read_text(), flags=re.MULTILINE)
    exec(code, {})
    assert capsys.readouterr().out == said


def test_a_module_called_mutated_and_trained(tmp_path):
    module = Line()
    module(tf.constant(0.0))
    loaded = again(module, tmp_path)
    assert not isinstance(loaded, tf.Module)
    assert len(loaded.signatures) == 0
    assert loaded(tf.constant(3.0)) == 3
    loaded.mutate(tf.constant(2.0))
    assert loaded(tf.constant(3.0)) == 6
    assert float(module.v) == 1.0  # another variable
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = (10.0 - loaded(tf.constant(2.0))) ** 2
        (variable,) = tape.watched_variables()
        assert variable is loaded.v
        variable.assign_sub(0.05 * tape.gradient(loss, variable))
    close(loaded.v, 5.0, rtol=0.01)


def test_only_what_was_traced_can_be_called(tmp_path):
    module = Line()
    loaded = again(module, tmp_path)
    with pytest.raises(ValueError, match="zero restored functions"):
        loaded(tf.constant(1.0))
    module(tf.constant([1.0]))
    loaded = again(module, tmp_path)
    close(loaded([3.0]), [3.0])
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded(tf.constant([1.0, 2.0]))
    with pytest.raises(TypeError, match="Binding"):
        loaded.mutate(tf.constant([1.0]))
    with pytest.raises(TypeError, match="Binding inputs"):
        loaded.mutate(tf.constant(1.0), tf.constant(1.0))


def test_the_tree_of_objects(tmp_path):
    root = tf.Module()
    root.inner = Line()
    root.shared = root.inner.v
    root.rows = [tf.Variable(1.0), tf.Variable([2, 3], trainable=False, name="b")]
    root.pair = (tf.Variable(5.0), 3)
    root.named = {"a": tf.Variable(1.0), "b": {"c": tf.Variable(7.0)}}
    root.words = tf.Variable(["x", "yy"])
    root.half = tf.Variable(1.5, dtype=tf.bfloat16)
    root.number = 7
    root.inner(tf.constant(1.0))
    loaded = again(root, tmp_path)
    assert loaded.shared is loaded.inner.v
    assert loaded.inner(tf.constant(1.0)) == 1.0
    assert [v.name for v in loaded.rows] == ["Variable:0", "b:0"]
    assert loaded.rows[1].trainable is False
    assert loaded.rows[1].dtype == tf.int32
    assert float(loaded.pair[0]) == 5.0
    assert float(loaded.named["b"]["c"]) == 7.0
    assert loaded.words.numpy().tolist() == [b"x", b"yy"]
    assert loaded.half.dtype == tf.bfloat16
    assert not hasattr(loaded, "number")


def test_python_arguments_defaults_and_structures(tmp_path):
    class Many(tf.Module):
        @tf.function
        def __call__(self, x, flag=True, *, scale=2.0):
            return {"y": x["a"] * scale, "z": (x["b"], None)} if flag else [x["a"]]

    module = Many()
    x = {"b": tf.constant([1.0]), "a": tf.constant(3.0)}
    module(x)
    module(x, False)
    loaded = again(module, tmp_path)
    answer = loaded(x)
    assert float(answer["y"]) == 6.0
    assert answer["z"][1] is None
    assert float(loaded(x, flag=False)[0]) == 3.0
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded(x, scale=3.0)
    assert len(loaded.__call__.concrete_functions) == 2


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
def test_a_size_that_is_not_known_when_it_is_saved(tmp_path, count):
    w = tf.Variable(np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32))
    table = tf.constant(np.arange(20, dtype=np.float32).reshape(10, 2))

    @tf.function(input_signature=[tf.TensorSpec([None, 2, 3], tf.float32)])
    def f(x):
        n = tf.shape(x)[0]
        flat = tf.reshape(x, [-1, 6])
        y = tf.nn.softmax(flat @ w)
        y = tf.concat([y, tf.zeros([n, 2])], axis=1)
        y = y + tf.cast(tf.range(n), tf.float32)[:, None] + tf.ones_like(y) / tf.cast(n, tf.float32)
        y = tf.stack([y, y], axis=1)
        y = tf.transpose(y, [1, 0, 2]) * tf.cast(n * 3 + 1, tf.float32)
        looked_up = tf.gather(table, tf.zeros([n], tf.int32))
        mask = tf.linalg.band_part(tf.ones([n, n]), -1, 0) * tf.reduce_sum(x)
        tiled = tf.tile(x, [2, 1, 1])
        return y, tf.reduce_mean(x, axis=[1, 2]), looked_up, mask, tiled, n

    loaded = again(holding(f, w=w), tmp_path)
    x = tf.constant(np.random.default_rng(1).normal(size=(count, 2, 3)).astype(np.float32))
    for a, b in zip(loaded.f(x), f(x), strict=True):
        close(a, b)
    if count:
        with tf.GradientTape() as tape:
            mine = tf.reduce_sum(loaded.f(x)[0] ** 2)
        with tf.GradientTape() as other:
            theirs = tf.reduce_sum(f(x)[0] ** 2)
        close(tape.gradient(mine, loaded.w), other.gradient(theirs, w))


def test_sizes_that_go_together_and_sizes_that_do_not(tmp_path):
    row = tf.TensorSpec([None], tf.float32)
    added = tf.function(lambda x, y: x + y, input_signature=[row, row])
    loaded = again(holding(added), tmp_path)
    close(loaded.f([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), [2.0, 3.0, 4.0])

    outer = tf.function(lambda x, y: x[:, None] * y, input_signature=[row, row])
    loaded = again(holding(outer), tmp_path)
    close(loaded.f([1.0, 2.0, 3.0], [1.0, 5.0]), np.outer([1, 2, 3], [1, 5]))

    picture = tf.TensorSpec([None, None, None, 3], tf.float32)
    kernel = tf.ones([3, 3, 3, 2])
    valid = tf.function(lambda x: tf.nn.conv2d(x, kernel, 2, "VALID"), input_signature=[picture])
    loaded = again(holding(valid), tmp_path)
    x = tf.random.normal([2, 9, 12, 3])
    close(loaded.f(x), valid(x))

    def padded(x):
        x = tf.nn.conv2d(x, kernel, [1, 2, 3, 1], "SAME")
        return tf.nn.max_pool2d(x, 3, 2, "SAME")

    f = tf.function(padded, input_signature=[picture])
    loaded = again(holding(f), tmp_path)
    for height, width in ((8, 8), (9, 13), (30, 31), (1, 2)):
        x = tf.random.normal([2, height, width, 3])
        close(loaded.f(x), f(x))


def test_a_rank_that_is_not_known(tmp_path):
    @tf.custom_gradient
    def clipped(y):
        return y, lambda g: tf.clip_by_norm(g, 0.5)

    f = tf.function(lambda x: clipped(x), input_signature=[tf.TensorSpec(None)])
    loaded = again(holding(f), tmp_path)
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = loaded.f(v * v)
    assert float(tape.gradient(y, v)) == 2.0
    for shape in ([3], [2, 3], [2, 1, 3, 1]):
        x = tf.ones(shape) * 2.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded.f(x)
        close(tf.norm(tape.gradient(y, x)), 0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ranks"):
        loaded.f(tf.zeros([1] * 7))
    module = Line()
    call = module.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
    served = again(module, tmp_path, signatures=call).signatures["serving_default"]
    assert served.structured_outputs["output_0"].shape.rank is None
    close(served(tf.constant([1.0, 2.0]))["output_0"], [1.0, 2.0])
    loaded = again(module, tmp_path)
    assert loaded(tf.ones([2, 2])).shape == (2, 2)


def test_signatures(tmp_path):
    class Two(tf.Module):
        def __init__(self):
            self.k = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], name="inp"), tf.TensorSpec([])])
        def f(self, x, by):
            return x * by + self.k, tf.constant([1.0, 2.0])

        @tf.function
        def g(self, x):
            return {"named": x}

    module = Two()
    signatures = again(module, tmp_path).signatures
    assert list(signatures) == ["serving_default"]  # the only function that can be
    served = signatures["serving_default"]
    assert served.structured_input_signature == (
        (),
        {"inp": tf.TensorSpec([None, 2], name="inp"), "by": tf.TensorSpec([], name="by")},
    )
    assert served.structured_outputs == {
        "output_0": tf.TensorSpec([None, 2], name="output_0"),
        "output_1": tf.TensorSpec([2], name="output_1"),
    }
    x = tf.constant([[1.0, 2.0]])
    close(served(inp=x, by=tf.constant(2.0))["output_0"], [[4.0, 6.0]])
    for wrong in ({}, {"inp": x}, {"inp": x, "by": 2.0, "more": x}, {"inp": x[0], "by": 2.0}):
        with pytest.raises(TypeError, match="Binding inputs"):
            served(**wrong)
    with pytest.raises(TypeError, match="positional"):
        served(x, 2.0)
    assert [v.name for v in served.variables] == ["Variable:0"]

    one = module.g.get_concrete_function(tf.TensorSpec([None], tf.float32))
    loaded = again(module, tmp_path, signatures={"a": one, "b": module.f})
    assert set(loaded.signatures) == {"a", "b"}
    close(loaded.signatures["a"](tf.constant([5.0]))["named"], [5.0])  # one may go without a name
    with pytest.raises(ValueError, match="input signature or concrete"):
        again(module, tmp_path, signatures=module.g)
    with pytest.raises(ValueError, match="input signature or concrete"):
        again(module, tmp_path, signatures=lambda x: x)


def test_control_flow_and_random_ops(tmp_path):
    w = tf.Variable(np.eye(3, dtype=np.float32) * 0.5)

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
    def f(x, steps):
        def body(i, state):
            return i + 1, tf.tanh(state @ w + tf.reshape(x, tf.shape(state)))

        _, state = tf.while_loop(lambda i, _: i < steps, body, (0, tf.zeros_like(x)))
        total = tf.reduce_sum(state)
        return tf.cond(total > 0, lambda: state * 2.0, lambda: state - 1.0)

    loaded = again(holding(f, w=w), tmp_path)
    for count, steps, sign in ((1, 0, 1.0), (4, 3, 1.0), (2, 5, -1.0)):
        x = tf.ones([count, 3]) * sign
        close(loaded.f(x, steps), f(x, steps))
        grads = []
        for function, variable in ((f, w), (loaded.f, loaded.w)):
            with tf.GradientTape() as tape:
                y = function(x, steps)
            grads.append(tape.gradient(y, variable))
        if steps:
            close(*grads)

    spec = [tf.TensorSpec([None])]
    drawn = tf.function(lambda x: x + tf.random.normal(tf.shape(x), seed=3), input_signature=spec)
    loaded = again(holding(drawn), tmp_path)
    first, second = loaded.f(tf.zeros(5)), loaded.f(tf.zeros(5))
    assert not np.array_equal(first, second)
    generator = tf.random.Generator.from_seed(7)
    drawn = tf.function(lambda x: x + generator.normal(tf.shape(x)), input_signature=spec)
    loaded = again(holding(drawn, generator=generator), tmp_path)
    for _ in range(3):  # it goes on from where it was saved
        close(loaded.f(tf.zeros(4)), drawn(tf.zeros(4)))
    counted = tf.Variable(0)
    counting = tf.function(lambda: counted.assign_add(2), input_signature=[])
    loaded = again(holding(counting, v=counted), tmp_path)
    assert [int(loaded.f()) for _ in range(3)] == [2, 4, 6]
    assert int(counted) == 0


def test_a_custom_gradient(tmp_path):
    scale = tf.Variable(10.0)

    @tf.custom_gradient
    def odd(x):
        y = tf.exp(x)
        unused = tf.reduce_sum(y)  # but by the gradient
        return y, lambda g: g * y * 100.0 + scale * 0.0 * unused

    f = tf.function(lambda x: odd(x) * 2.0, input_signature=[tf.TensorSpec([None])])
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    loaded = again(holding(f, scale=scale), tmp_path, options=options)
    x = tf.constant([0.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    close(tape.gradient(y, x), 200.0 * np.exp([0.0, 1.0, 2.0]))


def test_strings_tables_and_assets(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("one\ntwo\nthree\n")
    keys = tf.constant(["one", "two"])
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2], tf.int64)), -1
    )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def f(text):
        return table.lookup(tf.strings.split(tf.strings.lower(text)).to_tensor())

    module = holding(f, table=table, asset=tf.saved_model.Asset(str(path)))
    module.g = tf.function(lambda: module.asset.asset_path, input_signature=[])
    where = str(tmp_path / "saved")
    tf.saved_model.save(module, where)
    loaded = tf.saved_model.load(where)
    for text in (["One TWO"], ["two", "x one two"], ["a b c d e", "", "two"]):
        np.testing.assert_array_equal(loaded.f(text), f(tf.constant(text)))
    assert loaded.table.lookup(tf.constant(["two", "?"])).numpy().tolist() == [2, -1]
    file = loaded.asset.asset_path.numpy().decode()
    assert file == loaded.g().numpy().decode() == os.path.join(where, "assets", "words.txt")
    assert pathlib.Path(file).read_text() == "one\ntwo\nthree\n"


def test_assertions_and_prints_happen_in_a_loaded_function(tmp_path, capsys):
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        tf.debugging.assert_greater(x, 0.0, message="must be positive")
        tf.print("seen", tf.size(x))
        return x + 1.0

    loaded = again(holding(f), tmp_path)
    capsys.readouterr()
    close(loaded.f([1.0, 2.0]), [2.0, 3.0])
    close(loaded.f([1.0, 2.0]), [2.0, 3.0])
    assert capsys.readouterr().err == "seen 2\nseen 2\n"
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        loaded.f([-1.0])


def test_a_loaded_model_is_saved_again_and_used_in_functions(tmp_path):
    module = Line()
    module(tf.constant([1.0, 2.0]))
    f = tf.function(lambda x: module(x) * 2.0, input_signature=[tf.TensorSpec([2])])
    loaded = again(holding(f, line=module), tmp_path)
    loaded.line.v.assign(3.0)
    twice = again(loaded, tmp_path)
    close(twice.f([1.0, 2.0]), [6.0, 12.0])
    close(twice.line(tf.constant([1.0, 2.0])), [3.0, 6.0])
    inside = tf.function(lambda x: twice.line(x) + 1.0)
    for _ in range(3):
        close(inside(tf.constant([1.0, 2.0])), [4.0, 7.0])


def test_ragged_arguments(tmp_path):
    class Growing(tf.Module):
        def __init__(self):
            self.v = tf.Variable(100.0)

        @tf.function
        def grow(self, x):
            return x * self.v

    module = Growing()
    module.grow.get_concrete_function(tf.RaggedTensorSpec([None, None], tf.float32))
    loaded = again(module, tmp_path)
    grown = loaded.grow(tf.ragged.constant([[1.0, 4.0, 3.0], [2.0]]))
    assert grown.to_list() == [[100.0, 400.0, 300.0], [200.0]]


def test_another_process_needs_none_of_the_python(tmp_path):
    module = Line()
    module(tf.constant([1.0, 2.0]))
    tf.saved_model.save(module, str(tmp_path / "m"))
    code = (
        "import gradtape as tf; m = tf.saved_model.load('m'); m.mutate(tf.constant(4.0)); "
        "print(m(tf.constant([1.0, 2.0])).numpy().tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[4.0, 8.0]\n"


def test_the_files(tmp_path):
    module = Line()
    path = tmp_path / "m"
    assert not tf.saved_model.contains_saved_model(path)
    tf.saved_model.save(module, path)
    assert tf.saved_model.contains_saved_model(path)
    assert {"assets", "variables", "gradtape_model.json"} <= set(os.listdir(path))
    fresh = Line()
    tf.train.Checkpoint(v=fresh.v).restore(str(path / "variables" / "variables"))
    module.v.assign(9.0)
    tf.saved_model.save(module, path)  # over the first
    assert float(tf.saved_model.load(path).v) == 9.0
    data = (path / "gradtape_model.json").read_bytes()
    (path / "gradtape_model.json").write_bytes(data[:-20])
    with pytest.raises(tf.errors.DataLossError, match="gradtape_model"):
        tf.saved_model.load(path)


def test_what_cannot_be_saved_says_why(tmp_path):
    def refused(f, match, error=tf.errors.UnimplementedError, specs=None):
        function = tf.function(f, input_signature=specs or [tf.TensorSpec([None])])
        path = tmp_path / "refused"
        with pytest.raises(error, match=match):
            tf.saved_model.save(holding(function), path)
        assert not path.exists()

    v = tf.Variable(1.0)
    refused(lambda x: x * v, "'untracked' resource.*Variable:0", AssertionError)
    refused(lambda x: x if x[0] > 0 else -x, "looks at the value of.*tf.cond")
    refused(lambda x: tf.numpy_function(np.sin, [x], tf.float32), "numpy_function.*Python")
    refused(lambda x: x * float(int(tf.shape(x)[0])), "for any size.*without None")
    decode = lambda x: tf.strings.to_number(x)  # noqa: E731
    each = lambda x: tf.map_fn(decode, x, fn_output_signature=tf.float32)  # noqa: E731
    refused(
        each, "a loop in it cannot be part of a graph", specs=[tf.TensorSpec([None], tf.string)]
    )
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, tmp_path / "refused")
    with pytest.raises(OSError, match="SavedModel file does not exist"):
        tf.saved_model.load(tmp_path / "nothing")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "saved_model.pb").write_bytes(b"")
    assert tf.saved_model.contains_saved_model(theirs)
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"graph of TensorFlow's ops.*Checkpoint"
    ):
        tf.saved_model.load(theirs)


def test_counts_in_a_known_number_of_bins(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def f(x):
        return tf.math.bincount(x, minlength=4, maxlength=4, axis=-1)

    assert "scalar_of" not in f.get_concrete_function().pretty()
    loaded = again(holding(f), tmp_path)
    for rows in ([[0, 1, 1]], [[3, 9], [0, 0], [1, 2]]):
        np.testing.assert_array_equal(loaded.f(rows), f(tf.constant(rows)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        loaded.f([[-1]])


def test_mutable_tables(tmp_path):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a"]), tf.constant([5], tf.int64))

    @tf.function(input_signature=[tf.TensorSpec([2], tf.string)])
    def f(keys):
        before = table.lookup(keys)
        table.insert(keys, tf.constant([7, 8], tf.int64))
        return before, table.lookup(keys), table.size()

    loaded = again(holding(f, table=table), tmp_path)
    for wanted in ([5, -1], [7, 8], [7, 8]):
        before, after, size = loaded.f(tf.constant(["a", "b"]))
        assert before.numpy().tolist() == wanted
        assert after.numpy().tolist() == [7, 8]
        assert int(size) == 2
    assert int(table.size()) == 1  # another table


def test_updates_of_some_elements_of_a_variable(tmp_path):
    v = tf.Variable(np.zeros((4, 2), np.float32))

    @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
    def f(rows):
        v.scatter_add(tf.IndexedSlices(tf.ones([2, 2]), rows))
        v.scatter_nd_update(rows[:, None], tf.fill([2, 2], 3.0))
        v[1:2, 0].assign([9.0])
        return v.read_value()

    loaded = again(holding(f, v=v), tmp_path)
    for _ in range(3):
        np.testing.assert_array_equal(loaded.f([0, 3]), f(tf.constant([0, 3])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="scatter_add"):
        loaded.f([0, 4])
    np.testing.assert_array_equal(loaded.v, v)  # a failed call changes nothing


def test_examples_are_parsed(tmp_path):
    features = {
        "a": tf.io.FixedLenFeature([2], tf.float32),
        "b": tf.io.FixedLenFeature([], tf.int64, default_value=7),
    }
    spec = [tf.TensorSpec([None], tf.string)]
    f = tf.function(lambda x: tf.io.parse_example(x, features), input_signature=spec)
    loaded = again(holding(f), tmp_path)
    values = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"a": values}))
    for count in (1, 3):
        parsed = loaded.f(tf.constant([example.SerializeToString()] * count))
        assert parsed["a"].numpy().tolist() == [[1.0, 2.0]] * count
        assert parsed["b"].numpy().tolist() == [7] * count
    with pytest.raises(tf.errors.InvalidArgumentError, match="parse"):
        loaded.f(tf.constant(["no example"]))


def test_arguments_of_signatures_have_the_names_of_tensorflow(tmp_path):
    specs = [tf.TensorSpec([], name=name) for name in ("a-b", "c/d", "1x", "class", "a_b")]
    f = tf.function(lambda *xs: {"y": tf.add_n(xs)}, input_signature=specs)
    served = again(holding(f), tmp_path).signatures["serving_default"]
    names = ["a_b", "c_d", "arg_1x", "class_", "a_b_1"]
    assert list(served.structured_input_signature[1]) == names
    assert float(served(**{name: tf.constant(1.0) for name in names})["y"]) == 5.0


def test_functions_of_numpy_are_saved(tmp_path):
    tnp = tf.experimental.numpy
    spec = [tf.TensorSpec([3], tf.int32)]

    @tf.function(input_signature=spec)
    def f(x):
        steps = tnp.arange(x[0], 5)
        return tnp.gcd(x, 6), tf.reduce_sum(steps), tnp.take(x, x, mode="wrap"), tnp.signbit(-x)

    loaded = again(holding(f), tmp_path)
    for given in ([1, 2, 3], [4, 9, 12]):
        for got, wanted in zip(loaded.f(given), f(tf.constant(given)), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_gamma_keeps_its_error(tmp_path):
    specs = [tf.TensorSpec([2, 2, 3]), tf.TensorSpec([])]
    f = tf.function(lambda x, g: tf.image.adjust_gamma(x, g), input_signature=specs)
    loaded = again(holding(f), tmp_path)
    close(loaded.f(tf.fill([2, 2, 3], 0.5), 2.0), np.full((2, 2, 3), 0.25))
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        loaded.f(tf.ones([2, 2, 3]), -1.0)


def test_known_calls_of_a_loaded_function_are_not_mixed_up(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda a, b, scale=1.0: (a - b) * tf.cast(scale, a.dtype))
    for scale in (1.0, 2.0):
        model.f(tf.constant([1.0]), tf.constant([2.0]), scale=scale)
    model.f(tf.constant([1]), tf.constant([2]))
    tf.saved_model.save(model, str(tmp_path))
    f = tf.saved_model.load(str(tmp_path)).f
    a, b = tf.constant([5.0]), tf.constant([3.0])
    for _ in range(3):
        assert f(a, b).numpy() == [2.0]
        assert f(b=a, a=b).numpy() == [-2.0]
        assert f(a, b=b, scale=2.0).numpy() == [4.0]
        assert f(a, b, 2.0).numpy() == [4.0]
        assert f(tf.constant([5]), tf.constant([3])).numpy() == [2]
        assert f(np.float32([5.0]), b).numpy() == [2.0]
        v = tf.Variable([5.0])
        assert f(v, b).numpy() == [2.0]
        with pytest.raises(ValueError, match="Could not find matching"):
            f(a, b, 3.0)
        with pytest.raises(ValueError, match="Could not find matching"):
            f(a, {1, 2})


def test_a_known_call_of_a_loaded_function_has_a_gradient(tmp_path):
    model = tf.Module()
    model.v = tf.Variable([2.0])
    model.f = tf.function(lambda x: x * model.v, input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(model, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.constant([3.0])
    for _ in range(4):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded.f(x)
        by_x, by_v = tape.gradient(y, [x, loaded.v])
        assert (by_x.numpy(), by_v.numpy()) == ([2.0], [3.0])
        assert tf.function(lambda x: loaded.f(x) + 1.0)(x).numpy() == [7.0]
