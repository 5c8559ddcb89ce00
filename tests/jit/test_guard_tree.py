"""The guard tree: it grows by one path at a time, keeps its paths, and is bounded."""

import logging

import numpy as np
import pytest

import gradtape as tf


@tf.custom_gradient
def doubled(x):
    """A function with a custom gradient."""
    return x * 2.0, lambda g: g * 3.0


BEFORE = {
    "plain ops": lambda x, v: tf.sin(x) + v,
    "a loop": lambda x, v: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + v), (0, x))[
        1
    ],
    "a branch": lambda x, v: tf.cond(x > 0.0, lambda: x + v, lambda: x - v),
    "a gradient of the user's": lambda x, v: doubled(x),
    "a host call": lambda x, v: tf.numpy_function(lambda a: a + np.float32(1), [x], tf.float32),
    "a host call with tensors": lambda x, v: tf.py_function(lambda a: a + 1.0, [x], tf.float32),
    "a map": lambda x, v: tf.map_fn(lambda a: a * 2.0, tf.stack([x, x]))[0],
    "an assignment": lambda x, v: v.assign_add(x) + 0.0,
    "a random draw": lambda x, v: x + tf.random.uniform([]),
    "an assertion": lambda x, v: tf.debugging.assert_less(x, 100.0) or x,
    "a print": lambda x, v: tf.print("", output_stream=lambda text: None) or x,
}


@pytest.mark.parametrize("what", BEFORE)
def test_paths_share_their_common_segments(what):
    @tf.function
    def f(x, v, k):
        y = BEFORE[what](x, v)
        if k > 2:
            return y * 2.0
        if k > 1:
            return y * 3.0
        return y

    v, w = tf.Variable(1.0), tf.Variable(2.0)
    for variable in (v, w, v):
        for k in (1, 2, 3):
            f(tf.constant(1.0), variable, tf.constant(k))
    assert f.experimental_get_tracing_count() == 3
    assert not f.fallbacks()


def test_beyond_sixteen_paths_python_runs_and_warns_once(caplog):
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in range(n):
            total += i
        return total

    with caplog.at_level(logging.WARNING, "gradtape"):
        for n in [*range(20), *range(20)]:
            assert int(f(tf.constant(n))) == n * (n - 1) // 2
    said = [r.getMessage() for r in caplog.records if "eagerly" in r.getMessage()]
    assert len(said) == 1
    assert "test_guard_tree.py" in said[0]
    ((why, times),) = f.fallbacks().items()
    assert "16 paths" in why
    assert times == 23


def test_a_long_loop_over_a_dataset_runs_python_and_warns_once(caplog, monkeypatch):
    monkeypatch.setattr("gradtape.jit.function.MAX_NODES", 500)
    v = tf.Variable(0.0)
    data = tf.data.Dataset.from_tensor_slices(np.ones(300, np.float32))

    @tf.function
    def epoch():
        for x in data:
            v.assign_add(x)

    with caplog.at_level(logging.WARNING, "gradtape"):
        for n in (1, 2, 3):
            epoch()
            assert float(v) == 300.0 * n
    said = [r.getMessage() for r in caplog.records if "eagerly" in r.getMessage()]
    assert len(said) == 1
    assert "test_guard_tree.py" in said[0]
    ((why, times),) = epoch.fallbacks().items()
    assert "500 ops" in why
    assert times == 2


def test_functions_called_by_an_eager_body_stay_compiled(monkeypatch):
    monkeypatch.setattr("gradtape.jit.function.MAX_NODES", 500)
    runs = []
    v = tf.Variable(0.0)

    @tf.function
    def step(x):
        runs.append(1)
        v.assign_add(x)

    data = tf.data.Dataset.from_tensor_slices(np.ones(400, np.float32))

    @tf.function
    def epoch():
        for x in data:
            step(x)

    for _ in range(2):
        epoch()
    assert float(v) == 800.0
    assert len(runs) <= 2
