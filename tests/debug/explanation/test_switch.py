"""The switch of the ledger: free when off, bounded, and it keeps no arrays alive."""

import gc
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.generated_code import REFERENCE
from gradtape.core.ledger import ledger

FUNCTIONS = (tf.tanh, tf.add, tf.Tensor.__mul__, tf.Tensor.__rsub__, tf.nn.relu, tf.argmax)


def run_ops():
    x = tf.constant([0.5, 2.0])
    y = tf.tanh(x) * x + 1.0
    return tf.reduce_sum(3.0 - tf.nn.relu(y)), tf.argmax(tf.add(x, y))


def generated_codes():
    run_ops()
    return [function.__code__ for function in FUNCTIONS if hasattr(function, "__code__")]


def test_bytecode_after_on_and_off_is_that_of_before():
    before = [(c.co_code, c.co_names, c.co_consts) for c in generated_codes()]
    with tf.debug.explain():
        on = [(c.co_code, c.co_names, c.co_consts) for c in generated_codes()]
    after = [(c.co_code, c.co_names, c.co_consts) for c in generated_codes()]
    assert before == after
    assert not any("note_op" in names for _, names, _ in after)
    # Readable functions are not generated: `bind` tests the flag.
    assert any("note_op" in names for _, names, _ in on) is not REFERENCE


def test_nothing_is_written_when_off():
    ledger.clear()
    run_ops()
    assert not ledger.entries


def test_the_ledger_keeps_no_array_alive():
    with tf.debug.explain():
        big = tf.constant(np.ones(1000, np.float32))
        died = weakref.ref(big._array)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(big)
            loss = tf.reduce_sum(tf.tanh(big))
        tape.gradient(loss, big)
        del big, tape, loss
        run_ops()
        gc.collect()
        assert died() is None


def test_the_ledger_is_bounded():
    assert ledger.entries.maxlen is not None


def test_a_tape_from_before_the_switch_says_so():
    w = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        loss = tf.round(w)
    answer = tape.explain(loss, w)
    assert answer.cause == "not_recorded"
    assert "GRADTAPE_EXPLAIN" in answer.fix


def test_asking_does_not_use_the_tape_up():
    w = tf.Variable(1.5)
    with tf.debug.explain():
        with tf.GradientTape() as tape:
            loss = w * w
        assert tape.explain(loss, w).cause is None
        assert tape.gradient(loss, w) == 3.0
        assert tape.explain(loss, w).cause is None


def test_the_text_underlines_the_expression():
    with tf.debug.explain():
        w = tf.Variable([1.5, 2.5])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.round(w * 2.0))
    answer = tape.explain(loss, w)
    assert (answer.cause, answer.expression) == ("no_gradient_op", "tf.round(w * 2.0)")
    assert "^" * len(answer.expression) in answer.text
    assert f"line {answer.line}" in answer.text
    assert answer.file == __file__
    assert answer.then.cause is None
    assert answer.certain


def test_lost_gradients_are_reported():
    with tf.debug.explain() as report:
        w, unused = tf.Variable(1.5), tf.Variable(2.5)
        with tf.GradientTape() as tape:
            loss = tf.stop_gradient(w) * 2.0
        tape.gradient(loss, [w, unused])
    assert {answer.cause for answer in report.answers} == {"stop_gradient", "not_connected"}
    assert "stop_gradient" in str(report)


@pytest.mark.parametrize("reads", ["from_tensors", "reduce"])
def test_no_gradient_flows_through_a_dataset(reads):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = w * 2.0
        if reads == "reduce":
            numbers = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
            out = numbers.reduce(y, lambda state, n: state * n)
        else:
            out = next(iter(tf.data.Dataset.from_tensors(y)))
    np.testing.assert_array_equal(out, [4.0, 8.0] if reads == "reduce" else [2.0, 4.0])
    assert tape.gradient(out, w) is None


@pytest.mark.parametrize("has_text", [True, False])
def test_without_source_text_the_answer_is_a_guess(has_text, tmp_path):
    text = (
        "w = tf.Variable([1.0, 2.0])\n"
        "with tf.GradientTape() as tape:\n"
        "    raw = (w * 2.0).numpy() + 1.0\n"
        "    loss = tf.reduce_sum(tf.constant(raw))\n"
    )
    path = tmp_path / "program.py"
    if has_text:
        path.write_text(text)
    names = {"tf": tf}
    with tf.debug.explain():
        exec(compile(text, str(path), "exec"), names)
    answer = names["tape"].explain(names["loss"], names["w"])
    assert (answer.cause, answer.line) == ("numpy_round_trip", 3)
    assert answer.certain is has_text
    assert ("probably" in answer.text) is not has_text


def test_a_break_that_is_known_comes_before_a_guess():
    text = (
        "w = tf.Variable([1.0, 2.0])\n"
        "with tf.GradientTape() as tape:\n"
        "    print((w * 2.0).numpy())\n"
        "    loss = tf.reduce_sum(tf.stop_gradient(w) * tf.constant(2.0))\n"
    )
    names = {"tf": tf}
    with tf.debug.explain():
        exec(compile(text, "<no file>", "exec"), names)
    answer = names["tape"].explain(names["loss"], names["w"])
    assert (answer.cause, answer.line, answer.certain) == ("stop_gradient", 4, True)
