"""vmap: one call of each kernel gives what a loop over the examples gives."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.func import VectorizeError, grad, jacrev, jvp, vmap

rng = np.random.default_rng(0)
ROWS = tf.constant(rng.normal(size=(5, 4)).astype("float32"))
MATRIX = tf.Variable(rng.normal(size=(4, 3)).astype("float32"))


def loop(function, *batches):
    return tf.stack([function(*row) for row in zip(*batches, strict=True)])


def check(function, *batches):
    np.testing.assert_allclose(
        vmap(function)(*batches), loop(function, *batches), rtol=1e-5, atol=1e-6
    )


def energy(x):
    return tf.reduce_sum(tf.tanh(x[None] @ MATRIX) ** 2)


def gradient_by_variable(x):
    with tf.GradientTape() as tape:
        value = energy(x)
    return tape.gradient(value, MATRIX)


FUNCTIONS = {
    "matrix product": energy,
    "gradient by a variable": gradient_by_variable,
    "gradient": grad(energy),
    "jacobian": jacrev(lambda x: x * x[0]),
    "forward mode": lambda x: jvp(tf.sin, (x,), (x * x,))[1],
    "second derivative": grad(lambda x: tf.reduce_sum(grad(energy)(x) ** 2)),
    "sort": lambda x: tf.sort(x, direction="DESCENDING"),
    "top_k": lambda x: tf.math.top_k(x, 2).values,
    "index by a tensor": lambda x: x[tf.argmax(x)],
    "gather": lambda x: tf.gather(MATRIX, tf.argsort(x)),
    "gather of its own rows": lambda x: tf.gather(x, tf.argsort(x)),
    "segment sum": lambda x: tf.math.unsorted_segment_sum(x, tf.argsort(x), 4),
    "scatter": lambda x: tf.scatter_nd(tf.argsort(x)[:, None], x, [6]),
    "update": lambda x: tf.tensor_scatter_nd_update(x, [[1]], [x[0]]),
    "softmax": lambda x: tf.nn.softmax(x),
    "one hot": lambda x: tf.one_hot(tf.argmax(x), 4),
    "cond": lambda x: tf.cond(x[0] > 0, lambda: x * 2, lambda: -x),
    "where": lambda x: tf.where(x > 0, x, 0.0),
    "concat with a shared tensor": lambda x: tf.concat([x, [1.0, 2.0]], 0),
    "einsum": lambda x: tf.einsum("i,ij->j", x, MATRIX),
    "linear solve": lambda x: tf.linalg.solve(tf.linalg.diag(x) + tf.eye(4) * 9, x[:, None]),
    "loop over elements": lambda x: sum(element * 2 for element in x),
    "a function": tf.function(energy),
    "shared result": lambda x: tf.constant([1.0, 2.0]),
    "convolution": lambda x: tf.nn.conv1d(x[None, :, None], MATRIX[:3, None, :2], 1, "SAME"),
    "normalisation": lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, 0), None, None, 1e-3),
    "recomputed": lambda x: grad(tf.recompute_grad(energy))(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_a_loop(name):
    check(FUNCTIONS[name], ROWS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_a_loop_inside_a_function(name):
    compiled = tf.function(vmap(FUNCTIONS[name]))
    want = loop(FUNCTIONS[name], ROWS)
    for _ in range(3):
        np.testing.assert_allclose(compiled(ROWS), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"shared result", "one hot"}))
def test_a_tape_differentiates_it(name):
    function = FUNCTIONS[name]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(ROWS)
        together = tf.reduce_sum(tf.sin(vmap(function)(ROWS)))
        looped = tf.reduce_sum(tf.sin(tf.stack([function(ROWS[i]) for i in range(5)])))
    for source in (ROWS, MATRIX):
        got, want = (
            tape.gradient(y, source, unconnected_gradients="zero") for y in (together, looped)
        )
        np.testing.assert_allclose(
            tf.convert_to_tensor(got), tf.convert_to_tensor(want), rtol=1e-4, atol=1e-5
        )


def test_axes_say_where_the_examples_are():
    a, b = tf.ones((2, 3)), tf.reshape(tf.range(6.0), (3, 2))
    product = vmap(lambda a, b: a * b, in_axes=(0, 1), out_axes=1)(a, b)
    np.testing.assert_array_equal(product, tf.transpose(tf.transpose(b)))
    shared = vmap(lambda a, p: a * p["w"] + p["b"], in_axes=(0, {"w": None, "b": 0}))
    result = shared(tf.ones(2), {"w": tf.constant(3.0), "b": tf.constant([1.0, 2.0])})
    np.testing.assert_array_equal(result, [4.0, 5.0])
    structure = vmap(
        lambda x: {"sum": tf.reduce_sum(x), "one": 1.0}, out_axes={"sum": 0, "one": None}
    )
    np.testing.assert_array_equal(structure(a)["sum"], [3.0, 3.0])
    assert structure(a)["one"].shape == ()


def test_it_nests():
    outer = vmap(vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0, 5.0])
    np.testing.assert_array_equal(outer(a, b), np.outer(a, b))
    table = tf.reshape(tf.range(24.0), (2, 3, 4))
    places = tf.constant([[0, 1, 2], [3, 2, 1]])
    found = vmap(vmap(lambda row, i: row[i]))(table, places)
    np.testing.assert_array_equal(found, tf.gather(table, places, batch_dims=2))


def test_each_kernel_runs_once():
    calls = []

    @tf.custom_gradient
    def note(x):
        calls.append(x.shape)
        return x * 2, lambda g: g * 3

    with tf.GradientTape() as tape:
        tape.watch(ROWS)
        y = vmap(note)(ROWS)
    assert calls == [(4,)]
    np.testing.assert_array_equal(tape.gradient(y, ROWS), np.full((5, 4), 3.0))


def test_random_numbers_differ_between_examples_and_equal_those_of_a_loop():
    def draw(x):
        return x + tf.random.normal([2])

    tf.random.set_seed(3)
    together = vmap(draw)(tf.zeros((4, 2)))
    tf.random.set_seed(3)
    np.testing.assert_array_equal(together, loop(draw, tf.zeros((4, 2))))
    assert len(np.unique(together)) == 8


def test_values_that_differ_cannot_be_read():
    with pytest.raises(VectorizeError, match="must not read"):
        vmap(lambda x: x if x[0] > 0 else -x)(ROWS)
    with pytest.raises(VectorizeError, match="must not assign"):
        vmap(lambda x: MATRIX.assign(tf.ones((4, 3))))(ROWS)
    with pytest.raises(VectorizeError, match="one shape"):
        vmap(lambda x: tf.boolean_mask(x, x > 0))(ROWS)


def test_wrong_axes_and_sizes_are_errors():
    with pytest.raises(ValueError, match="same number of examples"):
        vmap(lambda a, b: a + b)(tf.ones(2), tf.ones(3))
    with pytest.raises(ValueError, match="in_axes must be an axis"):
        vmap(lambda a: a, in_axes=1)(tf.ones(2))
    with pytest.raises(ValueError, match="prefix of the structure"):
        vmap(lambda a: a, in_axes=(0, 0))(tf.ones(2))
    with pytest.raises(ValueError, match="must not depend on the example"):
        vmap(lambda a: a, out_axes=None)(tf.ones(2))


def test_a_batch_without_examples_has_the_shape_of_one():
    assert vmap(lambda x: tf.tanh(x) @ MATRIX)(tf.zeros((0, 2, 4))).shape == (0, 2, 3)


def test_vectorized_map_calls_its_function_once():
    shapes = []

    def square(x):
        shapes.append(x.shape)
        return x * x

    np.testing.assert_array_equal(tf.vectorized_map(square, ROWS), ROWS * ROWS)
    assert shapes == [(4,)]


def test_vectorized_map_falls_back_to_a_loop():
    total = tf.Variable(0.0)

    def branch(x):
        return x if x[0] > 0 else -x

    np.testing.assert_array_equal(tf.vectorized_map(branch, ROWS), loop(branch, ROWS))
    tf.vectorized_map(lambda x: total.assign_add(x), tf.constant([1.0, 2.0, 3.0]))
    assert float(total) == 6.0
    with pytest.raises(ValueError, match="must not read"):
        tf.vectorized_map(branch, ROWS, fallback_to_while_loop=False)
