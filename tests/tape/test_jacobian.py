"""Jacobians in one backward pass."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.tape import jacobian as module


def network():
    rng = np.random.default_rng(1)
    w = tf.constant(rng.normal(size=(4, 3)))
    x = tf.constant(rng.normal(size=(5, 4)))
    return w, x


def test_chunks_give_the_result_of_a_single_pass(monkeypatch):
    w, x = network()
    results = []
    for limit in (2**27, 300, 1):
        monkeypatch.setattr(module, "CHUNK_BYTES", limit)
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.tanh(x @ w)
        results.append(tape.jacobian(y, w).numpy())
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_a_jacobian_equals_gradients_row_by_row():
    w, x = network()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([w, x])
        y = tf.reduce_sum(tf.exp(x @ w), axis=1) + tf.reduce_max(x, axis=1)
        rows = [y[i] for i in range(5)]
    jw, jx = tape.jacobian(y, [w, x])
    for i, row in enumerate(rows):
        gw, gx = tape.gradient(row, [w, x])
        np.testing.assert_allclose(jw[i], gw, rtol=1e-12)
        np.testing.assert_allclose(jx[i], gx, rtol=1e-12, atol=1e-15)


def test_a_hessian_is_a_jacobian_of_a_gradient():
    x = tf.constant([1.0, 2.0, 3.0], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3) + x[0] * x[1]
        g = inner.gradient(y, x)
    expected = np.diag([6.0, 12.0, 18.0])
    expected[0, 1] = expected[1, 0] = 1.0
    np.testing.assert_allclose(outer.jacobian(g, x), expected)


def test_a_jacobian_can_be_differentiated():
    x = tf.constant([1.0, 2.0], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        j = inner.jacobian(y, x)
        s = tf.reduce_sum(j)
    np.testing.assert_allclose(outer.gradient(s, x), [6.0, 12.0])


def test_batch_jacobian_equals_the_diagonal_of_the_jacobian():
    w, x = network()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.sin(x @ w)
    full = tape.jacobian(y, x).numpy()
    expected = np.stack([full[i, :, i] for i in range(5)])
    np.testing.assert_allclose(tape.batch_jacobian(y, x), expected, rtol=1e-12)


def test_jacobians_of_complex_numbers_follow_the_convention_of_gradients():
    z = tf.constant([1.0 + 1.0j, 2.0 - 1.0j])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(z)
        y = z * z
        first = y[0]
    j = tape.jacobian(y, z).numpy()
    np.testing.assert_allclose(j[0], tape.gradient(first, z))


def test_a_failed_call_leaves_the_tape_usable():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.jacobian(y, x, unconnected_gradients="ones")
    with pytest.raises(RuntimeError, match="persistent"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("target", "source", "message"),
    [
        (tf.ones(2), tf.ones((2, 2)), "rank at least 2"),
        (tf.ones((2, 2)), tf.ones(2), "rank at least 2"),
        (tf.ones((4, 2)), tf.ones((2, 2)), "Need first dimension"),
    ],
)
def test_a_batch_jacobian_needs_matching_batches(target, source, message):
    with tf.GradientTape() as tape:
        pass
    with pytest.raises(ValueError, match=message):
        tape.batch_jacobian(target, source)


def test_parallel_iterations_of_a_batch_jacobian_need_a_persistent_tape():
    x = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(RuntimeError, match="parallel_iterations"):
        tape.batch_jacobian(y, x, parallel_iterations=2)


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
def test_one_trace_serves_jacobians_of_all_sizes(method):
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * x
        return getattr(tape, method)(y, x)

    shape = differentiate.get_concrete_function().structured_outputs.shape
    assert shape.as_list() == [None] * (4 if method == "jacobian" else 3)
    for size in ((2, 3), (3, 1), (1, 4)):
        x = tf.constant(np.arange(1.0, 1.0 + size[0] * size[1]).reshape(size))
        compiled = differentiate(x)
        np.testing.assert_allclose(compiled, differentiate.python_function(x), rtol=1e-12)
    assert differentiate.experimental_get_tracing_count() == 1


def test_zeros_of_unconnected_sources_have_open_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.ones_like(x)
        return tape.jacobian(y, x, unconnected_gradients="zero")

    assert differentiate.get_concrete_function().structured_outputs.shape.as_list() == [None, None]
    np.testing.assert_array_equal(differentiate(tf.ones([3], tf.float64)), np.zeros((3, 3)))
