"""XLA results stay JAX arrays and are converted to NumPy on first access."""

import copy
import pickle
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape import engine
from gradtape.compile.cost_model import calls_until_xla
from gradtape.compile.xla.kernel_namespace import has_jax
from gradtape.core.lazy_array import LazyTensor
from gradtape.core.lock import Lock
from gradtape.core.tensor import EagerTensor
from gradtape.state.variable.commit import ExclusiveUpdate

pytestmark = pytest.mark.skipif(not has_jax(), reason="jax is not installed")


def lazy_double(x):
    """A lazy result of XLA: `2 x`."""
    double = tf.function(lambda x: x + x, jit_compile=True)
    for _ in range(3):
        result = double(tf.constant(x))
    assert type(result) is LazyTensor
    return result


def test_a_result_becomes_an_ordinary_tensor_on_first_access():
    result = lazy_double([1.0, 2.0])
    assert isinstance(result, tf.Tensor)
    assert type(result).__name__ == "EagerTensor"
    assert result.shape == [2]
    assert type(result) is EagerTensor
    np.testing.assert_array_equal(result.numpy(), [2.0, 4.0])
    result.numpy()[:] = 0  # a copy
    np.testing.assert_array_equal(result.numpy(), [2.0, 4.0])


@pytest.mark.parametrize(
    "access",
    [
        lambda t: t + 0.0,
        lambda t: tf.identity(t),
        lambda t: tf.matmul(t, tf.eye(2)),
        lambda t: tf.concat([t, t], 0)[:2],
        lambda t: tf.constant(t.numpy()),
        lambda t: tf.constant(np.asarray(t)),
        lambda t: copy.deepcopy(t),
        lambda t: pickle.loads(pickle.dumps(t)),
        lambda t: tf.Variable(t).read_value(),
        lambda t: tf.function(lambda x: x * 1.0)(t),
        lambda t: tf.data.Dataset.from_tensors(t).get_single_element(),
        lambda t: tf.map_fn(lambda row: row, t),
    ],
)
def test_every_kind_of_access_gives_the_value(access):
    np.testing.assert_array_equal(access(lazy_double([[1.0, 2.0], [3.0, 4.0]])), [[2, 4], [6, 8]])


def test_a_tape_differentiates_with_respect_to_and_through_a_lazy_tensor():
    x = lazy_double([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(tape.gradient(y, x), [4.0, 8.0])


def test_scalars_and_wide_types_come_back_as_they_are():
    scalar = lazy_double(np.float64(1 / 3))
    assert scalar.numpy().dtype == np.float64
    assert scalar.numpy() == 2 / 3
    assert int(lazy_double(np.int64(2**40))) == 2**41


def test_variables_stay_lazy_between_calls():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(w * x)
        return tf.reduce_sum(v)

    x = tf.constant([1.0, 1.0])
    sums = [step(x) for _ in range(5)]
    assert type(v._value) is LazyTensor
    assert [float(s) for s in sums] == [9, 15, 21, 27, 33]
    v.assign_sub([1.0, 1.0])
    w.assign(0.0)
    assert float(step(x)) == 31
    assert float(step(tf.constant([2.0, 2.0]))) == 31
    np.testing.assert_array_equal(v, [15.0, 16.0])


def test_many_variables_are_updated_together():
    variables = [tf.Variable(float(i)) for i in range(40)]

    @tf.function(jit_compile=True)
    def step():
        for v in variables:
            v.assign_add(1.0)

    for _ in range(4):
        step()
    assert [float(v) for v in variables] == [i + 4.0 for i in range(40)]
    assert len({v._value.uid for v in variables}) == 40
    assert all(v._value.uid < 0 for v in variables)


def test_a_tape_distinguishes_the_versions_of_a_variable():
    v = tf.Variable(2.0)
    double = tf.function(lambda: v.assign(2 * v), jit_compile=True)
    for _ in range(3):
        double()
    with tf.GradientTape() as tape:
        before = v * v
        v.assign(v.read_value() + 1.0)
        y = before * v
    assert float(tape.gradient(y, v)) == 2 * 16 * 17 + 16 * 16  # by both


def test_a_cached_argument_is_not_mistaken_for_another():
    add = tf.function(lambda x, y: x + y, jit_compile=True)
    a, b = tf.constant([1.0, 2.0]), tf.constant(1.0)
    for _ in range(4):
        np.testing.assert_array_equal(add(a, b), [2.0, 3.0])
    np.testing.assert_array_equal(add(a + 1.0, b), [3.0, 4.0])
    np.testing.assert_array_equal(add(a, b + 1.0), [3.0, 4.0])
    v = tf.Variable([1.0, 2.0])
    read = tf.function(lambda: v * 1.0, jit_compile=True)
    for k in range(5):
        np.testing.assert_array_equal(read(), [1.0 + k // 2, 2.0 + k // 2])
        if k % 2:
            v.assign_add([1.0, 1.0])


def test_arrays_of_the_program_may_change_between_calls():
    add = tf.function(lambda x: x + 1.0, jit_compile=True)
    array = np.array([1.0, 2.0], np.float32)
    tensor = tf.convert_to_tensor(array)
    for _ in range(4):
        np.testing.assert_array_equal(add(tensor), [2.0, 3.0])
    array[:] = 5.0
    np.testing.assert_array_equal(add(tensor), tensor.numpy() + 1)


def test_threads_may_access_a_result_concurrently():
    for _ in range(20):
        result, seen = lazy_double([1.0, 2.0]), []
        threads = [
            threading.Thread(target=lambda r=result, s=seen: s.append(r.numpy())) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(seen, [[2.0, 4.0]] * 4)


class AnnouncingLock(Lock):
    """A lock with an event that is set when a thread is about to take it."""

    def __init__(self):
        self.wanted = threading.Event()

    def acquire(self, *args):
        self.wanted.set()
        return super().acquire(*args)


def test_a_call_waits_for_a_variable_that_is_being_updated():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    add = tf.function(lambda: v + w, jit_compile=True)
    for _ in range(3):
        add()
    lock = w._lock = AnnouncingLock()
    taken, begun = ExclusiveUpdate([w]), threading.Event()

    def update():
        with taken:
            lock.wanted.clear()
            begun.set()
            lock.wanted.wait(60)  # until the call below has come to the lock

    thread = threading.Thread(target=update)
    thread.start()
    begun.wait()
    np.testing.assert_array_equal(add(), [4.0, 6.0])
    thread.join()


def test_a_failed_check_changes_nothing():
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x)
        tf.debugging.assert_less(x, 10.0)
        return v + 0.0

    for _ in range(3):
        step(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(20.0))
    assert float(v) == 4.0


# -- when XLA takes over


def test_a_graph_of_many_small_ops_goes_to_xla_after_a_number_of_calls():
    def work(x):
        for _ in range(130):
            x = tf.tanh(x) + 0.5
        return x

    f = tf.function(work)
    x = tf.constant([0.1, 0.2])
    expected = work(x).numpy()
    kinds = []
    for _ in range(400):
        result = f(x)
        kinds.append(type(result) is LazyTensor)
        np.testing.assert_allclose(result, expected, rtol=1e-5)
    assert kinds == sorted(kinds)
    assert 1e5 / 260 < kinds.index(True) + 1 < 1e5 / 250 + 3
    assert f.experimental_get_tracing_count() == 1

    stays = tf.function(work)
    engine.use("numpy", stays)
    assert not any(type(stays(x)) is LazyTensor for _ in range(420))


def test_few_ops_stay_on_numpy():
    few = tf.function(lambda x: tf.tanh(x) + 1.0)
    assert not any(type(few(tf.constant([1.0]))) is LazyTensor for _ in range(500))


@pytest.mark.parametrize(("size", "goes"), [(8, True), (128, False)])
def test_many_products_of_large_matrices_stay_on_numpy(size, goes):
    def work(x):
        for _ in range(110):
            x = x @ x
        return x

    concrete = tf.function(work).get_concrete_function(tf.TensorSpec([size, size]))
    assert (calls_until_xla(concrete._path.graph) is not None) == goes


def test_a_loop_with_many_known_iterations_goes_to_xla_at_once():
    @tf.function
    def turned(x, steps):
        return tf.foldl(lambda x, step: x * 0.5 + step, steps, x)

    steps = tf.ones(100_000)
    for _ in range(3):
        result = turned(tf.constant(0.0), steps)
    assert type(result) is LazyTensor
    assert float(result) == 2.0
