"""LSTM and GRU layers train as one op, with the results and gradients of Keras's loop."""

import importlib
from importlib.util import find_spec

import numpy as np
import pytest

import gradtape as tf

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
tf.install()
keras = pytest.importorskip("keras")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 6, 3)).astype("float32")
STATES = [RNG.normal(size=(4, 5)).astype("float32") for _ in range(2)]
LENGTHS = np.arange(6) < np.array([[6], [3], [1], [0]])
GAPS = RNG.uniform(size=(4, 6)) > 0.4
MASKS = {"none": None, "lengths": LENGTHS, "left": LENGTHS[:, ::-1], "gaps": GAPS}
OPTIONS = [
    {},
    {"go_backwards": True, "return_sequences": True, "return_state": True},
    {"return_sequences": True, "zero_output_for_mask": True},
    {"zero_output_for_mask": True},
    {"unroll": True, "return_state": True, "go_backwards": True},
    {"use_bias": False, "return_sequences": True},
    {"dropout": 0.5, "return_sequences": True, "seed": 3},
    {"reset_after": False},
    {"activation": "relu", "recurrent_dropout": 0.5, "seed": 3},
]
needs_no_jax = pytest.mark.skipif(find_spec("jax") is not None, reason="with jax the loop stays")


def make_layer(kind, options):
    keras.utils.set_random_seed(1)
    options = {k: v for k, v in options.items() if kind == "GRU" or k != "reset_after"}
    layer = getattr(keras.layers, kind)(5, bias_initializer="random_normal", **options)
    layer.build(X.shape)
    return layer


def run(kind, options, mask, loop, compiled):
    """Outputs, gradients, and a second derivative, of the op or of Keras's loop."""
    layer = make_layer(kind, options)
    if loop:
        cell = layer.cell
        cell.call = cell.call  # a cell with a method of its own keeps the loop
    state = [tf.constant(s) for s in STATES[: 2 if kind == "LSTM" else 1]]

    def compute(x):
        inputs = [x, *state, *(v.value for v in layer.trainable_variables)]
        with tf.GradientTape() as outer:
            outer.watch(inputs)
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                out = layer(x, initial_state=state, mask=mask, training=True)
                flat = tf.nest.flatten(out)
                total = tf.add_n([tf.reduce_sum(tf.sin(v)) for v in flat])
            first = tape.gradient(total, inputs)
            norm = tf.add_n([tf.reduce_sum(g**2) for g in first])
        return flat, first, outer.gradient(norm, inputs)

    return tf.nest.flatten((tf.function(compute) if compiled else compute)(tf.constant(X)))


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_op_equals_the_loop(kind, mask, options):
    mask = None if MASKS[mask] is None else tf.constant(MASKS[mask])
    want = run(kind, options, mask, loop=True, compiled=False)
    for compiled in (False, True):
        got = run(kind, options, mask, loop=False, compiled=compiled)
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def count_loops(monkeypatch, call):
    """How many layers run Keras's loop."""
    found = []
    loop = keras.src.layers.RNN.inner_loop
    monkeypatch.setattr(
        keras.src.layers.RNN, "inner_loop", lambda *a, **k: found.append(1) or loop(*a, **k)
    )
    call()
    return len(found)


@needs_no_jax
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_training_runs_one_op_and_inference_the_loop(monkeypatch, kind):
    layer = make_layer(kind, {})
    assert count_loops(monkeypatch, lambda: layer(X, training=True)) == 0
    assert count_loops(monkeypatch, lambda: layer(X)) == 1


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_with_jax_only_layers_with_large_products_run_as_one_op(monkeypatch, kind):
    recurrent = importlib.import_module("gradtape.dropin.keras_recurrent")
    monkeypatch.setattr(recurrent, "has_jax", lambda: True)
    small = make_layer(kind, {})
    assert count_loops(monkeypatch, lambda: small(X, training=True)) == 1
    keras.utils.set_random_seed(1)
    large = getattr(keras.layers, kind)(512)
    x = RNG.normal(size=(32, 2, 8)).astype("float32")
    assert count_loops(monkeypatch, lambda: large(x, training=True)) == 0
    np.testing.assert_allclose(large(x, training=True), large(x), rtol=2e-4, atol=2e-5)


@needs_no_jax
def test_use_cudnn_is_refused_as_in_tensorflow():
    layer = make_layer("LSTM", {"use_cudnn": True})
    with pytest.raises(ValueError, match="use_cudnn=True was specified"):
        layer(X, training=True)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_function_that_trains_can_be_saved(tmp_path, kind):
    module = tf.Module()
    module.layer = make_layer(kind, {})
    module.run = tf.function(
        lambda x: module.layer(x, training=True), input_signature=[tf.TensorSpec(X.shape)]
    )
    want = module.run(X)
    tf.saved_model.save(module, str(tmp_path))
    np.testing.assert_allclose(tf.saved_model.load(str(tmp_path)).run(X), want, rtol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_stateful_layer_keeps_its_state(kind):
    op, loop = (make_layer(kind, {"stateful": True}) for _ in range(2))
    loop.cell.call = loop.cell.call
    for _ in range(3):
        np.testing.assert_allclose(op(X, training=True), loop(X, training=True), rtol=1e-5)
