"""The choice of the engine for a graph."""

import logging

import numpy as np
import pytest

import gradtape
import gradtape as tf
from gradtape.compile import engine
from gradtape.compile.engine import EngineChoice, EngineSettings
from gradtape.compile.xla import kernel_namespace

JAX = kernel_namespace.has_jax()


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    """Reset the settings and the log of the process."""
    monkeypatch.setattr(EngineSettings, "engine", None)
    monkeypatch.setattr(EngineSettings, "logged", set())
    monkeypatch.setattr(EngineSettings, "declined", {})
    monkeypatch.delenv("GRADTAPE_ENGINE", raising=False)


def engine_of(function):
    """The engine that compiled the only signature of a function."""
    (compiled,) = function._cache.values()
    return type(compiled.plan).__module__.split(".")[2] + "_engine"


def call_twice(function):
    """Call a function twice, so that its plan exists."""
    for _ in range(2):
        function(tf.constant([1.0, 2.0]))
    return function


def test_by_default_small_graphs_run_on_numpy():
    assert engine_of(call_twice(tf.function(lambda x: x * 2))) == "numpy_engine"
    assert gradtape.engine.current() is None


LARGE = tf.ones((1024, 1024))
WORK = {
    "a chain": (lambda x: tf.tanh(x) * LARGE, "xla_engine"),
    "a softmax": (lambda x: tf.nn.softmax(x * LARGE), "xla_engine"),
    "a product": (lambda x: tf.matmul(x * LARGE, LARGE), "numpy_engine"),
    "a small chain": (lambda x: tf.tanh(x) * LARGE[:4, :2], "numpy_engine"),
    "an index that is checked": (lambda x: tf.gather(x * LARGE, [0]), "numpy_engine"),
}


@pytest.mark.skipif(not JAX, reason="needs jax")
@pytest.mark.parametrize("what", WORK)
def test_by_default_large_elementwise_work_goes_to_xla(what):
    python, engine_name = WORK[what]
    function = tf.function(lambda x: python(x[0]))
    assert engine_of(call_twice(function)) == engine_name
    np.testing.assert_allclose(
        function(tf.constant([0.5, 0.0])), python(tf.constant(0.5)), rtol=1e-5
    )


def test_without_jax_large_elementwise_work_runs_on_numpy(monkeypatch):
    monkeypatch.setattr(kernel_namespace, "HAS_JAX", [False])
    function = tf.function(lambda x: tf.tanh(x[0]) * LARGE)
    assert engine_of(call_twice(function)) == "numpy_engine"


def test_settings_of_the_function_override_those_of_the_process(monkeypatch):
    choice = EngineChoice("f")
    monkeypatch.setenv("GRADTAPE_ENGINE", "xla")
    assert choice.preference == "xla"
    gradtape.engine.use("numpy")
    assert choice.preference == "numpy"
    choice.jit_compile = True
    assert choice.preference == "xla"
    choice.engine = "numpy"
    assert choice.preference == "numpy"
    assert not choice.is_xla_required


def test_jit_compile_false_overrides_the_setting_of_the_process(monkeypatch):
    monkeypatch.setenv("GRADTAPE_ENGINE", "xla")
    assert EngineChoice("f", False).preference == "numpy"


def test_an_unknown_engine_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="one of numpy, xla"):
        gradtape.engine.use("cuda")
    monkeypatch.setenv("GRADTAPE_ENGINE", "cuda")
    with pytest.raises(ValueError, match="one of numpy, xla"):
        gradtape.engine.current()


def test_without_jax_functions_run_on_numpy_and_warn_once(monkeypatch, caplog):
    monkeypatch.setattr(kernel_namespace, "HAS_JAX", [False])
    with caplog.at_level(logging.WARNING, "gradtape"):
        for _ in range(2):
            function = call_twice(tf.function(lambda x: x * 2, jit_compile=True))
    assert engine_of(function) == "numpy_engine"
    assert len([r for r in caplog.records if "XLA" in r.message]) == 1
    with pytest.raises(ModuleNotFoundError, match="jax"):
        gradtape.engine.use("xla")


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_jit_compile_takes_xla():
    assert engine_of(call_twice(tf.function(lambda x: x * 2, jit_compile=True))) == "xla_engine"


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_the_process_and_one_function_can_ask_for_xla():
    function = tf.function(lambda x: x * 2)
    gradtape.engine.use("xla", function)
    assert engine_of(call_twice(function)) == "xla_engine"
    gradtape.engine.use("xla")
    assert engine_of(call_twice(tf.function(lambda x: x * 2))) == "xla_engine"


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_graphs_that_xla_cannot_express_run_on_numpy_if_xla_is_only_preferred():
    gradtape.engine.use("xla")
    function = tf.function(lambda x: tf.random.gamma((2,), x))
    assert engine_of(call_twice(function)) == "numpy_engine"
    (reason,) = gradtape.engine.declined()
    assert reason.startswith("random_gamma stays on the host")


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_long_graphs_run_on_numpy_if_xla_is_only_preferred():
    def python(x):
        for _ in range(engine.MAX_XLA_NODES + 1):
            x = x + 1.0
        return x

    gradtape.engine.use("xla")
    assert engine_of(call_twice(tf.function(python))) == "numpy_engine"
    assert np.isfinite(call_twice(tf.function(python))(tf.constant([1.0, 2.0]))).all()
