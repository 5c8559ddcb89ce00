"""tf.function: Python's control flow on tensors, and tf.cond, tf.while_loop and their kin."""

import pytest

import gradtape as tf


def ints(function, *values):
    """Results for scalar integer arguments."""
    return [int(function(tf.constant(v))) for v in values]


def test_if_else_and_early_return():
    @tf.function
    def sign(x):
        if x > 0:
            return tf.constant(1)
        if x < 0:
            return tf.constant(-1)
        return tf.constant(0)

    assert ints(sign, 5, -5, 0, 7, -7, 0) == [1, -1, 0, 1, -1, 0]


def test_while_with_break_and_continue():
    @tf.function
    def f(n):
        i, total = tf.constant(0), tf.constant(0)
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            if i > 7:
                break
            total += i
        return total

    assert ints(f, 0, 3, 6, 100, 3, 4) == [0, 4, 9, 16, 4, 4]


def test_for_over_a_tensor_and_over_ranges():
    @tf.function
    def over_rows(x):
        total = tf.zeros([2])
        for row in x:
            total += row * row
        return total

    assert over_rows(tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy().tolist() == [10.0, 20.0]
    assert over_rows(tf.zeros([0, 2])).numpy().tolist() == [0.0, 0.0]

    @tf.function
    def over_range(n):
        total = tf.constant(0)
        for i in tf.range(n):
            total += i
        return total

    @tf.function
    def over_python_range(n):
        total = tf.constant(0)
        for i in range(n):
            total += i
        return total

    for f in (over_range, over_python_range):
        assert ints(f, 4, 0, 4, 10, 1) == [6, 0, 6, 45, 0]


def test_for_over_a_dataset_draws_all_of_it_at_each_call():
    drawn = []

    def elements():
        for i in range(4):
            drawn.append(i)
            yield i

    spec = tf.TensorSpec([], tf.int64)
    data = tf.data.Dataset.from_generator(elements, output_signature=spec)

    @tf.function
    def f():
        total = tf.constant(0, tf.int64)
        for x in data:
            total += x
        return total

    assert [int(f()) for _ in range(3)] == [6, 6, 6]
    assert drawn == [0, 1, 2, 3] * 3


def test_a_dataset_of_tuples_with_break():
    data = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]))

    @tf.function
    def f(limit):
        total = tf.constant(0.0)
        for x, y in data:
            if y > limit:
                break
            total += x * y
        return total

    assert [float(f(tf.constant(a))) for a in (25.0, 5.0, 100.0, 25.0)] == [50.0, 0.0, 140.0, 50.0]


def test_loops_within_loops():
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            for j in tf.range(i):
                if (i + j) % 2 == 0:
                    total += i * j
        return total

    def plain(n):
        return sum(i * j for i in range(n) for j in range(i) if (i + j) % 2 == 0)

    assert ints(f, 3, 4, 5, 3) == [plain(n) for n in (3, 4, 5, 3)]


def test_recursion_on_a_python_value():
    @tf.function
    def factorial(n, x):
        return x if n == 0 else n * factorial(n - 1, x)

    for _ in range(3):
        assert int(factorial(5, tf.constant(1))) == 120


def test_functions_call_functions():
    runs = []

    @tf.function
    def inner(x):
        runs.append("inner")
        return x * x

    @tf.function
    def outer(x):
        runs.append("outer")
        return inner(x) + inner(x + 1.0) + inner(tf.stack([x, x]))[0]

    assert [float(outer(tf.constant(a))) for a in (1.0, 2.0, 3.0)] == [6.0, 17.0, 34.0]
    assert runs == ["outer", "inner", "inner"]
    assert float(inner(tf.constant(3.0))) == 9.0


def test_a_function_called_in_a_function_updates_variables_in_order():
    v = tf.Variable(1.0)

    @tf.function
    def double():
        v.assign(v * 2.0)
        return v + 0.0

    @tf.function
    def outer():
        a = double()
        v.assign_add(1.0)
        b = double()
        return a, b, v + 0.0

    assert [float(t) for t in outer()] == [2.0, 6.0, 6.0]
    assert [float(t) for t in outer()] == [12.0, 26.0, 26.0]
    assert [float(t) for t in outer()] == [52.0, 106.0, 106.0]


def test_assert_and_truth_of_tensors():
    @tf.function
    def f(x):
        if (x > 1 and x < 5) or x == 9:
            return tf.constant(1)
        return tf.constant(0)

    assert ints(f, 0, 2, 9, 7, 3) == [0, 1, 1, 0, 1]
    g = tf.function(lambda x: (not x > 3, 1 < x < 3))
    for n in (2, 4, 2):
        a, b = g(tf.constant(n))
        assert [bool(a), bool(b)] == [n <= 3, 1 < n < 3]


def test_a_conditional_expression():
    f = tf.function(lambda x: x * 2 if x > 0 else -x)
    assert ints(f, 3, -3, 4, -4) == [6, 3, 8, 4]


def test_variables_are_updated_in_the_branch_that_is_taken():
    v = tf.Variable(0)

    @tf.function
    def f(x):
        if x > 0:
            v.assign_add(1)
        else:
            v.assign_sub(10)
        return v + 0

    assert ints(f, 1, 1, -1, 1, -1) == [1, 2, -8, -7, -17]

    @tf.function
    def g(x):
        tf.cond(x > 0, lambda: v.assign(100), lambda: v.assign(200))
        return v + 1

    assert ints(g, 1, -1, 1) == [101, 201, 101]


def test_a_loop_whose_condition_is_a_variable():
    v = tf.Variable(0)

    @tf.function
    def f(n):
        while v < n:
            v.assign_add(1)
        return v + 0

    assert ints(f, 3, 2, 6, 6) == [3, 3, 6, 6]


def test_with_autograph_off_reading_a_value_is_an_error():
    x = tf.constant([1.0, 2.0])
    for body in (
        lambda x: x if x[0] > 0 else -x,
        lambda x: list(x),
        lambda x: x[0] > 0 and x[1] > 0,
        lambda x: not x[0] > 0,
    ):
        with pytest.raises(TypeError, match=r"Python `bool`|Iterating over"):
            tf.function(body, autograph=False)(x)
    with pytest.raises(TypeError):
        tf.function(lambda x: range(x), autograph=False)(tf.constant(2))
    with pytest.raises(TypeError):
        tf.function(lambda x: x * int(x), autograph=False)(tf.constant(2))


def test_with_autograph_off_control_flow_ops_work():
    @tf.function(autograph=False)
    def f(x):
        y = tf.cond(x > 0, lambda: x, lambda: -x)
        return tf.while_loop(lambda i, t: i < y, lambda i, t: (i + 1, t + i), (0, 0))[1]

    assert ints(f, 4, -5, 0, 3) == [6, 10, 0, 3]


def test_case_and_switch_case():
    @tf.function
    def f(x):
        a = tf.case([(x < 2, lambda: x + 1), (x < 5, lambda: x * 10)], default=lambda: -x)
        b = tf.switch_case(x, [lambda: tf.constant(7), lambda: x + 100], default=lambda: x)
        return a + b

    assert ints(f, 0, 1, 3, 9, 0) == [8, 103, 33, 0, 8]


def test_while_loop_with_a_tensor_array():
    @tf.function
    def cumulative(x, n):
        array = tf.TensorArray(tf.float32, size=n)

        def body(i, total, array):
            total += x[i]
            return i + 1, total, array.write(i, total)

        _, _, array = tf.while_loop(lambda i, *_: i < n, body, (0, 0.0, array))
        return array.stack()

    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    assert [cumulative(x, tf.constant(n)).numpy().tolist() for n in (3, 1, 4)] == [
        [1.0, 3.0, 6.0],
        [1.0],
        [1.0, 3.0, 6.0, 10.0],
    ]


def test_python_loops_with_a_tensor_array():
    @tf.function
    def squares(n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, i * i)
        return array.stack()

    assert [squares(tf.constant(n)).numpy().tolist() for n in (3, 1, 5)] == [
        [0, 1, 4],
        [0],
        [0, 1, 4, 9, 16],
    ]


def test_map_fn_scan_and_vectorized_map():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(x):
        return (
            tf.map_fn(lambda row: tf.reduce_sum(row * row), x),
            tf.scan(lambda a, row: a * row, x),
            tf.vectorized_map(lambda row: row[0] - row[1], x),
            tf.foldl(lambda a, row: a + row, x),
        )

    for _ in range(3):
        got = [t.numpy().tolist() for t in f(x)]
        assert got == [[5.0, 25.0], [[1.0, 2.0], [3.0, 8.0]], [-1.0, -1.0], [4.0, 6.0]]


def test_a_value_dependent_shape():
    @tf.function
    def f(x):
        kept = tf.boolean_mask(x, x > 0)
        values, _ = tf.unique(kept)
        return tf.reduce_sum(kept), tf.size(values), tf.where(x > 1)[:, 0]

    for values in ([1, -1, 1, 2], [0, 0, 0, 0], [5, 6, 7, 8], [1, -1, 1, 2]):
        total, distinct, where = f(tf.constant(values))
        kept = [v for v in values if v > 0]
        assert int(total) == sum(kept)
        assert int(distinct) == len(set(kept))
        assert where.numpy().tolist() == [i for i, v in enumerate(values) if v > 1]


def test_python_ints_of_tensors():
    @tf.function
    def f(n):
        return tf.zeros([int(n), 2]), tf.range(n), tf.ones([n])

    for n in (2, 3, 2):
        a, b, c = f(tf.constant(n))
        assert a.shape.as_list() == [n, 2]
        assert b.numpy().tolist() == list(range(n))
        assert c.shape.as_list() == [n]


def test_an_undefined_name_in_a_branch_that_is_not_taken_is_no_error():
    @tf.function
    def f(x):
        y = x
        for i in tf.range(3):
            if i == 1:
                y = y + 10
        return y

    assert ints(f, 1, 2) == [11, 12]


def test_try_and_with_around_control_flow():
    @tf.function
    def f(x):
        with tf.name_scope("scope"):
            try:
                y = x + 1 if x > 0 else x - 1
            finally:
                pass
        return y

    assert ints(f, 1, -1, 5) == [2, -2, 6]


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("use", [lambda j, x: (j >= j, x)[1], lambda j, x: x + tf.sign(j) * 0])
def test_what_a_branch_does_not_differentiate_gets_no_gradient(use, is_nested):
    @tf.function
    def gradient(x, choice):
        with tf.GradientTape() as tape:
            tape.watch(x)
            infinite = 1 / (x * 0)  # its derivative times zero is NaN
            branch = lambda: use(tf.stop_gradient(infinite) * 0 + 1, x)  # noqa: E731
            if is_nested:
                y = tf.case([(choice > 3, lambda: 3 * x), (choice > 0, branch)], lambda: 2 * x)
            else:
                y = tf.cond(choice > 0, branch, lambda: 2 * x)
        return tape.gradient(y, x)

    assert gradient(tf.constant([1.0, 3.0]), tf.constant(-1)).numpy().tolist() == [2.0, 2.0]


def test_a_gradient_by_an_input_of_one_branch_is_zero_in_the_other():
    @tf.function
    def gradient(x, y, p):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.cond(p, lambda: tf.cond(p, lambda: x * y, lambda: x), lambda: 2 * x)
        return tape.gradient(z, [x, y])

    x, y = tf.constant(3.0), tf.constant(5.0)
    assert [float(g) for g in gradient(x, y, tf.constant(True))] == [5.0, 3.0]
    assert [float(g) for g in gradient(x, y, tf.constant(False))] == [2.0, 0.0]
