"""Compiled in-place updates of variables: only where no other reference sees the old value."""

import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.jit.executable import Executable


@pytest.fixture
def ran(monkeypatch):
    """A list that tells for each call whether it ran in place."""
    answers = []
    run_in_place, run_with_copies = Executable.run_in_place, Executable.run_with_copies

    def call(self, tensors, given):
        answers.append(True)
        return run_in_place(self, tensors, given)

    def call_with_copies(self, raws, variables):
        answers[-1:] = [False]
        return run_with_copies(self, raws, variables)

    monkeypatch.setattr(Executable, "run_in_place", call)
    monkeypatch.setattr(Executable, "run_with_copies", call_with_copies)
    return answers


def stepper(size=200):
    """A variable and a step function, by default large enough for an in-place update."""
    v = tf.Variable(np.ones((size, size), np.float32))

    @tf.function
    def step(g):
        v.assign_sub(0.5 * g)

    g = tf.ones((size, size))
    for _ in range(2):
        step(g)
    return v, lambda: step(g)


def test_large_variables_without_other_references_are_updated_in_place(ran):
    v, step = stepper()
    step()
    address = v._value._array.ctypes.data
    step()
    assert ran == [True, True, True]  # every call but the first, which is traced
    assert v._value._array.ctypes.data == address
    assert (v.numpy() == -1.0).all()


def test_small_variables_get_a_new_array(ran):
    v, step = stepper(size=5)
    step()
    assert ran == []
    assert (v.numpy() == -0.5).all()


@pytest.mark.parametrize("hold", ["read", "view", "tape", "version"])
def test_arrays_with_other_references_are_not_overwritten(ran, hold):
    v, step = stepper()
    before = v.numpy()
    with tf.GradientTape() as tape:
        kept = v * v if hold == "tape" else None
    held = {
        "read": lambda: tf.convert_to_tensor(v),
        "view": lambda: np.asarray(tf.convert_to_tensor(v)),
        "tape": lambda: tape,
        "version": lambda: v._stored_version(),
    }[hold]()
    step()
    assert ran == [True, False]
    assert (v.numpy() == before - 0.5).all()
    if hold == "tape":
        assert (held.gradient(kept, v).numpy() == 2 * before).all()
    else:
        assert (np.asarray(held) == before).all()


def test_an_error_leaves_the_variable_unchanged(ran):
    v = tf.Variable(np.ones((200, 200), np.float32))
    table = tf.Variable([1.0, 2.0])

    @tf.function
    def step(i):
        v.assign_sub(v * 0.5)
        return tf.gather(table, i)

    for _ in range(3):
        step(tf.constant(1))
    before = v.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(5))
    assert (v.numpy() == before).all()
    step(tf.constant(0))
    assert (v.numpy() == before / 2).all()
    assert ran[0] is True


def test_readers_in_other_threads_never_see_partial_updates():
    v, step = stepper(300)
    torn, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            value = v.numpy()
            if value.min() != value.max():
                torn.append(value)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(200):
        step()
    stop.set()
    for reader in readers:
        reader.join()
    assert not torn
    assert (v.numpy() == 1.0 - 0.5 * 202).all()
