"""Keras's `jit_compile`: "auto" leaves the engine to gradtape, False means NumPy."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.engine import EngineChoice, UndecidedJit

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
tf.install()
keras = pytest.importorskip("keras")

X = np.random.default_rng(0).normal(size=(16, 12, 3)).astype("float32")
Y = np.random.default_rng(1).integers(0, 4, size=16)


def make_model(**options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((12, 3)), keras.layers.LSTM(5), keras.layers.Dense(4)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, **options)
    return model


def test_auto_equals_false_and_is_not_a_choice():
    model = make_model()
    assert model.jit_compile == False  # noqa: E712 - it must compare equal
    assert repr(model.jit_compile) == "False"
    assert EngineChoice("f", model.jit_compile).preference is None
    assert model.get_compile_config()["jit_compile"] == False  # noqa: E712


def test_false_is_a_choice():
    model = make_model(jit_compile=False)
    assert model.jit_compile is False
    assert EngineChoice("f", model.jit_compile).preference == "numpy"


def test_a_model_compiled_from_saved_settings_is_still_undecided():
    settings = json.loads(json.dumps(make_model().get_compile_config()))
    model = make_model(jit_compile=False)
    model.compile_from_config(settings)
    assert EngineChoice("f", model.jit_compile).preference is None


@pytest.mark.skipif(find_spec("jax") is None, reason="needs jax")
def test_a_model_trains_alike_on_both_engines():
    auto, numpy = make_model(), make_model(jit_compile=False)
    history = [m.fit(X, Y, epochs=60, batch_size=8, verbose=0).history for m in (auto, numpy)]
    np.testing.assert_allclose(history[0]["loss"], history[1]["loss"], rtol=1e-3)
    np.testing.assert_allclose(auto.predict(X, verbose=0), numpy.predict(X, verbose=0), atol=1e-2)


def test_undecided_is_zero():
    assert not UndecidedJit(0)
