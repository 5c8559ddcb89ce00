"""tf.function and tapes: outside, inside and across calls, and custom gradients."""

import numpy as np
import pytest

import gradtape as tf


def close(a, b, rtol=1e-5):
    """Assert that values are close."""
    np.testing.assert_allclose(np.asarray(a), b, rtol=rtol, atol=1e-6)


def test_a_function_under_a_tape_a_tape_in_a_function_and_both():
    def f(x):
        return tf.reduce_sum(tf.sin(x) * x)

    compiled = tf.function(f)

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    @tf.function
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compiled(x)
        return tape.gradient(y, x)

    for start in (0.1, 0.7, 1.3):
        x = tf.constant([start, start + 1.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compiled(x)
        expected = np.sin(x.numpy()) + x.numpy() * np.cos(x.numpy())
        close(tape.gradient(y, x), expected)
        close(inside(x), expected)
        close(both(x), expected)


def test_nested_tapes_inside_and_outside_of_a_function():
    compiled = tf.function(lambda x: x**4)

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compiled(x)
        return tape.gradient(y, x)

    for value in (1.0, 2.0, 3.0):
        x = tf.constant(value)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = compiled(x)
            first = inner.gradient(y, x)
        close(outer.gradient(first, x), 12 * value**2)
        with tf.GradientTape() as two:
            two.watch(x)
            with tf.GradientTape() as one:
                one.watch(x)
                first = slope(x)
            second = one.gradient(first, x)
        close(two.gradient(second, x), 24 * value)


def test_a_tape_of_the_caller_watches_inside_a_function():
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        return v * x

    for _ in range(3):
        x = tf.constant(2.0)
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            y = f(x)
        assert tape.gradient(y, v) is None
        with tf.GradientTape(persistent=True) as tape:
            y = f(x)
        assert tape.gradient(y, x) is None
        assert float(tape.gradient(y, v)) == 2.0
        assert [w is v for w in tape.watched_variables()] == [True]


def test_an_input_that_reaches_no_output_gets_none():
    @tf.function
    def f(a, b, c):
        return a * 2.0, tf.stop_gradient(b) + a, tf.cast(tf.cast(c, tf.int32), tf.float32) + a

    for _ in range(3):
        a, b, c = tf.constant(1.0), tf.constant(2.0), tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch([a, b, c])
            y = f(a, b, c)
        slopes = tape.gradient(y, [a, b, c])
        assert float(slopes[0]) == 4.0
        assert slopes[1] is None
        assert slopes[2] is None


def test_an_input_of_another_output_gets_zeros():
    f = tf.function(lambda a, b: (a * 2.0, b * 3.0))
    for _ in range(3):
        a, b = tf.constant(1.0), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y, _ = f(a, b)
        slopes = tape.gradient(y, [a, b])
        assert [float(s) for s in slopes] == [2.0, 0.0]


def test_jacobians_through_a_function_and_inside_one():
    def f(x):
        return tf.stack([x[0] * x[1], tf.sin(x[0]), x[1] ** 3])

    compiled = tf.function(f)

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x)

    for value in (1.0, 2.0, 3.0):
        x = tf.constant([value, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compiled(x)
        expected = [[2.0, value], [np.cos(value), 0.0], [0.0, 12.0]]
        close(tape.jacobian(y, x), expected)
        close(inside(x), expected)


def test_batch_jacobians_through_a_function():
    compiled = tf.function(lambda x: x**2 * tf.constant([1.0, 2.0]))
    for value in (1.0, 2.0, 3.0):
        x = tf.constant([[value, 1.0], [2.0, value]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compiled(x)
        got = tape.batch_jacobian(y, x)
        close(got, [[[2 * value, 0.0], [0.0, 4.0]], [[4.0, 0.0], [0.0, 4 * value]]])


def test_tf_gradients_and_hessians():
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        y = x**3 * v
        z = tf.reduce_sum(x) * 5.0
        return (
            tf.gradients(y, x)[0],
            tf.gradients([y, z], [x, v]),
            tf.gradients(y, x, grad_ys=2.0 * tf.ones_like(y))[0],
            tf.gradients(y, x, stop_gradients=[x])[0] is None,
            tf.hessians(tf.reduce_sum(y), x)[0],
            tf.gradients(tf.gradients(y, x)[0], x)[0],
        )

    for start in (1.0, 2.0, 3.0):
        x = tf.constant([start, 1.0])
        first, both, weighted, stopped, hessian, second = f(x)
        close(first, [6 * start**2, 6.0])
        close(both[0], [6 * start**2 + 5, 11.0])
        close(both[1], start**3 + 1)
        close(weighted, [12 * start**2, 12.0])
        assert not bool(stopped)
        close(hessian, [[12 * start, 0.0], [0.0, 12.0]])
        close(second, [12 * start, 12.0])


def test_tf_gradients_of_something_unrelated_is_none():
    seen = []

    @tf.function
    def f(x, y):
        seen.append(tf.gradients(x * 2.0, y)[0])
        return tf.gradients(x * 2.0, y, unconnected_gradients="zero")[0]

    for _ in range(3):
        assert float(f(tf.constant(1.0), tf.constant(1.0))) == 0.0
    assert seen[0] is None


def test_tf_gradients_outside_of_a_function_is_refused():
    with pytest.raises(RuntimeError):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))


def test_custom_gradient_inside_outside_and_around():
    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda g: tf.clip_by_value(g, -1.0, 1.0) * 10.0

    @tf.custom_gradient
    def around(x):
        y = compiled(x)
        return y, lambda g: g * 100.0

    compiled = tf.function(lambda x: clipped(x) * 3.0)
    functions = (compiled, tf.function(lambda x: compiled(x)), lambda x: clipped(x) * 3.0)
    for value in (1.0, 2.0, 3.0):
        x = tf.constant(value)
        for f in functions:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert float(y) == 6 * value
            assert float(tape.gradient(y, x)) == 10.0
        for f in (around, tf.function(around)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert float(y) == 6 * value
            assert float(tape.gradient(y, x)) == 100.0


def test_custom_gradient_in_a_function_traced_on_specs_and_in_bodies():
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def clipped(x):
        y = tf.sin(x)
        return y * 2.0, lambda g: tf.clip_by_norm(g, 0.5) * y * w

    def looping(x):
        body = lambda i, x: (i + 1, clipped(x * 2.0))  # noqa: E731
        return tf.while_loop(lambda i, x: i < 3, body, (tf.constant(0), x))[1]

    def branching(x):
        return tf.cond(x > 1.0, lambda: clipped(x), lambda: x * 3.0)

    first = tf.function(clipped)
    first.get_concrete_function(tf.TensorSpec([], tf.float32))
    for f, eagerly in ((first, clipped), (looping, looping), (branching, branching)):
        for value in (2.0, 0.5):
            x = tf.constant(value)
            answers = []
            for function in (eagerly, tf.function(f) if f is not first else first):
                for _ in range(2):
                    with tf.GradientTape() as tape:
                        tape.watch(x)
                        y = function(x)
                    answers.append([float(y), float(tape.gradient(y, x))])
            close(answers, answers[:1] * 4)


def test_custom_gradient_with_variables_in_a_function():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        def grad(g, variables=None):
            return g * v, [g * x * 10.0 for _ in variables]

        return x * v, grad

    f = tf.function(lambda x: scaled(x) + 0.0)
    for value in (1.0, 2.0, 3.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        slopes = tape.gradient(y, [x, v])
        assert [float(s) for s in slopes] == [3.0, 10 * value]


def test_second_derivatives_of_a_custom_gradient_in_a_function():
    @tf.custom_gradient
    def square(x):
        return x * x, lambda g: g * 2.0 * x * x

    f = tf.function(lambda x: square(x))
    for value in (1.0, 2.0, 3.0):
        x = tf.constant(value)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x)
        assert float(first) == 2 * value**2
        assert float(outer.gradient(first, x)) == 4 * value


def test_recompute_grad_inside_outside_and_around():
    v = tf.Variable(2.0)

    def plain(x):
        return tf.sin(x * v) * x

    inside = tf.function(lambda x: tf.recompute_grad(plain)(x) * 1.0)
    around = tf.recompute_grad(tf.function(plain))
    for value in (0.5, 1.0, 1.5):
        x = tf.constant(value)
        for f in (inside, around, tf.recompute_grad(plain)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            dx, dv = tape.gradient(y, [x, v])
            close(dx, np.sin(2 * value) + 2 * value * np.cos(2 * value))
            if f is not around:
                close(dv, value * value * np.cos(2 * value))


def test_gradients_through_a_function_may_be_indexed_slices():
    table = tf.Variable(tf.reshape(tf.range(8.0), (4, 2)))

    @tf.function
    def look_up(i):
        return tf.reduce_sum(tf.nn.embedding_lookup(table, i) ** 2)

    @tf.function
    def slope(i):
        with tf.GradientTape() as tape:
            y = look_up(i)
        return tape.gradient(y, table)

    for _ in range(3):
        i = tf.constant([1, 1, 3])
        with tf.GradientTape() as tape:
            y = look_up(i)
        for slices in (tape.gradient(y, table), slope(i)):
            assert isinstance(slices, tf.IndexedSlices)
            dense = tf.convert_to_tensor(slices).numpy().tolist()
            assert dense == [[0.0, 0.0], [8.0, 12.0], [0.0, 0.0], [12.0, 14.0]]


def test_indexed_slices_as_arguments_and_results():
    @tf.function
    def double(s):
        return tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape)

    given = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([4, 1]))
    for _ in range(3):
        out = double(given)
        assert isinstance(out, tf.IndexedSlices)
        assert out.values.numpy().tolist() == [[2.0]]
        assert out.indices.numpy().tolist() == [2]


def test_gradients_through_control_flow():
    @tf.function
    def f(x, n):
        y = x
        for i in tf.range(n):
            y = y * x if i % 2 == 0 else tf.sin(y)
        return y

    def plain(x, n):
        y = x
        for i in range(n):
            y = y * x if i % 2 == 0 else tf.sin(y)
        return y

    for n in (0, 1, 2, 3, 2, 3):
        x = tf.constant(0.7)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a, b = f(x, tf.constant(n)), plain(x, n)
        close(a, b)
        close(tape.gradient(a, x), tape.gradient(b, x))


def test_gradients_through_while_loop_and_cond_of_any_order():
    @tf.function
    def power(x, n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, 1.0))[1]

    @tf.function
    def chosen(x):
        return tf.cond(x > 1.0, lambda: x**3, lambda: tf.sin(x))

    for n in (3, 4, 3):
        x = tf.constant(2.0)
        with tf.GradientTape() as two:
            two.watch(x)
            with tf.GradientTape() as one:
                one.watch(x)
                y = power(x, tf.constant(n))
            first = one.gradient(y, x)
        close(first, n * 2.0 ** (n - 1))
        close(two.gradient(first, x), n * (n - 1) * 2.0 ** (n - 2))
    for value in (2.0, 0.5, 3.0):
        x = tf.constant(value)
        with tf.GradientTape() as two:
            two.watch(x)
            with tf.GradientTape() as one:
                one.watch(x)
                y = chosen(x)
            first = one.gradient(y, x)
        close(first, 3 * value**2 if value > 1 else np.cos(value))
        close(two.gradient(first, x), 6 * value if value > 1 else -np.sin(value))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            lambda x, v, w: tf.while_loop(
                lambda i, y: i < 3, lambda i, y: (i + 1, y * v + x * w), (0, x)
            )[1],
            [29.0, 27.0, 7.0],
        ),
        (lambda x, v, w: tf.cond(x > 0.7, lambda: x * v * v, lambda: x * w), [4.0, 4.0, 0.0]),
        (lambda x, v, w: tf.map_fn(lambda a: a * v + w, tf.stack([x, 2 * x]))[1], [4.0, 2.0, 1.0]),
        (lambda x, v, w: tf.scan(lambda s, a: s * v + a * w, tf.stack([x, x]))[1], [5.0, 1.0, 1.0]),
    ],
)
def test_a_tape_watches_variables_that_only_a_loop_or_branch_reads(body, expected):
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = body(x, v, w)
        return tape.gradient(y, [x, v, w])

    for _ in range(3):
        close(f(tf.constant(1.0)), expected)


def test_gradients_by_variables_that_a_function_assigns():
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        a = v * x
        v.assign(v * 10.0)
        return a, v * x

    for turn in range(3):
        v.assign(2.0 + turn)
        x = tf.constant(3.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a, b = f(x)
        close(tape.gradient(a, x), 2.0 + turn)
        close(tape.gradient(b, x), 10 * (2.0 + turn))
        close(tape.gradient([a, b], v), 6.0)


def test_forward_mode_through_a_function():
    f = tf.function(lambda x: tf.sin(x) * x)
    for value in (1.0, 2.0, 3.0):
        x = tf.constant(value)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
            y = f(x)
        close(acc.jvp(y), 2 * (np.sin(value) + value * np.cos(value)))


def test_a_persistent_tape_in_a_function():
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)

    for value in (1.0, 2.0, 3.0):
        got = [float(t) for t in f(tf.constant(value))]
        assert got == [4 * value**3, 2 * value, 2 * value**2]


def test_stop_recording_and_reset_in_a_function():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                z = x * x * x
            y += z
        return tape.gradient(y, x)

    for value in (1.0, 2.0, 3.0):
        assert float(f(tf.constant(value))) == 2 * value


def test_complex_gradients_through_a_function():
    f = tf.function(lambda z: tf.math.real(z * z * tf.constant(1 + 2j, tf.complex64)))
    plain = f.python_function
    for _ in range(3):
        z = tf.constant(1.5 - 0.5j, tf.complex64)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(z)
            a, b = f(z), plain(z)
        close(tape.gradient(a, z), tape.gradient(b, z))


def test_outputs_that_have_no_gradient_may_come_first():
    @tf.function
    def f(x, text):
        return tf.strings.join([text, text]), tf.cast(x, tf.int32), tf.sin(x)

    x, text = tf.constant(2.0), tf.constant("a")
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, text)[2]
        close(tape.gradient(y, x), np.cos(2.0))
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x, text)[2] ** 2
            slope = inner.gradient(y, x)
        close(outer.gradient(slope, x), 2 * np.cos(4.0))
