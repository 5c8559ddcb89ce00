"""tf.function: side effects run as often, and in the order, as the Python function says."""

import numpy as np
import pytest

import gradtape as tf


class Environment:
    """An environment that counts its steps and ends after `length` of them."""

    def __init__(self):
        self.calls = 0
        self.at = 0
        self.length = 0

    def start(self, length):
        self.at, self.length = 0, length

    def step(self, action):
        self.calls += 1
        self.at += 1
        reward = np.float32(action * self.at)
        return reward, np.array(self.at >= self.length)


def episode(environment):
    """A function that runs steps until the environment ends."""

    @tf.function
    def play(scale):
        total = tf.constant(0.0)
        steps = tf.constant(0)
        done = tf.constant(False)
        while not done:
            reward, done = tf.numpy_function(environment.step, [scale], [tf.float32, tf.bool])
            reward.set_shape([])
            done.set_shape([])
            total += reward
            steps += 1
        return total, steps

    return play


@pytest.mark.parametrize("lengths", [(3, 3, 3), (2, 5, 3), (5, 2, 2), (1, 4, 7), (4, 1, 4)])
def test_a_loop_around_an_environment_makes_exactly_its_calls(lengths):
    environment = Environment()
    play = episode(environment)
    for length in lengths:
        environment.start(length)
        before = environment.calls
        total, steps = play(tf.constant(2.0))
        assert environment.calls - before == length
        assert int(steps) == length
        assert float(total) == length * (length + 1)


def test_a_loop_that_breaks_on_a_counting_call_makes_exactly_its_calls():
    calls = []

    def count(n):
        calls.append(int(n))
        return np.int32(len(calls))

    @tf.function
    def f(stop, most):
        last = tf.constant(0)
        for i in tf.range(most):
            last = tf.ensure_shape(tf.numpy_function(count, [i], tf.int32), [])
            if last >= stop:
                break
        return last

    made = []
    for stop, most in ((3, 10), (2, 10), (5, 10), (5, 3), (5, 10), (0, 4)):
        calls.clear()
        result = f(tf.constant(stop), tf.constant(most))
        made.append((len(calls), int(result)))
        assert calls == list(range(len(calls)))
    assert made == [(3, 3), (2, 2), (5, 5), (3, 3), (5, 5), (1, 1)]


def test_host_calls_around_a_branch_happen_once_each_call():
    order = []

    def note(name):
        def call(x):
            order.append(name)
            return x + np.float32(1)

        return call

    @tf.function
    def f(x):
        a = tf.numpy_function(note("first"), [x], tf.float32)
        if a > 1.5:
            b = tf.numpy_function(note("high"), [a], tf.float32)
        else:
            b = tf.numpy_function(note("low"), [a], tf.float32)
        return tf.numpy_function(note("last"), [b], tf.float32)

    for value, middle in ((0.0, "low"), (1.0, "high"), (0.2, "low"), (3.0, "high")):
        order.clear()
        assert float(f(tf.constant(value))) == pytest.approx(value + 3.0)
        assert order == ["first", middle, "last"]


def test_variables_and_host_calls_keep_their_order():
    v = tf.Variable(1.0)
    seen = []

    def note(x):
        seen.append(float(x))
        return np.float32(x * 10)

    @tf.function
    def f():
        a = tf.numpy_function(note, [v], tf.float32)
        v.assign_add(a)
        b = tf.numpy_function(note, [v], tf.float32)
        v.assign(b)
        return v + 0.0

    assert float(f()) == 110.0
    assert float(f()) == 12100.0
    assert seen == [1.0, 11.0, 110.0, 1210.0]


def test_py_function_has_gradients_on_every_call():
    calls = []

    def cube(x):
        calls.append(1)
        return x * x * x

    @tf.function
    def f(x):
        return tf.py_function(cube, [x], tf.float32) * 2.0

    for n, value in enumerate((2.0, 3.0, 1.0), 1):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert float(y) == 2 * value**3
        assert float(tape.gradient(y, x)) == 6 * value**2
        assert len(calls) == n


def test_a_tape_within_a_function_differentiates_py_function():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda t: tf.sin(t) * t, [x], tf.float32)
        return tape.gradient(y, x)

    for value in (0.5, 1.5, 2.5):
        expected = np.sin(value) + value * np.cos(value)
        np.testing.assert_allclose(f(tf.constant(value)), expected, rtol=1e-5)


def test_numpy_function_has_no_gradient():
    @tf.function
    def f(x):
        return x + tf.numpy_function(np.square, [x], tf.float32)

    for _ in range(3):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert float(y) == 12.0
        assert float(tape.gradient(y, x)) == 1.0


def test_errors_of_host_functions_become_tensorflows_errors():
    def fail(x):
        raise ValueError("no")

    for wrapper in (tf.numpy_function, tf.py_function):
        f = tf.function(lambda x, w=wrapper: w(fail, [x], tf.float32))
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                f(tf.constant(1.0))


def test_a_wrong_dtype_from_a_host_function_is_an_error():
    f = tf.function(lambda x: tf.numpy_function(lambda a: np.float64(a), [x], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(1.0))


def test_the_shape_of_a_host_result_may_change():
    @tf.function
    def f(n):
        x = tf.numpy_function(lambda k: np.arange(k, dtype=np.float32), [n], tf.float32)
        return tf.reduce_sum(x * 2.0)

    assert [float(f(tf.constant(n))) for n in (3, 5, 0, 3)] == [6.0, 20.0, 0.0, 6.0]


def test_print_prints_at_every_call(capfd):
    @tf.function
    def f(x):
        tf.print("x is", x, {"a": x + 1})
        if x > 1:
            tf.print("large")
        return x

    for n in (1, 2, 1, 2):
        f(tf.constant(n))
    lines = capfd.readouterr().err.splitlines()
    low, high = ["x is 1 {'a': 2}"], ["x is 2 {'a': 3}", "large"]
    assert [line for line in lines if line] == low + high + low + high


def test_pythons_print_prints_once(capfd):
    @tf.function
    def f(x):
        print("tracing")  # noqa: T201
        return x

    for _ in range(3):
        f(tf.constant(1))
    assert capfd.readouterr().out == "tracing\n"


def test_assertions_are_checked_at_every_call():
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x)
        tf.debugging.Assert(x < 10, [x])
        return x + 1

    assert int(f(tf.constant(1))) == 2
    assert int(f(tf.constant(2))) == 3
    for bad in (-1, 10, 0):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(bad))
    assert int(f(tf.constant(3))) == 4


def test_check_numerics_is_checked_at_every_call():
    f = tf.function(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"))
    assert float(f(tf.constant(2.0))) == 0.5
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(0.0))


def test_random_numbers_differ_from_call_to_call_and_follow_the_seed():
    @tf.function
    def f():
        return tf.random.uniform([]), tf.random.normal([], seed=3)

    def draws():
        tf.random.set_seed(7)
        return [tuple(map(float, f())) for _ in range(4)]

    first = draws()
    assert len(set(first)) == 4
    generator = tf.random.Generator.from_seed(5)

    @tf.function
    def g():
        return generator.uniform([2]), generator.uniform([2])

    a, b = g()
    c, d = g()
    generator.reset_from_seed(5)
    plain = [generator.uniform([2]).numpy().tolist() for _ in range(4)]
    assert [t.numpy().tolist() for t in (a, b, c, d)] == plain


def test_an_iterator_is_drawn_once_for_each_get_next():
    data = iter(tf.data.Dataset.range(100))

    @tf.function
    def f():
        return data.get_next(), next(data), data.get_next()

    assert [[int(t) for t in f()] for _ in range(3)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert int(next(data)) == 9


def test_get_next_as_optional_in_a_loop():
    data = iter(tf.data.Dataset.range(5))

    @tf.function
    def f(iterator):
        optional = iterator.get_next_as_optional()
        return optional.has_value()

    assert [bool(f(data)) for _ in range(7)] == [True] * 5 + [False] * 2


def test_an_epoch_over_an_iterator_ends_with_out_of_range():
    v = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def epoch(iterator):
        for _ in tf.range(100):
            v.assign_add(iterator.get_next())

    for expected in (6, 12, 18):
        with pytest.raises(tf.errors.OutOfRangeError):
            epoch(iter(tf.data.Dataset.range(4)))
        assert int(v) == expected


def test_a_step_on_an_exhausted_iterator_keeps_earlier_assignments():
    v, w = tf.Variable(0), tf.Variable(0)

    @tf.function
    def step(iterator):
        v.assign_add(1)
        x = iterator.get_next()
        w.assign_add(tf.cast(x, tf.int32))

    data = iter(tf.data.Dataset.from_tensor_slices([10, 20]))
    step(data)
    step(data)
    for n in (3, 4):
        with pytest.raises(tf.errors.OutOfRangeError):
            step(data)
        assert [int(v), int(w)] == [n, 30]
