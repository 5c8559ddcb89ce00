"""profile measures eager ops, functions and the lines of plans."""

import json
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.fastpath.codegen import regenerate
from gradtape.debug import profile

W = tf.Variable(np.full((16, 16), 0.1, "float32"))
X = tf.constant(np.ones((8, 16), "float32"))


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ W) ** 2)
    W.assign_sub(0.01 * tape.gradient(loss, W))
    return loss


def names(report, kind):
    return [event.name for event in report.events if event.kind == kind]


def test_eager_ops_and_backward_passes_are_measured():
    step(X)
    with profile() as report:
        step(X)
    assert {"matmul", "tanh", "reduce_mean"} <= set(names(report, "op"))
    assert names(report, "backward pass") == ["tape.gradient"]
    assert all("test_profile.py:" in event.line for event in report.events)
    assert sum(event.own for event in report.events) <= report.total
    assert "matmul" in str(report)


def test_plans_are_measured_node_by_node():
    compiled = tf.function(step, jit_compile=False)
    for _ in range(3):
        compiled(X)
    with profile() as report:
        compiled(X)
    assert names(report, "function") == ["function step"]
    assert len(names(report, "plan")) == 1
    assert any("tanh" in text for text in names(report, "node"))
    assert names(report, "op") == []


def test_variadic_ops_have_their_name():
    with profile() as report:
        tf.concat([X, X], 0)
    assert names(report, "op") == ["concat"]


def test_a_timeline_is_exported(tmp_path):
    with profile() as report:
        step(X)
    report.export(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert len(trace["traceEvents"]) == len(report.events)
    assert {"name", "ph", "ts", "dur", "pid", "tid"} <= trace["traceEvents"][0].keys()


def test_nothing_is_measured_afterwards_also_after_an_error():
    before = sys.gettrace()
    with pytest.raises(tf.errors.InvalidArgumentError), profile() as report:
        tf.ones((2, 3)) @ tf.ones((2, 3))
    assert sys.gettrace() is before
    count = len(report.events)
    step(X)
    assert len(report.events) == count
    assert report.stack == []


def test_generating_the_code_of_an_op_is_not_an_op():
    regenerate()
    with profile() as report:
        tf.tanh(X)
    assert names(report, "op") == ["tanh"]
