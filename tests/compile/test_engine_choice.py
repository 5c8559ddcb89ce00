"""Which engine a graph goes to."""

import logging

import numpy as np
import pytest

import gradtape
import gradtape as tf
from gradtape.compile import engine
from gradtape.compile.engine import Choice, Process
from gradtape.compile.xla import kernel_namespace

JAX = kernel_namespace.is_there()


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    """Nothing was said, and nothing asked for."""
    monkeypatch.setattr(Process, "engine", None)
    monkeypatch.setattr(Process, "said", set())
    monkeypatch.setattr(Process, "declined", {})
    monkeypatch.delenv("GRADTAPE_ENGINE", raising=False)


def plan_of(function):
    """The plan of a function's only signature."""
    (compiled,) = function._cache.values()
    return type(compiled.plan).__module__.split(".")[2] + "_engine"


def called(function):
    """The function, once its plan is made."""
    for _ in range(2):
        function(tf.constant([1.0, 2.0]))
    return function


def test_without_a_word_small_graphs_run_on_numpy():
    assert plan_of(called(tf.function(lambda x: x * 2))) == "numpy_engine"
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
def test_without_a_word_large_elementwise_work_goes_to_xla(what):
    python, engine_name = WORK[what]
    function = tf.function(lambda x: python(x[0]))
    assert plan_of(called(function)) == engine_name
    np.testing.assert_allclose(
        function(tf.constant([0.5, 0.0])), python(tf.constant(0.5)), rtol=1e-5
    )


def test_without_jax_large_elementwise_work_runs_on_numpy(monkeypatch):
    monkeypatch.setattr(kernel_namespace, "FOUND", [False])
    function = tf.function(lambda x: tf.tanh(x[0]) * LARGE)
    assert plan_of(called(function)) == "numpy_engine"


def test_what_is_said_last_and_of_the_function_counts(monkeypatch):
    choice = Choice("f")
    monkeypatch.setenv("GRADTAPE_ENGINE", "xla")
    assert choice.preferred == "xla"
    gradtape.engine.use("numpy")
    assert choice.preferred == "numpy"
    choice.jit_compile = True
    assert choice.preferred == "xla"
    choice.engine = "numpy"
    assert choice.preferred == "numpy"
    assert not choice.required


def test_jit_compile_false_is_numpy_whatever_the_process_says(monkeypatch):
    monkeypatch.setenv("GRADTAPE_ENGINE", "xla")
    assert Choice("f", False).preferred == "numpy"


def test_an_unknown_engine_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="one of numpy, xla"):
        gradtape.engine.use("cuda")
    monkeypatch.setenv("GRADTAPE_ENGINE", "cuda")
    with pytest.raises(ValueError, match="one of numpy, xla"):
        gradtape.engine.current()


def test_without_jax_functions_run_on_numpy_and_say_so_once(monkeypatch, caplog):
    monkeypatch.setattr(kernel_namespace, "FOUND", [False])
    with caplog.at_level(logging.WARNING, "gradtape"):
        for _ in range(2):
            function = called(tf.function(lambda x: x * 2, jit_compile=True))
    assert plan_of(function) == "numpy_engine"
    assert len([r for r in caplog.records if "XLA" in r.message]) == 1
    with pytest.raises(ModuleNotFoundError, match="jax"):
        gradtape.engine.use("xla")


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_jit_compile_takes_xla():
    assert plan_of(called(tf.function(lambda x: x * 2, jit_compile=True))) == "xla_engine"


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_the_process_and_one_function_can_ask_for_xla():
    function = tf.function(lambda x: x * 2)
    gradtape.engine.use("xla", function)
    assert plan_of(called(function)) == "xla_engine"
    gradtape.engine.use("xla")
    assert plan_of(called(tf.function(lambda x: x * 2))) == "xla_engine"


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_what_xla_cannot_express_runs_on_numpy_if_it_is_only_preferred():
    gradtape.engine.use("xla")
    function = tf.function(lambda x: tf.random.gamma((2,), x))
    assert plan_of(called(function)) == "numpy_engine"
    (reason,) = gradtape.engine.declined()
    assert reason.startswith("random_gamma stays on the host")


@pytest.mark.skipif(not JAX, reason="needs jax")
def test_long_graphs_run_on_numpy_unless_asked_for():
    def python(x):
        for _ in range(engine.LARGEST + 1):
            x = x + 1.0
        return x

    gradtape.engine.use("xla")
    assert plan_of(called(tf.function(python))) == "numpy_engine"
    assert np.isfinite(called(tf.function(python))(tf.constant([1.0, 2.0]))).all()
