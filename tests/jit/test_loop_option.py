"""`set_loop_options(maximum_iterations=…)`: expected values are from TensorFlow 2.21."""

import functools

import pytest

import gradtape as tf

set_loop_options = tf.autograph.experimental.set_loop_options
TEN = tf.constant(10)


def count_to(n):
    i = tf.constant(0)
    while i < n:
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        i += 1
    return i


def sum_of_range(n):
    total = tf.constant(0)
    for k in tf.range(n):
        set_loop_options(maximum_iterations=3)
        if k == 1:
            continue
        total += k
    return total


def sum_of_rows(n):
    total = tf.constant(0)
    for row in tf.ones([4, 2], tf.int32):
        set_loop_options(8, True, 2)
        total += tf.reduce_sum(row)
    return total


def nested(n):
    count = tf.constant(0)
    i = tf.constant(0)
    while i < n:
        set_loop_options(maximum_iterations=4)
        j = tf.constant(0)
        for _ in tf.range(n):
            set_loop_options(maximum_iterations=2)
            count += 1
        while j < n:
            set_loop_options(maximum_iterations=3)
            if count > 1000:
                break
            j += 1
            count += 100
        i += 1
    return count


def with_not(n):
    i, done = tf.constant(0), tf.constant(False)
    while not done:
        set_loop_options(maximum_iterations=3)
        i += 1
        done = i >= n
    return i


def with_and_or(n):
    i = tf.constant(0)
    while (i < n and not i < 0) or i > 100:
        set_loop_options(maximum_iterations=3)
        i += 1
    return i


def with_iterator(n):
    total = tf.constant(0, tf.int64)
    for k in iter(tf.data.Dataset.range(10)):
        set_loop_options(maximum_iterations=3)
        total += k
    return total


def no_iteration(n):
    i = tf.constant(0)
    while i < n:
        set_loop_options(maximum_iterations=0)
        i += 1
    return i


def limited_by_tensor(n):
    i = tf.constant(0)
    while i < n:
        set_loop_options(maximum_iterations=n // 2)
        i += 1
    return i


def power(n):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, i = x, tf.constant(0)
        while i < n:
            set_loop_options(maximum_iterations=3)
            y *= x
            i += 1
    return tape.gradient(y, x)


def many_paths(n):
    i = tf.constant(0)
    while i < n:
        set_loop_options(maximum_iterations=40)
        i += 1
    return i


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (count_to, 3),
        (sum_of_range, 2),
        (sum_of_rows, 4),
        (nested, 1008),
        (with_not, 3),
        (with_and_or, 3),
        (with_iterator, 3),
        (no_iteration, 0),
        (limited_by_tensor, 5),
        (power, 32.0),
    ],
)
def test_loops_of_functions_end_at_the_limit(function, expected):
    compiled = tf.function(function)
    assert [compiled(TEN).numpy() for _ in range(3)] == [expected] * 3


def test_a_limit_holds_when_the_function_falls_back_to_python():
    compiled = tf.function(many_paths)
    assert [int(compiled(tf.constant(n))) for n in range(25, 50)] == [
        min(n, 40) for n in range(25, 50)
    ]


def test_callees_methods_and_maps_obey_it():
    class Model:
        @tf.function
        def __call__(self, n):
            return self.helper(n)

        def helper(self, n):
            return count_to(n) + 1

    assert int(Model()(TEN)) == 4
    assert int(tf.function(functools.partial(lambda m, n: count_to(n), 1))(TEN)) == 3
    pipeline = tf.data.Dataset.from_tensors(TEN).map(lambda n: count_to(n))
    assert [int(i) for i in pipeline] == [3]


def python_loops(x):
    total = x * 0
    k = 0
    for _ in range(5):
        set_loop_options(maximum_iterations=2)
        total += x
    while k < 5:
        set_loop_options(maximum_iterations=2)
        k += 1
        total += x
    return total


def dataset_loop(n):
    total = tf.constant(0, tf.int64)
    for k in tf.data.Dataset.range(10):
        set_loop_options(maximum_iterations=3)
        total += k
    return total


def test_python_loops_datasets_and_eager_loops_have_no_limit():
    assert int(tf.function(python_loops)(tf.constant(1))) == 10
    assert int(tf.function(dataset_loop)(TEN)) == 45
    assert int(tf.function(count_to)(TEN)) == 3
    assert int(count_to(TEN)) == 10


def test_to_graph_obeys_it_eagerly():
    assert int(tf.autograph.to_graph(count_to)(TEN)) == 3


def limited_by(n, limit):
    i = tf.constant(0)
    while i < n:
        set_loop_options(maximum_iterations=limit)
        i += 1
    return i


def test_limits_of_other_types():
    compiled = tf.function(limited_by)
    assert int(compiled(TEN, None)) == 10
    assert int(compiled(TEN, -1)) == 0
    with pytest.raises(TypeError, match="maximum_iterations must be an integer"):
        compiled(TEN, 2.5)


def test_a_directive_at_another_place_warns():
    def late(n):
        i = tf.constant(0)
        while i < n:
            i += 1
            set_loop_options(maximum_iterations=3)
        return i

    with pytest.warns(UserWarning, match="has no effect here"):
        assert int(tf.function(late)(TEN)) == 10


def test_tracebacks_keep_their_lines():
    def fail(n):
        i = tf.constant(0)
        while i < n:
            set_loop_options(maximum_iterations=3)
            i += 1
        raise KeyError(int(i))

    first = fail.__code__.co_firstlineno
    with pytest.raises(KeyError) as caught:
        tf.function(fail)(TEN)
    assert caught.value.args == (3,)
    assert caught.traceback[-1].frame.code.firstlineno + 1 == first
    assert caught.traceback[-1].lineno + 1 == first + 5


def test_to_graph_allows_control_flow_on_tensors_without_autograph():
    def f(x):
        return x * x if x > 0 else -x

    converted = tf.autograph.to_graph(f)

    @tf.function(autograph=False)
    def g(x):
        return converted(x)

    assert [float(g(tf.constant(v))) for v in (-3.0, 2.0)] == [3.0, 4.0]
