"""Tensors of unknown size, in a scratch scope where only shapes are asked for."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph import scratch_graph


@pytest.fixture
def x():
    with scratch_graph.enter_scratch_graph():
        yield scratch_graph.make_placeholder("float32", (None, 4))


SHAPES = {
    "x + 1": lambda x: (x + 1, (None, 4)),
    "1 - x": lambda x: (1 - x, (None, 4)),
    "x == x": lambda x: (x == x, (None, 4)),
    "2 / x": lambda x: (2 / x, (None, 4)),
    "x @ w": lambda x: (x @ tf.ones((4, 3)), (None, 3)),
    "w @ xT": lambda x: (tf.matmul(tf.ones((3, 4)), x, transpose_b=True), (3, None)),
    "a row": lambda x: (x[0], (4,)),
    "a column": lambda x: (x[:, 0], (None,)),
    "the first half": lambda x: (x[: tf.shape(x)[0] // 2], (None, 4)),
    "sum": lambda x: (tf.reduce_sum(x), ()),
    "mean of rows": lambda x: (tf.reduce_mean(x, axis=1), (None,)),
    "flat": lambda x: (tf.reshape(x, (-1,)), (None,)),
    "reshaped by its size": lambda x: (tf.reshape(x, [tf.shape(x)[0], 2, 2]), (None, 2, 2)),
    "zeros": lambda x: (tf.zeros((tf.shape(x)[0], 3)), (None, 3)),
    "joined": lambda x: (tf.concat([x, x], 1), (None, 8)),
    "stacked size": lambda x: (tf.stack([tf.shape(x)[0], 3]), (2,)),
    "a branch": lambda x: (tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x), (None, 4)),
    "a loop": lambda x: (tf.while_loop(lambda y: True, lambda y: [y * 2], [x])[0], (None, 4)),
    "each row": lambda x: (tf.map_fn(lambda row: row[:2], x), (None, 2)),
    "products of rows": lambda x: (tf.einsum("ij,kj->ik", x, x), (None, None)),
    "noise": lambda x: (tf.random.normal(tf.shape(x)), (None, 4)),
    "a function": lambda x: (tf.function(lambda y: y * 2)(x), (None, 4)),
    "a variable": lambda x: (tf.Variable(tf.ones((4, 2))) * 1.0, (4, 2)),
    "parts": lambda x: (tf.split(x, 2, axis=1)[1], (None, 2)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_sizes_that_differ_are_unknown(name, x):
    result, shape = SHAPES[name](x)
    assert tuple(result.shape.as_list()) == shape


def test_windows_slide_over_axes_of_unknown_size():
    with scratch_graph.enter_scratch_graph():
        images = scratch_graph.make_placeholder("float32", (None, None, None, 3))
        out = tf.nn.conv2d(images, tf.ones((5, 5, 3, 8)), 2, "VALID")
        assert out.shape.as_list() == [None, None, None, 8]


def test_what_is_known_of_a_shape_is_a_value(x):
    assert int(tf.shape(x)[1]) == 4
    assert int(tf.rank(x)) == 2
    assert tf.shape(x)[0].dtype == tf.int32
    assert not hasattr(tf.shape(x)[0], "numpy")
    assert len(list(tf.zeros_like(x[0]))) == 4


def test_unknown_values_are_not_shown(x):
    for read in (bool, int, float, len, np.asarray, list, range):
        with pytest.raises((TypeError, NotImplementedError)):
            read(tf.shape(x)[0] if read is not list else x)
    assert not hasattr(x, "numpy")
    assert not tf.executing_eagerly()


def test_gradients_have_the_shape_of_their_source(x):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * v
    dx, dv = tape.gradient(y, [x, v])
    assert (dx.shape.as_list(), dv.shape.as_list()) == ([None, 4], [])


def test_shapes_that_cannot_fit_are_an_error(x):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        x + tf.ones((3,))


def test_nobody_outside_hears_of_it():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        with scratch_graph.enter_scratch_graph():
            scratch_graph.make_placeholder("float32", (None,)) * v
    assert tape.gradient(y, v).numpy() == 6.0
    assert tf.executing_eagerly()


def test_a_function_that_is_traced_may_ask_for_shapes():
    @tf.function
    def f(x):
        with scratch_graph.enter_scratch_graph():
            assert (scratch_graph.make_placeholder("float32", (None, 3)) + x).shape.as_list() == [
                None,
                3,
            ]
        return x * 2

    assert f(tf.ones(3)).numpy().tolist() == [2, 2, 2]
    assert f(tf.zeros(3)).numpy().tolist() == [0, 0, 0]


def test_init_scope_leaves_the_scratch_scope():
    with scratch_graph.enter_scratch_graph(), tf.init_scope():
        assert tf.executing_eagerly()
        assert (tf.constant(1.0) + 1).numpy() == 2.0


def test_a_placeholder_needs_a_scratch_scope():
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        scratch_graph.make_placeholder("float32", (None,))


def test_set_shape_makes_a_size_known(x):
    x.set_shape((7, None))
    assert x.shape.as_list() == [7, 4]
    assert (x + 1).shape.as_list() == [7, 4]
