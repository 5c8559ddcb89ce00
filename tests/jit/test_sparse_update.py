"""Updates of some elements inside a `tf.function` write into the variable's own array."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.numpy.engine import compile_graph

rng = np.random.default_rng(7)
ROWS, WIDTH = 2000, 16


def make_table(dtype="float32"):
    return tf.Variable(rng.integers(1, 50, size=(ROWS, WIDTH)).astype(dtype))


def slices(count=200):
    ids = rng.integers(0, ROWS, size=count)
    return tf.constant(rng.integers(1, 5, size=(count, WIDTH)).astype("float32")), tf.constant(ids)


UPDATES = {
    **{
        how: lambda v, values, ids, how=how: getattr(v, f"scatter_{how}")(
            tf.IndexedSlices(tf.cast(values, v.dtype), ids)
        )
        for how in ("add", "sub", "mul", "div", "max", "min", "update")
    },
    **{
        f"nd_{how}": lambda v, values, ids, how=how: getattr(v, f"scatter_nd_{how}")(
            ids[:, None], tf.cast(values, v.dtype)
        )
        for how in ("add", "sub", "max", "min", "update")
    },
    "scalar": lambda v, values, ids: v.scatter_add(
        tf.IndexedSlices(tf.cast(values[0, 0], v.dtype), ids)
    ),
    "element": lambda v, values, ids: v.scatter_nd_sub(
        tf.stack([ids, ids % WIDTH], axis=1), tf.cast(values[:, 0], v.dtype)
    ),
    "slice": lambda v, values, ids: v[3:8, ::2].assign(tf.cast(values[:5, ::2], v.dtype)),
    "row": lambda v, values, ids: v[4].assign(tf.cast(values[0], v.dtype)),
    "batch": lambda v, values, ids: v.batch_scatter_update(
        tf.IndexedSlices(
            tf.cast(tf.tile(values[:1, :2], [ROWS, 1]), v.dtype),
            tf.tile(tf.constant([[3, 1]]), [ROWS, 1]),
        )
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_a_function_updates_as_eager_code_does_and_in_place(update, dtype):
    values, ids = slices()
    table = make_table(dtype)
    copy = tf.Variable(table)

    @tf.function
    def step(values, ids):
        seen = tf.reduce_sum(tf.gather(table, ids))
        update(table, values, ids)
        return seen

    for _ in range(4):
        seen = step(values, ids)
        np.testing.assert_array_equal(seen, tf.reduce_sum(tf.gather(copy, ids)))
        update(copy, values, ids)
        np.testing.assert_array_equal(table, copy)
    path = step.get_concrete_function(values, ids)._path
    first = len(path.graph.inputs) - len(path.states)
    updates = {path.result_count + k: first + i for k, i in enumerate(path.writes)}
    assert compile_graph(path.graph, updates).in_place == updates


@pytest.mark.parametrize("name", ["sub", "nd_update"])
def test_a_bad_index_changes_nothing(name):
    values, ids = slices()
    table, other = make_table(), tf.Variable(np.ones((300, 300), "float32"))

    @tf.function
    def step(values, ids):
        other.assign_add(tf.ones([300, 300]))
        UPDATES[name](table, values, ids)

    for _ in range(3):
        step(values, ids)
    before = table.numpy().copy()
    for bad in (-1, ROWS):
        wrong = tf.tensor_scatter_nd_update(ids, [[7]], tf.constant([bad], tf.int64))
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(values, wrong)
        np.testing.assert_array_equal(table, before)
        np.testing.assert_array_equal(other, np.full((300, 300), 4.0))


def test_a_tensor_that_was_read_before_keeps_its_value():
    values, ids = slices()
    table = make_table()

    @tf.function
    def step(values, ids):
        table.scatter_sub(tf.IndexedSlices(values, ids))

    for _ in range(3):
        held = tf.convert_to_tensor(table)
        before = held.numpy().copy()
        step(values, ids)
        np.testing.assert_array_equal(held, before)
        assert not np.array_equal(table, before)


def test_updates_that_are_rows_of_the_table_itself():
    table = make_table()
    copy = tf.Variable(table)
    ids = tf.range(1, 201)

    def shift(v):
        v.scatter_add(tf.IndexedSlices(v[:200], ids))
        return v

    def move(v):
        v[1:101].assign(v[:100])
        return v

    for change in (shift, move):
        step = tf.function(lambda change=change: tf.reduce_sum(change(table)))
        for _ in range(3):
            step()
            change(copy)
            np.testing.assert_array_equal(table, copy)


def test_two_tables_that_exchange_rows():
    a, b = make_table(), make_table()
    x, y = tf.Variable(a), tf.Variable(b)
    ids = tf.range(50)

    def exchange(a, b):
        rows = a[:50]
        a.scatter_update(tf.IndexedSlices(b[:50], ids))
        b.scatter_update(tf.IndexedSlices(rows * 2, ids))
        a.assign_add(tf.ones_like(a))

    step = tf.function(lambda: exchange(a, b))
    for _ in range(4):
        step()
        exchange(x, y)
        np.testing.assert_array_equal(a, x)
        np.testing.assert_array_equal(b, y)


def test_a_table_that_is_not_in_row_order():
    table = tf.Variable(np.asfortranarray(rng.normal(size=(ROWS, WIDTH)).astype("float32")))
    copy = tf.Variable(table.numpy().copy())
    values, ids = slices()
    step = tf.function(lambda: table.scatter_sub(tf.IndexedSlices(values, ids)))
    for _ in range(3):
        step()
        copy.scatter_sub(tf.IndexedSlices(values, ids))
        np.testing.assert_array_equal(table, copy)


def test_an_embedding_step_with_a_momentum_table():
    table, speed = make_table(), tf.Variable(tf.zeros([ROWS, WIDTH]))
    copies = tf.Variable(table), tf.Variable(speed)
    values, ids = slices()

    def step(table, speed):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - values))
        g = tape.gradient(loss, table)
        speed.scatter_add(g)
        rows = tf.gather(speed, g.indices)
        table.scatter_sub(tf.IndexedSlices(rows * 0.01, g.indices))
        return loss

    compiled = tf.function(lambda: step(table, speed))
    for _ in range(4):
        np.testing.assert_allclose(compiled(), step(*copies), rtol=1e-5)
        np.testing.assert_allclose(table, copies[0], rtol=1e-5)
        np.testing.assert_allclose(speed, copies[1], rtol=1e-5)
