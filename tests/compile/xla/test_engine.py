"""The xla engine: results, JAX settings, control flow, and errors for unsupported graphs."""

import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.xla import engine, jax_runtime
from gradtape.compile.xla.engine import DEVICE_COPIES, compile_graph, find_copy, remember_copy
from gradtape.compile.xla.lowering import NotLowerable
from gradtape.ops import elementwise as e
from gradtape.ops import reduce
from tests.compile.numpy.builder import Builder, constant

jax = pytest.importorskip("jax")
rng = np.random.default_rng(5)


def normal(*sizes, dtype="float32"):
    return tf.constant(rng.normal(size=sizes), dtype)


def on_xla(python):
    """The function on XLA; each call runs twice, so that the compiled graph runs."""
    function = tf.function(python, jit_compile=True)

    def call(*args):
        function(*args)
        return function(*args)

    return call


def value_and_gradients(function, *args):
    """The result of a function and the gradients of its sum."""
    with tf.GradientTape() as tape:
        tape.watch(args)
        result = function(*args)
        total = tf.reduce_sum(result)
    return [result, *tape.gradient(total, args)]


def check_on_xla(python, *args, rtol=1e-5):
    """Check that values, dtypes and gradients on XLA equal those of the Python function."""
    function = tf.function(python, jit_compile=True)
    wanted = value_and_gradients(python, *args)
    for _ in range(3):
        for got, want in zip(value_and_gradients(function, *args), wanted, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=rtol, atol=rtol)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex128"])
def test_dtypes_stay_what_they_are(dtype):
    x = tf.cast(normal(3, 3), dtype)
    result = on_xla(lambda x: (x * x + 1, tf.reduce_sum(x)))(x)
    assert [t.dtype for t in result] == [x.dtype, x.dtype]


def test_integers_stay_what_they_are():
    x = tf.constant([2**40, -7], tf.int64)
    result = on_xla(lambda x: x // 3)(x)
    assert result.dtype == tf.int64
    assert result.numpy().tolist() == [2**40 // 3, -3]


def test_results_without_axes_are_numpy_scalars():
    (result,) = on_xla(lambda x: [tf.reduce_sum(x)])(normal(3))
    assert type(result._array) is np.float32


def test_sixty_four_bits_without_the_global_flag():
    before = jax.config.jax_enable_x64
    seen = []

    def python(x):
        seen.append(jax.config.jax_enable_x64)
        return tf.exp(x) - 1.0

    x = normal(5, dtype="float64") * 1e-9
    result = on_xla(python)(x)
    assert result.dtype == tf.float64
    np.testing.assert_allclose(result, np.exp(x.numpy()) - 1, rtol=1e-15)
    assert jax.config.jax_enable_x64 is before
    assert set(seen) == {before}
    assert jax.numpy.ones(2).dtype == (np.float64 if before else np.float32)


def test_jax_settings_of_the_user_do_not_matter():
    x = normal(2, 3)
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        result = on_xla(lambda x: x * tf.constant([1.0, 2.0, 3.0]) * 2)(x)
    np.testing.assert_allclose(result, x.numpy() * [2, 4, 6], rtol=1e-6)


def test_an_input_that_is_returned_is_the_same_object():
    builder = Builder(np.ones(3, np.float32))
    out = builder.apply(e.exp, 0)
    graph = builder.graph(out)
    graph.outputs = [*graph.outputs, graph.inputs[0]]
    given = np.ones(3, np.float32)
    assert compile_graph(graph)(given)[1] is given


def test_constants_are_returned_as_they_are():
    builder = Builder(np.ones(3, np.float32))
    graph = builder.graph(builder.apply(e.exp, 0))
    one = np.float64(1)
    graph.outputs = [*graph.outputs, constant(one)]
    assert compile_graph(graph)(np.ones(3, np.float32))[1] is one


def test_pretty_shows_the_program():
    builder = Builder(np.ones((2, 3), np.float32))
    plan = compile_graph(
        builder.graph(builder.apply(reduce.reduce_sum, 0, axis=(-1,), keepdims=False))
    )
    assert "reduce_sum" in plan.pretty()


# -- gradients, variables, control flow ------------------------------------------------------------


def test_gradients_of_a_function():
    check_on_xla(lambda x, y: tf.nn.softmax(x @ y) * tf.sin(x), normal(3, 3), normal(3, 3))


def test_a_training_step_moves_variables():
    x = normal(8, 3)

    def train(jit):
        w = tf.Variable(tf.ones((3, 1), tf.float64))

        @tf.function(jit_compile=jit)
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.cast(x, tf.float64) @ w - 2.0) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        return [float(step(x)) for _ in range(5)] + w.numpy().ravel().tolist()

    np.testing.assert_allclose(train(True), train(False), rtol=1e-12)


def test_cond_is_one_program():
    for sign in (1.0, -1.0):
        x = sign * tf.abs(normal(4))
        check_on_xla(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x), lambda: x * x), x)


def test_scan_and_map_fn():
    check_on_xla(lambda x: tf.scan(lambda a, row: 0.5 * a + tf.sin(row) * x[0], x), normal(4, 3))
    check_on_xla(lambda x: tf.map_fn(lambda row: tf.sin(row) * x[0], x), normal(4, 3))
    check_on_xla(lambda x: tf.foldr(lambda a, row: a * tf.sin(row), x), normal(4, 3))


def iterate(x, **limit):
    """Iterate until the largest element is 3."""
    return tf.while_loop(
        lambda y: tf.reduce_max(y) < 3.0,
        lambda y: (y * 1.5 + tf.sin(x) * tf.sin(y),),
        (x,),
        **limit,
    )[0]


def test_a_while_loop_stops_where_its_test_says():
    for start in (0.1, 1.0, 5.0):
        x = tf.constant([start, 0.2])
        np.testing.assert_allclose(on_xla(iterate)(x), iterate(x), rtol=1e-5)


def test_a_while_loop_with_a_limit_has_a_gradient():
    for start in (0.1, 1.0, 5.0):
        check_on_xla(
            lambda x: iterate(x, maximum_iterations=20), tf.constant([start, 0.2], tf.float64)
        )


def test_second_derivatives_of_loops():
    def python(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.scan(lambda a, row: a * tf.sin(row), x))
        return tape.gradient(y, x)

    check_on_xla(python, normal(4, 3, dtype="float64"))


def test_branches_of_python_are_guards():
    function = tf.function(lambda x: tf.sin(x) if tf.reduce_sum(x) > 0 else x * x, jit_compile=True)
    for x in (1.0, -2.0, 3.0, -4.0) * 2:
        want = np.sin(x) if x > 0 else x * x
        assert float(function(tf.constant(x, tf.float64))) == pytest.approx(want, rel=1e-14)


def test_random_draws_are_those_of_the_numpy_engine():
    def drawn(jit):
        tf.random.set_seed(4)

        @tf.function(jit_compile=jit)
        def draw():
            return tf.random.normal((3, 5)), tf.random.uniform((4,), maxval=9, dtype=tf.int32)

        return [t.numpy() for _ in range(3) for t in draw()]

    for a, b in zip(drawn(True), drawn(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_large_draws_without_a_seed_are_expressible():
    x = tf.ones((300, 400))
    result = on_xla(lambda x: tf.nn.dropout(x, 0.5) + tf.random.normal(x.shape) * 0.0)(x)
    assert abs(float(tf.reduce_mean(result)) - 1) < 0.05


# -- what cannot be expressed ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        (lambda x: tf.boolean_mask(x, x > 0), "where_true stays on the host: the size"),
        (lambda x: tf.random.gamma((3,), tf.abs(x) + 1), "random_gamma stays on the host"),
        (lambda x: tf.numpy_function(np.sin, [x], tf.float32), "runs in Python"),
        (
            lambda x: tf.strings.join(["a", tf.strings.as_string(x)]),
            "runs in Python|string|host",
        ),
    ],
)
def test_a_graph_that_xla_cannot_express_is_an_error_at_the_first_call(python, reason):
    variable = tf.Variable(0.0)

    @tf.function(jit_compile=True)
    def function(x):
        variable.assign_add(1.0)
        return python(x)

    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        function(normal(3))
    assert variable.numpy() == 0


def test_the_error_for_gradients_of_an_unbounded_while_loop_names_the_argument():
    @tf.function(jit_compile=True)
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = iterate(x)
        return tape.gradient(y, x)

    with pytest.raises(tf.errors.InvalidArgumentError, match="maximum_iterations"):
        function(tf.constant([0.1, 0.2]))


def test_a_kernel_that_fails_on_jax_is_named(monkeypatch):
    def failing(x):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(e.exp.op, "lowering", failing)
    builder = Builder(np.ones(3, np.float32))
    with pytest.raises(NotLowerable, match=r"exp cannot run on JAX \(no such thing\)"):
        compile_graph(builder.graph(builder.apply(e.exp, 0)))


def test_assertions_are_checked_and_nothing_is_assigned():
    variable = tf.Variable(0.0)

    @tf.function(jit_compile=True)
    def function(x):
        variable.assign_add(1.0)
        tf.debugging.assert_less(x, 10.0)
        return x * 2

    for _ in range(2):
        function(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(11.0))
    assert variable.numpy() == 2


def test_importing_gradtape_does_not_import_jax():
    code = (
        "import sys, gradtape as tf; f = tf.function(lambda x: x * 2); f(tf.constant(1.0)); "
        "f(tf.constant(1.0)); assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_factorisations_read_the_lower_triangle_only():
    a = tf.constant([[4.0, 9.0, -7.0], [1.0, 5.0, 3.0], [0.5, 2.0, 6.0]], tf.float64)
    for python in (tf.linalg.cholesky, tf.linalg.eigvalsh):
        np.testing.assert_allclose(on_xla(python)(a), python(a), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gelu_of_half_types(dtype):
    check_on_xla(tf.nn.gelu, tf.cast(normal(5), dtype), rtol=5e-2)


def test_cached_copies_of_arrays_do_not_become_stale():
    double = on_xla(lambda x: x * 2)
    v = tf.Variable(tf.zeros(40_000))
    for i in range(3):
        now = tf.fill((40_000,), float(i))
        v.assign(now)
        np.testing.assert_array_equal(double(now), 2 * i)
        del now
        # The array passed to XLA has no other reference now, so the variable may overwrite it.
        v.assign_add(tf.ones(40_000))
        np.testing.assert_array_equal(double(v.read_value()), 2 * (i + 1))


def test_constants_of_one_repeated_number_are_not_stored_in_the_program():
    builder = Builder(np.ones((100, 200), "float32"))
    ones = np.full((100, 200), -0.0, "float32")
    plan = compile_graph(builder.graph(builder.apply(e.multiply, 0, constant(ones))))
    assert plan.trace().jaxpr.consts == []
    (result,) = plan(builder.values[0])
    assert np.signbit(result).all()


ROWS, TWICE = tf.constant([3, 1]), tf.constant([1, 3, 1])
PLACES, PAIR = tf.constant([[0, 1], [2, 2]]), tf.constant([5.0, 6.0])
BATCH = tf.IndexedSlices(tf.ones([4, 2]), tf.constant([[0, 1], [1, 2], [0, 2], [2, 1]]))


@pytest.mark.parametrize(
    "update",
    [
        *(
            lambda v, how=how: getattr(v, f"scatter_{how}")(
                tf.IndexedSlices(tf.fill([3, 3], 2.0), TWICE)
            )
            for how in ["add", "sub", "mul", "div", "max", "min"]
        ),
        lambda v: v.scatter_update(tf.IndexedSlices(tf.constant(7.0), ROWS)),
        *(
            lambda v, how=how: getattr(v, f"scatter_nd_{how}")(PLACES, PAIR)
            for how in ["add", "sub", "max", "min", "update"]
        ),
        lambda v: v.batch_scatter_update(BATCH),
        lambda v: v[1:3, 0].assign(PAIR),
        lambda v: v[1].assign([1.0, 2.0, 3.0]),
        lambda v: v[..., 1:].assign(3.0),
        lambda v: v[::2].assign(tf.ones([1, 2, 3])),
    ],
)
def test_updates_of_some_elements_of_a_variable(update):
    v = tf.Variable(tf.reshape(tf.range(1.0, 13.0), [4, 3]))
    w = tf.Variable(v)

    @tf.function(jit_compile=True)
    def compiled():
        update(w)

    for _ in range(3):
        update(v)
        compiled()
    np.testing.assert_allclose(w, v)


def test_a_table_learns_from_looked_up_rows():
    table = tf.Variable(tf.reshape(tf.range(12.0), [6, 2]))

    @tf.function(jit_compile=True)
    def step(rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows) ** 2)
        slices = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(0.25 * slices.values, slices.indices))

    for _ in range(3):
        step(tf.constant([1, 4]))
    expected = np.arange(12.0).reshape(6, 2)
    expected[[1, 4]] /= 8
    np.testing.assert_allclose(table, expected)


def test_the_memory_of_the_compiler_is_released_after_large_graphs(monkeypatch):
    released = []
    monkeypatch.setattr(engine, "release_compiler_memory", lambda: released.append(True))

    def repeat(count):
        def function(x):
            for _ in range(count):
                x = tf.tanh(x) * x
            return x

        return function

    x = normal(3)
    on_xla(repeat(2))(x)
    assert released == []
    on_xla(repeat(60))(x)
    assert released == [True]


def test_a_system_without_malloc_trim_releases_nothing(monkeypatch):
    monkeypatch.setattr(jax_runtime.ctypes, "CDLL", lambda name: object())
    jax_runtime.find_malloc_trim.cache_clear()
    try:
        assert jax_runtime.find_malloc_trim() is None
        jax_runtime.release_compiler_memory()
    finally:
        jax_runtime.find_malloc_trim.cache_clear()


@pytest.mark.parametrize("shape", [(300, 256), (4, 80, 256), (2, 40000)])
@pytest.mark.parametrize("keepdims", [True, False])
def test_sums_of_many_rows_equal_those_on_numpy(shape, keepdims):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    x[0, ..., 3], x[1, ..., 5] = np.inf, np.nan
    total = tf.function(lambda x: tf.reduce_sum(x, -1, keepdims=keepdims), jit_compile=True)
    want = x.astype(np.float64).sum(-1, keepdims=keepdims)
    for _ in range(2):
        np.testing.assert_allclose(total(tf.constant(x)).numpy(), want, rtol=1e-4, atol=1e-3)


def test_no_interrupt_keeps_the_copy_of_a_deleted_array():
    raw = np.zeros(3)
    key = id(raw)
    remember_copy(raw, "copy")
    assert find_copy(raw) == "copy"

    def interrupt(frame, event, argument):
        raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        del raw
    finally:
        sys.settrace(before)
    assert key not in DEVICE_COPIES


def test_a_copy_belongs_to_one_array_even_if_another_has_its_address():
    old, new = np.zeros(3), np.zeros(3)
    remember_copy(old, "copy")
    DEVICE_COPIES[id(new)] = DEVICE_COPIES[id(old)]
    try:
        assert find_copy(new) is None
    finally:
        del DEVICE_COPIES[id(new)]
