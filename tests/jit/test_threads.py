"""Threads that call functions lose no update, and see no update in part."""

import sys
import threading

import numpy as np
import pytest

import gradtape as tf

THREADS, CALLS = 8, 60


@pytest.fixture(autouse=True)
def many_switches():
    """Let Python switch threads often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run_together(*works):
    """Run functions in threads at once, and raise what they raise."""
    errors = []
    start = threading.Barrier(len(works))

    def run(work):
        try:
            start.wait()
            for _ in range(CALLS):
                work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


@pytest.mark.parametrize("size", [1, 20_000])
@pytest.mark.parametrize("is_traced", [True, False])
def test_one_function(size, is_traced):
    v, one = tf.Variable(tf.zeros([size])), tf.ones([size])
    add = tf.function(lambda: v.assign_add(one, read_value=False))
    if is_traced:
        add()
        v.assign(tf.zeros([size]))
    run_together(*[add] * THREADS)
    assert v.numpy().min() == v.numpy().max() == THREADS * CALLS
    assert add.experimental_get_tracing_count() == 1


def test_functions_that_share_variables():
    variables = [tf.Variable([0.0, 0.0]) for _ in range(10)]

    def make(k):
        mine = [v for i, v in enumerate(variables) if (i + k) % 4]

        def body(x):
            for v in mine:
                v.assign_add(x)
            return variables[k] + variables[-1]

        return tf.function(body)

    functions = [make(k) for k in range(4)]
    x = tf.ones(2)
    run_together(*[lambda f=functions[k % 4]: f(x) for k in range(THREADS)])
    counts = [sum(bool((i + k % 4) % 4) for k in range(THREADS)) for i in range(10)]
    assert [int(v.numpy()[0]) for v in variables] == [n * CALLS for n in counts]


def test_functions_eager_updates_and_tapes():
    v, rows = tf.Variable(1.0), tf.Variable([0.0, 0.0])

    @tf.function
    def step(x):
        v.assign_add(x)
        rows.scatter_add(tf.IndexedSlices([1.0], [0]))
        return v * x

    def taped():
        with tf.GradientTape() as tape:
            y = step(tf.constant(1.0))
        assert tape.gradient(y, v) is not None

    def eager():
        v.assign_add(1.0)
        rows.scatter_add(tf.IndexedSlices([1.0], [1]))

    run_together(*[taped, eager, lambda: step(tf.constant(1.0)), eager] * 2)
    assert float(v) == 1.0 + 8 * CALLS
    assert rows.numpy().tolist() == [4 * CALLS, 4 * CALLS]


def test_guards_and_host_functions():
    n, even, calls = tf.Variable(0), tf.Variable(0), []

    @tf.function
    def step():
        n.assign_add(1)
        tf.numpy_function(lambda z: (calls.append(1), z)[1], [n], tf.int32)
        if n % 2 == 0:
            even.assign_add(1)

    run_together(*[step] * THREADS)
    total = THREADS * CALLS
    assert (int(n), int(even), len(calls)) == (total, total // 2, total)


def test_variables_as_arguments():
    v = tf.Variable(0.0)
    add = tf.function(lambda a, x: a.assign_add(x))
    run_together(*[lambda: add(v, tf.constant(1.0))] * THREADS)
    assert float(v) == THREADS * CALLS


def test_a_loaded_model(tmp_path):
    class Counter(tf.Module):
        def __init__(self):
            self.n = tf.Variable(0.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def add(self, x):
            return self.n.assign_add(x) + 0.0

    tf.saved_model.save(Counter(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    run_together(*[lambda: loaded.add(tf.constant(1.0))] * THREADS)
    assert float(loaded.n) == THREADS * CALLS


def test_a_variable_is_created_once_by_first_calls_at_once():
    class Model:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(0.0)
            return self.v.assign_add(tf.reduce_sum(x))

    model = Model()
    shapes = [tf.ones([k % 4 + 1]) / (k % 4 + 1) for k in range(THREADS)]
    run_together(*[lambda x=x: model(x) for x in shapes])
    np.testing.assert_allclose(model.v.numpy(), THREADS * CALLS, rtol=1e-5)


@pytest.mark.parametrize("is_guarded", [False, True])
def test_readers_see_all_variables_at_one_moment(is_guarded):
    v, w, wrong = tf.Variable(0.0), tf.Variable(0.0), []

    @tf.function
    def write():
        v.assign_add(1.0)
        w.assign_add(1.0)

    @tf.function
    def overwrite():
        v.assign(5.0)
        w.assign(5.0)

    @tf.function
    def read():
        x = v + 0.0
        if is_guarded and tf.reduce_sum(x) < -1.0:
            return x
        return x - w

    def look():
        if float(read()) != 0.0:
            wrong.append(1)

    run_together(write, look, overwrite, look, write, look)
    assert not wrong


def test_an_assignment_is_not_undone_by_a_function_that_runs():
    size = 50_000
    v, one = tf.Variable(tf.zeros(size)), tf.ones(size)
    add = tf.function(lambda: v.assign_add(one, read_value=False))
    for _ in range(3):
        add()
    thread = threading.Thread(target=lambda: [add() for _ in range(200)])
    thread.start()
    v.assign(tf.fill([size], -1e6))
    thread.join()
    assert -1e6 <= v.numpy().min() == v.numpy().max() <= -1e6 + 200


def test_count_up_to_stops_at_its_limit():
    v, ends = tf.Variable(0), []
    add = tf.function(lambda: v.assign_add(1, read_value=False))

    def count():
        try:
            v.count_up_to(100)
        except tf.errors.OutOfRangeError:
            ends.append(int(v))

    run_together(count, count, count, count)
    assert int(v) == 100
    assert len(ends) == 4 * CALLS - 100
    add()
    assert int(v) == 101
