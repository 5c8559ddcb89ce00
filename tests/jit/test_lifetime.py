"""tf.function over time: no leaks of objects or memory, and correct results from threads."""

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import gradtape as tf


class Model:
    """An object with a compiled step."""

    def __init__(self):
        self.w = tf.Variable(tf.ones((3, 3)))
        self.step = tf.function(self.plain)

    def plain(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(x @ self.w))
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
        return loss

    @tf.function
    def method(self, x):
        return x @ self.w

    @tf.function
    def branching(self, x):
        if tf.reduce_sum(x) > 0.0:
            return x @ self.w
        return tf.numpy_function(np.negative, [x], tf.float32)


X = tf.ones((2, 3))


def exercises():
    """Calls of many kinds, each to be repeated many times."""
    model = Model()
    table = tf.Variable(tf.ones((4, 2)))
    data = tf.data.Dataset.range(3)
    square = tf.function(lambda x: x * x)

    def under_a_tape():
        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = square(x)
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)

    @tf.function
    def over_data():
        total = tf.constant(0, tf.int64)
        for i in data:
            total += i
        return total

    @tf.function
    def fails(i):
        table.assign_add(table)
        return tf.gather(table, i)

    def failing():
        with pytest.raises(tf.errors.InvalidArgumentError):
            fails(tf.constant(9))

    @tf.function
    def drawing():
        return tf.random.normal([3]) + tf.nn.dropout(tf.ones(3), 0.5)

    return {
        "a step": lambda: model.step(X),
        "a method": lambda: model.method(X),
        "both branches": lambda: (model.branching(X), model.branching(-X)),
        "under two tapes": under_a_tape,
        "a loop over a dataset": over_data,
        "a failing call": failing,
        "random draws": drawing,
        "keywords": lambda: square(x=tf.constant(3.0)),
    }


@pytest.mark.parametrize("what", exercises())
def test_thousands_of_calls_leave_no_object_behind(what):
    call = exercises()[what]
    for _ in range(20):
        call()
    counts = []
    for _ in range(3):
        for _ in range(400):
            call()
        gc.collect()
        counts.append(len(gc.get_objects()))
    assert counts[2] - counts[0] < 50, counts


def test_ten_thousand_steps_do_not_leak_memory():
    model = Model()
    for _ in range(100):
        model.step(X)
    tracemalloc.start()
    try:
        for _ in range(5000):
            model.step(X)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(5000):
            model.step(X)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 10_000


def test_a_deleted_model_is_freed_with_its_functions():
    model = Model()
    for _ in range(3):
        model.step(X)
        model.method(X)
        model.branching(X)
        model.branching(-X)
        with tf.GradientTape() as tape:
            y = model.method(X)
        tape.gradient(y, model.w)
    gone = [weakref.ref(t) for t in (model, model.w, model.step, Model.method.__get__(model))]
    del model, y, tape
    gc.collect()
    gc.collect()  # frees the methods' functions, which the deleted model no longer references
    assert [ref() for ref in gone] == [None] * 4


def test_a_deleted_function_is_freed_with_its_captures():
    def made():
        v = tf.Variable(1.0)
        c = tf.constant([1.0, 2.0])
        f = tf.function(lambda x: x * v + c)
        for _ in range(3):
            f(tf.constant(1.0))
        return [weakref.ref(v), weakref.ref(f)]

    gone = made()
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_values_of_a_trace_are_freed_when_it_ends():
    alive = []

    @tf.function
    def f(x):
        y = x + 1.0
        alive.append(weakref.ref(y._array))
        return y * 2.0

    f(tf.constant(1.0))
    gc.collect()
    assert alive[0]() is None


def test_functions_made_and_dropped_in_a_loop_leave_nothing():
    def make():
        f = tf.function(lambda x: tf.sin(x) * 2.0)
        for _ in range(3):
            f(X)

    for _ in range(10):
        make()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(30):
        make()
    gc.collect()
    assert len(gc.get_objects()) - before < 100


def test_a_thousand_shapes_stay_within_the_bound():
    f = tf.function(lambda x: tf.reduce_sum(x * 2.0))
    for n in range(1000):
        assert float(f(tf.ones(n))) == 2.0 * n
        if n % 3 == 0:
            f(tf.ones(n))
            f(tf.ones(n))
    assert len(f._cache) <= 256
    assert len(f.list_specializations()) <= 256
    assert float(f(tf.ones(3))) == 6.0


def test_a_thousand_shapes_in_a_function_called_by_another_stay_within_the_bound():
    inner = tf.function(lambda x: x * 2.0)
    outer = tf.function(lambda x: tf.reduce_sum(inner(x)))
    for n in range(600):
        assert float(outer(tf.ones(n))) == 2.0 * n
    assert len(inner.replayable_traces) <= 256
    assert len(outer._cache) <= 256


def together(*calls):
    """Run functions concurrently, each in its own thread; return their results."""
    results, errors = [None] * len(calls), []
    barrier = threading.Barrier(len(calls))

    def run(i, call):
        try:
            barrier.wait()
            results[i] = call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    return results


def test_threads_that_call_and_trace_one_function_get_its_results():
    @tf.function
    def f(x, n):
        y = tf.tanh(x) * tf.cast(n, tf.float32)
        y = y @ tf.transpose(y) if tf.reduce_sum(y) > 0.0 else y * 2.0
        return tf.reduce_sum(y)

    def inputs(k):
        rng = np.random.default_rng(k)
        return [
            (rng.normal(size=(2 + i % 3, 4)).astype(np.float32), int(i % 2)) for i in range(150)
        ]

    def run(k):
        return [float(f(tf.constant(x), tf.constant(n))) for x, n in inputs(k)]

    got = together(*(lambda k=k: run(k) for k in range(4)))
    for k in range(4):
        plain = [float(f.python_function(tf.constant(x), tf.constant(n))) for x, n in inputs(k)]
        np.testing.assert_allclose(got[k], plain, rtol=1e-5)


def test_threads_that_use_one_method_under_tapes_get_its_results():
    model = Model()

    def run(k):
        found = []
        for i in range(100):
            x = tf.constant(np.full((2, 3), 0.01 * i * (k + 1), np.float32))
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(model.method(x) ** 2)
            found.append((float(y), float(tf.reduce_sum(tape.gradient(y, x)))))
        return found

    got = together(*(lambda k=k: run(k) for k in range(3)))
    for k in range(3):
        xs = [0.01 * i * (k + 1) for i in range(100)]
        np.testing.assert_allclose(got[k], [(6 * (3 * x) ** 2, 108 * x) for x in xs], rtol=1e-4)


def test_threads_that_create_the_variables_of_one_function_create_them_once():
    made = []

    class Layer:
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
                made.append(1)
            return x * self.w

    layer = Layer()
    got = together(*(lambda k=k: float(layer(tf.constant(float(k)))) for k in range(4)))
    assert got == [0.0, 2.0, 4.0, 6.0]
    assert len(made) == 1


def test_threads_with_variables_of_their_own_do_not_mix():
    @tf.function
    def step(v, x):
        v.assign_add(x)
        return v * 1.0

    def run(k):
        v = tf.Variable(0.0)
        for _ in range(300):
            step(v, tf.constant(float(k)))
        return float(v)

    assert together(*(lambda k=k: run(k) for k in range(4))) == [0.0, 300.0, 600.0, 900.0]


def test_a_host_call_may_call_the_function_it_is_part_of():
    @tf.function
    def f(x, depth):
        if depth > 0:
            return tf.numpy_function(
                lambda a, d: f(tf.constant(a), tf.constant(d - 1)).numpy() + np.float32(1),
                [x, depth],
                tf.float32,
            )
        return x * 2.0

    for _ in range(3):
        assert float(f(tf.constant(1.0), tf.constant(3))) == 5.0


def traced_peak(run):
    """Bytes at the peak while `run` runs."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def chain(x):
    """Thirty ops on an array, of which each result but the last is used once."""
    for _ in range(15):
        x = tf.tanh(x) + 1.0
    return x


@pytest.mark.parametrize(
    "function",
    [
        chain,
        lambda x: tf.cond(x[0] > 0.0, lambda: x, lambda: -x) + chain(x),
        lambda x: tf.grad_pass_through(tf.identity)(x) + chain(x),
    ],
)
def test_a_traced_call_does_not_keep_operands_alive(function):
    x = tf.ones(100_000)
    tf.function(function)(tf.ones(2))  # imports and caches
    assert traced_peak(lambda: tf.function(function)(x)) < 12 * x.numpy().nbytes


def test_an_operand_dies_when_the_traced_function_drops_it():
    alive = []

    @tf.function
    def f(x):
        y = x * 2.0
        dropped = weakref.ref(y._array)
        y = y + 1.0
        alive.append(dropped() is not None)
        return y

    f(X)
    assert alive == [False]
