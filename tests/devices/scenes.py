"""Programs on accelerators, one function each; `test_devices` runs them in a separate process.

Additional host devices of JAX simulate GPUs: XLA_FLAGS=--xla_force_host_platform_device_count=3
and GRADTAPE_STAND_IN=GPU.
"""

import contextlib
import copy
import io
import json
import pickle
import sys
import tempfile
import threading
import traceback

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradtape as tf
from gradtape.devices.array import JaxPort

LOCAL = "/job:localhost/replica:0/task:0/device:"
CPU, GPU, SECOND = f"{LOCAL}CPU:0", f"{LOCAL}GPU:0", f"{LOCAL}GPU:1"
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def raises(kind, function, *args, says="", **kwargs):
    """Check that `function` raises an error of this kind with this text; return it."""
    with pytest.raises(kind) as raised:
        function(*args, **kwargs)
    assert says in str(raised.value)
    return raised.value


@contextlib.contextmanager
def counting_fetches():
    """List the shapes of the values that are copied to the host within this scope."""
    fetch, fetched = JaxPort.fetch, []

    def counted(array):
        fetched.append(array.shape)
        return fetch(array)

    JaxPort.fetch = counted
    try:
        yield fetched
    finally:
        JaxPort.fetch = fetch


def on_gpu(value, **kwargs):
    with tf.device("/GPU:0"):
        return tf.constant(value, **kwargs)


def handle_of(tensor):
    """The JAX device that holds the copy of a tensor."""
    array, handle = tensor._array.device_copy
    assert array.device is handle
    return handle


def scene_devices_are_listed():
    names = [d.name for d in tf.config.list_physical_devices()]
    assert names == [f"/physical_device:{n}" for n in ("CPU:0", "GPU:0", "GPU:1")]
    assert [d.device_type for d in tf.config.list_physical_devices("GPU")] == ["GPU", "GPU"]
    assert tf.config.list_physical_devices("TPU") == []
    assert [d.name for d in tf.config.list_logical_devices("GPU")] == [
        "/device:GPU:0",
        "/device:GPU:1",
    ]
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert tf.test.is_gpu_available()


def scene_ops_run_on_the_requested_device():
    x = tf.constant(MATRIX)
    with tf.device("/GPU:0"):
        results = [x * x, x + 1, 2 / x, -x, x @ x, tf.reduce_sum(x, 0), tf.exp(x), x[0], x > 2.0]
        results += [tf.concat([x, x], 0), *tf.unstack(x), tf.cast(x, tf.int32), tf.nn.softmax(x)]
        results += [tf.transpose(x), tf.where(x > 2.0, x, 0.0), tf.stack([x, x]), tf.shape(x)]
    want = [x * x, x + 1, 2 / x, -x, x @ x, tf.reduce_sum(x, 0), tf.exp(x), x[0], x > 2.0]
    want += [tf.concat([x, x], 0), *tf.unstack(x), tf.cast(x, tf.int32), tf.nn.softmax(x)]
    want += [tf.transpose(x), tf.where(x > 2.0, x, 0.0), tf.stack([x, x]), tf.shape(x)]
    for got, expected in zip(results, want, strict=True):
        assert got.device == GPU, got
        assert expected.device == CPU
        assert got.dtype is expected.dtype
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)
    assert handle_of(results[0]) is jax.devices()[1]


def scene_new_tensors_are_on_the_requested_device():
    with tf.device("/device:GPU:1"):
        made = [tf.constant(1.0), tf.zeros([2]), tf.range(3), tf.random.normal([2]), tf.eye(2)]
        made += [
            tf.random.stateless_uniform([2], [1, 2]),
            tf.fill([2], 3),
            tf.linspace(0.0, 1.0, 3),
        ]
        words = tf.constant(["a", "b"])
    assert {t.device for t in made} == {SECOND}
    assert words.device == CPU
    assert tf.strings.length(words).device == CPU


def scene_names_are_parsed_as_in_tensorflow():
    full = "/job:localhost/replica:0/task:0/device:GPU:1"
    for name in ("/GPU:1", "GPU:1", "/gpu:1", "/device:GPU:1", "/device:gpu:1", full):
        with tf.device(name):
            assert tf.constant(1.0).device == SECOND
    with tf.device(tf.config.list_logical_devices("GPU")[1]):
        assert tf.constant(1.0).device == SECOND
    with tf.device("/GPU"), tf.device("/job:localhost"), tf.device(""):
        assert tf.constant(1.0).device == GPU
        with tf.device(None):
            assert tf.constant(1.0).device == CPU
        assert tf.constant(1.0).device == GPU
    for missing in ("/GPU:7", "/TPU:0", "/device:XYZ:0", "/CPU:3"):
        with tf.device(missing):
            assert tf.constant(1.0).device == CPU
    raises(ValueError, tf.device("/foo:0").__enter__, says="Unknown attribute 'foo'")
    raises(ValueError, tf.device("/GPU:0:1").__enter__, says="Unknown attribute 'GPU'")
    raises(ValueError, tf.device("CPU:x").__enter__)
    raises(ValueError, tf.device(3).__enter__, says="string device name")
    raises(tf.errors.InvalidArgumentError, tf.device("/job:foo").__enter__, says="/job:foo/")
    assert tf.constant(1.0).device == CPU


def scene_operands_are_copied_to_the_device_of_the_op():
    here, there = tf.constant(MATRIX), on_gpu(MATRIX)
    with tf.device("/GPU:1"):
        other = tf.identity(there)
        assert (here + there).device == (there + other).device == other.device == SECOND
        assert tf.convert_to_tensor(there).device == GPU
    with tf.device("/CPU:0"):
        assert (there + other).device == tf.identity(there).device == CPU
    # Without tf.device: on an accelerator if an operand is there
    assert (here + there).device == (there + here).device == (there * 2).device == GPU
    assert (other + other).device == GPU
    assert (here + here).device == CPU
    assert there.cpu().device == CPU
    assert here.gpu(1).device == SECOND
    raises(RuntimeError, here.gpu, 5, says="GPU:5 unknown device")
    np.testing.assert_array_equal(other.numpy(), MATRIX)


def scene_tensors_have_their_value_on_the_host():
    x = on_gpu(MATRIX)
    y = x * 1
    mine = y.numpy()
    mine[0, 0] = 7
    assert y.numpy()[0, 0] == 1
    assert not np.asarray(y).flags.writeable
    assert repr(y) == repr(tf.constant(MATRIX))
    assert str(y) == str(tf.constant(MATRIX))
    assert float(y[0, 1]) == 2.0
    assert int(tf.cast(y[1, 1], tf.int32)) == 4
    assert bool(tf.reduce_all(y > 0))
    assert [float(row[0]) for row in y] == [1.0, 3.0]
    assert len(y) == 2
    assert y.shape == (2, 2)
    assert y.dtype is tf.float32
    assert f"{y[0, 0]:.2f}" == "1.00"
    assert pickle.loads(pickle.dumps(y)).numpy().tolist() == MATRIX.tolist()
    assert np.add(y, 1)[0, 0] == 2
    assert repr(on_gpu(1 + 2j)) == repr(tf.constant(1 + 2j))
    assert tf.is_tensor(y)
    assert isinstance(y, tf.Tensor)
    assert type(y).__name__ == "EagerTensor"


def scene_variables_stay_where_they_were_made():
    with tf.device("/GPU:0"):
        v = tf.Variable(MATRIX)
        copied = tf.Variable(tf.constant(MATRIX).cpu())
    home = tf.Variable(MATRIX)
    assert v.device == copied.device == GPU
    assert home.device == CPU
    with counting_fetches() as fetched:
        v.assign_add(tf.ones([2, 2]))
        v.assign_sub(v)
        v.assign(tf.constant(MATRIX))
        with tf.device("/CPU:0"):
            v.assign(tf.constant(MATRIX))
        v.assign(v * 2)
    assert not fetched
    with tf.device("/CPU:0"):
        v.assign_add(MATRIX)
        assert v.device == GPU
        assert (v + 1).device == CPU
    with tf.device("/GPU:1"):
        home.assign(MATRIX)
        home.assign_add(MATRIX)
        home.assign_sub(tf.constant(MATRIX))
        assert home.device == CPU
        assert v.device == GPU
        assert v.read_value().device == SECOND
    np.testing.assert_array_equal(v.numpy(), 3 * MATRIX)
    np.testing.assert_array_equal(home.numpy(), MATRIX)
    v.scatter_add(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1])))
    v[0, 0].assign(9.0)
    assert v.device == GPU
    np.testing.assert_array_equal(v.numpy(), [[9, 6], [10, 13]])
    raises(ValueError, v.assign, tf.ones([3]), says="incompatible")
    raises(tf.errors.InvalidArgumentError, v.assign_add, tf.ones([3]), says="shapes must be equal")
    np.testing.assert_array_equal(v.numpy(), [[9, 6], [10, 13]])
    assert copy.deepcopy(v).numpy().tolist() == v.numpy().tolist()


def mlp(seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(3, 5), (5,), (5, 2), (2,)]
    return [tf.Variable(rng.normal(size=s).astype(np.float32)) for s in shapes]


def loss_of(weights, x, y):
    w, b, u, c = weights
    return tf.reduce_mean(tf.square(tf.tanh(x @ w + b) @ u + c - y))


def scene_tapes_work_on_the_device():
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=s).astype(np.float32) for s in ((4, 3), (4, 2)))
    plain = mlp()
    with tf.device("/GPU:0"):
        weights = mlp()
        data = tf.constant(x), tf.constant(y)
    with counting_fetches() as fetched:
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = loss_of(weights, *data)
            gradients = tape.gradient(loss, weights)
            for weight, g in zip(weights, gradients, strict=True):
                assert g.device == GPU
                weight.assign_sub(0.1 * g)
    assert not fetched
    for _ in range(3):
        with tf.GradientTape() as tape:
            wanted = loss_of(plain, tf.constant(x), tf.constant(y))
        for weight, g in zip(plain, tape.gradient(wanted, plain), strict=True):
            weight.assign_sub(0.1 * g)
    assert loss.device == GPU
    np.testing.assert_allclose(loss.numpy(), wanted.numpy(), rtol=1e-5)
    for a, b in zip(weights, plain, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)


def scene_tapes_of_every_kind_work_on_the_device():
    def asked(x):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(x) * x)
            first = inner.gradient(y, x)
            z = x * x
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            w = tf.exp(x)
        table = tf.Variable(x)
        with tf.GradientTape() as tape:
            rows = tf.gather(table, [1, 1])
        sparse = tape.gradient(rows, table)
        return [
            first,
            outer.gradient(first, x),
            outer.jacobian(z, x),
            acc.jvp(w),
            tf.convert_to_tensor(sparse),
            sparse.values,
        ]

    with tf.device("/GPU:0"):
        there = asked(tf.constant(MATRIX))
    for got, want in zip(there, asked(tf.constant(MATRIX)), strict=True):
        assert got.device == GPU
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5)


def scene_a_gradient_crosses_devices():
    v = tf.Variable(MATRIX)
    with tf.GradientTape() as tape:
        with tf.device("/GPU:0"):
            a = v * v
        with tf.device("/GPU:1"):
            b = a * 3
        with tf.device("/CPU:0"):
            y = tf.reduce_sum(b)
    g = tape.gradient(y, v)
    assert (a.device, b.device, y.device) == (GPU, SECOND, CPU)
    np.testing.assert_allclose(g.numpy(), 6 * MATRIX)


def scene_functions_run_on_the_device():
    with tf.device("/GPU:0"):
        weights = mlp()
        x, y = tf.ones([4, 3]), tf.ones([4, 2])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, x, y)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.1 * g)
        return loss

    losses = [step(x, y)]
    losses.append(step(x, y))
    with counting_fetches() as fetched:
        for _ in range(4):
            losses.append(step(x, y))
    assert not fetched  # variables and results stay on the device between calls
    assert {loss.device for loss in losses} == {GPU}
    assert {w.device for w in weights} == {GPU}
    assert handle_of(losses[-1]) is handle_of(weights[0]._value) is jax.devices()[1]
    plain = mlp()
    with tf.device("/CPU:0"):
        for got in losses:
            with tf.GradientTape() as tape:
                want = loss_of(plain, tf.ones([4, 3]), tf.ones([4, 2]))
            for w, g in zip(plain, tape.gradient(want, plain), strict=True):
                w.assign_sub(0.1 * g)
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-4)


def scene_functions_run_on_the_requested_device():
    @tf.function
    def double(x):
        return x * 2

    @tf.function
    def inside(x):
        with tf.device("/GPU:1"):
            return x * 2

    x = tf.constant(MATRIX)
    for _ in range(3):
        assert double(x).device == CPU
        with tf.device("/GPU:1"):
            assert double(x).device == SECOND
        assert double(on_gpu(MATRIX)).device == GPU
        with tf.device("/CPU:0"):
            assert double(on_gpu(MATRIX)).device == CPU
        assert inside(x).device == SECOND
        np.testing.assert_array_equal(inside(x).numpy(), 2 * MATRIX)
    with tf.device("/GPU:0"):
        factor = tf.Variable(2.0)

    @tf.function
    def total(data):
        result = tf.constant(0.0)
        for number in data:
            result += tf.cast(number, tf.float32) * factor
        return result

    for _ in range(3):  # the loop runs in Python, not in XLA, but the result is on the device
        assert total(tf.data.Dataset.range(4)).device == GPU
        assert total(tf.data.Dataset.range(4)).numpy() == 12
    home = tf.Variable(MATRIX)

    @tf.function
    def shift():
        home.assign_add(tf.ones([2, 2]))
        return home.read_value()

    with tf.device("/GPU:0"):
        for _ in range(4):
            assert shift().device == GPU
    assert home.device == CPU  # both copies are kept; the value is fetched on first access
    assert handle_of(home._value) is jax.devices()[1]
    np.testing.assert_array_equal(home.numpy(), MATRIX + 4)
    assert (home + 1).device == CPU


def scene_functions_under_a_tape_and_with_python_branches():
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            for _ in tf.range(3):
                x = x * 2
            return x
        return -x

    def asked(x):
        answers = []
        for sign in (1.0, -1.0, 1.0, -1.0):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(f(x * sign) ** 2)
            answers += [y, tape.gradient(y, x)]
        return answers

    there = asked(on_gpu(MATRIX))
    for got, want in zip(there, asked(tf.constant(MATRIX)), strict=True):
        assert got.device == GPU
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)


def scene_a_failed_call_changes_nothing():
    with tf.device("/GPU:0"):
        v = tf.Variable(MATRIX)

    @tf.function
    def step(x):
        v.assign_add(x)
        tf.debugging.assert_less(x, 10.0)
        return x

    step(on_gpu(MATRIX))
    for _ in range(3):
        raises(tf.errors.InvalidArgumentError, step, on_gpu(100 * MATRIX))
        np.testing.assert_array_equal(v.numpy(), 2 * MATRIX)
    step(on_gpu(MATRIX))
    np.testing.assert_array_equal(v.numpy(), 3 * MATRIX)
    assert v.device == GPU


def scene_second_order_through_a_function():
    with tf.device("/GPU:0"):
        v = tf.Variable([1.0, 2.0])
        x = tf.constant([3.0, 4.0])
    f = tf.function(lambda x: tf.reduce_sum(tf.sin(x) * v))
    for _ in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x)
        second = outer.gradient(first, x)
        assert first.device == second.device == GPU
        np.testing.assert_allclose(second.numpy(), -np.sin([3, 4]) * [1, 2], rtol=1e-5)
    known = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert known(x).device == GPU


def scene_64_bits_stay_64_bits():
    assert not jax.config.jax_enable_x64
    numbers = np.array([2**40 + 1, -3])
    tiny = np.array([1.0, 1e-12])
    with tf.device("/GPU:0"):
        i, x = tf.constant(numbers), tf.constant(tiny)
        results = [i + 1, i * i, x * x, tf.reduce_sum(x), tf.exp(x), tf.cast(i, tf.float64)]
        f = tf.function(lambda i, x: (i + 1, tf.reduce_sum(x), x * np.float64(3)))
        f(i, x)
        results += f(i, x)
    want = [numbers + 1, numbers * numbers, tiny * tiny, tiny.sum(), np.exp(tiny)]
    want += [numbers.astype(float), numbers + 1, tiny.sum(), tiny * 3]
    for got, expected in zip(results, want, strict=True):
        assert got.device == GPU
        assert got.numpy().dtype == expected.dtype
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-15)
    assert not jax.config.jax_enable_x64
    assert jnp.arange(3).dtype == jnp.int32
    assert jnp.ones(3).device is jax.devices()[0]


def scene_ops_that_a_device_cannot_run_fall_back_to_the_host():
    with tf.device("/GPU:0"):
        x = tf.constant([0, 2, 2])
        assert tf.where(x > 0).numpy().tolist() == [[1], [2]]
        assert tf.boolean_mask(x, x > 0).numpy().tolist() == [2, 2]
        assert tf.unique(x)[0].numpy().tolist() == [0, 2]
        assert tf.strings.as_string(x).numpy().tolist() == [b"0", b"2", b"2"]
        try:
            tf.config.set_soft_device_placement(False)
            assert not tf.config.get_soft_device_placement()
            assert (x + x).device == GPU
            error = raises(tf.errors.InvalidArgumentError, tf.where, x > 0, says="where_true")
            assert "GPU:0" in str(error)
            raises(tf.errors.InvalidArgumentError, tf.unique, x, says="unique")
            function = tf.function(lambda x: tf.unique(x)[0])
            raises(tf.errors.InvalidArgumentError, lambda: [function(x), function(x)])
            missing = tf.device("/GPU:5")
            raises(tf.errors.InvalidArgumentError, missing.__enter__, says="device:GPU:5'")
        finally:
            tf.config.set_soft_device_placement(True)


def scene_errors_are_those_of_the_host():
    with tf.device("/GPU:0"):
        x = tf.ones([2, 3])
        error = tf.errors.InvalidArgumentError
        raises(error, lambda: x + tf.ones([4]), says="Incompatible shapes")
        raises(error, tf.matmul, x, x)
        raises(error, tf.reshape, x, [5])
        raises(error, lambda: x + tf.ones([2, 3], tf.float64))


def scene_ops_log_their_device():
    x = tf.ones([2])
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        try:
            tf.debugging.set_log_device_placement(True)
            assert tf.debugging.get_log_device_placement()
            x * x
            with tf.device("/GPU:0"):
                tf.reduce_sum(x)
        finally:
            tf.debugging.set_log_device_placement(False)
        x + x
    assert out.getvalue().splitlines() == [
        f"Executing op multiply in device {CPU}",
        f"Executing op reduce_sum in device {GPU}",
    ]


def scene_a_scope_belongs_to_its_thread():
    seen = []
    with tf.device("/GPU:0"):
        thread = threading.Thread(target=lambda: seen.append(tf.constant(1.0).device))
        thread.start()
        thread.join()
    assert seen == [CPU]


def scene_checkpoints_and_datasets_work_with_devices():
    with tf.device("/GPU:0"):
        v = tf.Variable(MATRIX)
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(v=v).save(f"{folder}/ckpt")
            v.assign(tf.zeros([2, 2]))
            tf.train.Checkpoint(v=v).restore(path)
    assert v.device == GPU
    np.testing.assert_array_equal(v.numpy(), MATRIX)
    data = tf.data.Dataset.from_tensor_slices(on_gpu(MATRIX)).map(lambda row: row * 2)
    assert [row.device for row in data] == [CPU, CPU]
    with tf.device("/GPU:0"):
        assert [(row + v).device for row in data] == [GPU, GPU]


def scene_host_functions_get_arrays():
    x = on_gpu(MATRIX)
    assert type(tf.numpy_function(lambda a: a.sum(), [x], tf.float32).numpy()) is np.float32
    assert tf.py_function(lambda a: a * 2, [x], tf.float32).numpy().tolist() == [[2, 4], [6, 8]]

    @tf.custom_gradient
    def clipped(a):
        return a * 2, lambda g: tf.clip_by_value(g, -1.0, 1.0)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(clipped(x) * 5)
    g = tape.gradient(y, x)
    assert g.device == GPU
    assert g.numpy().tolist() == [[1, 1], [1, 1]]


def scene_the_xla_engine_keeps_values_on_its_own_device():
    """No device is requested; the default device of JAX is an accelerator."""
    v = tf.Variable(MATRIX)

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x)
        return tf.reduce_sum(v)

    x = tf.constant(MATRIX)
    with jax.default_device(jax.devices()[2]):
        step(x)
        step(x)
        with counting_fetches() as fetched:
            for _ in range(3):
                total = step(x)
        assert not fetched
        assert handle_of(v._value) is jax.devices()[2]
        assert v.device == total.device == CPU
        assert total.numpy() == 60
        assert fetched == []
    np.testing.assert_array_equal(v.numpy(), 6 * MATRIX)
    assert (v + x).device == CPU


def scene_details_and_memory():
    first = tf.config.list_physical_devices("GPU")[0]
    details = tf.config.experimental.get_device_details(first)
    assert details == {"device_name": "cpu"}
    raises(ValueError, tf.config.experimental.get_memory_info, "GPU:0", says="not available")
    raises(ValueError, tf.config.experimental.get_memory_info, "GPU:9", says="No matching devices")
    raises(ValueError, tf.config.experimental.get_memory_info, "foo", says="Failed parsing")
    assert tf.config.experimental.get_memory_growth(first) is None
    growth = tf.config.experimental.set_memory_growth
    raises(RuntimeError, growth, first, True, says="cannot be modified")
    raises(RuntimeError, tf.config.set_visible_devices, [], "GPU", says="cannot be modified")
    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU"), "GPU")
    assert len(tf.config.get_visible_devices()) == 3
    raises(ValueError, tf.config.set_visible_devices, tf.config.list_physical_devices("CPU"), "GPU")
    raises(RuntimeError, tf.engine.stand_in, "TPU", says="in use already")
    raises(ValueError, tf.engine.stand_in, "CPU")


SCENES = {name: f for name, f in list(globals().items()) if name.startswith("scene_")}


def main():
    """Run the named scenes, and print the traceback of each, or an empty string."""
    results = {}
    for name in sys.argv[1:] or SCENES:
        try:
            SCENES[name]()
            results[name] = ""
        except BaseException:
            results[name] = traceback.format_exc()
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main()
