"""Commits: all new versions are stored at one moment, or none."""

import dis
import gc
import signal
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.state.variable import commit as commits
from gradtape.state.variable.commit import (
    ExclusiveUpdate,
    commit,
    commit_function,
    make_versions,
    read_function,
    read_versions,
    run_exclusively,
    snapshot_function,
    store_exclusively,
    store_function,
    take_out_function,
)
from gradtape.state.variable.storage import HAS_GIL

STRAIGHT = {
    "COPY",
    "EXTENDED_ARG",
    "IS_OP",
    "LOAD_ATTR",
    "LOAD_CONST",
    "NOP",
    "NOT_TAKEN",
    "POP_TOP",
    "RETURN_CONST",
    "RETURN_VALUE",
    "STORE_ATTR",
    "STORE_SUBSCR",
    "SWAP",
    "TO_BOOL",
}
TUPLES = {"BUILD_LIST", "BUILD_TUPLE", "CALL_INTRINSIC_1", "LIST_APPEND", "LIST_TO_TUPLE"}


def make_variables(count, value=0.0):
    return [tf.Variable([value, value]) for _ in range(count)]


def versions_of(variables, value):
    return make_versions(variables, [np.full(2, value, np.float32) for _ in variables])


def numbers(variables):
    return [float(v.numpy()[0]) for v in variables]


@pytest.mark.skipif(not HAS_GIL, reason="takes a lock without the GIL")
@pytest.mark.parametrize(
    "function",
    [
        snapshot_function(3),
        snapshot_function(200),
        commit_function(3, 2, 1),
        commit_function(200, 200, 0),
        store_function(70),
        read_function(5),
        take_out_function(90, 70),
    ],
)
def test_generated_functions_contain_no_instruction_at_which_python_switches_threads(function):
    instructions = list(dis.get_instructions(function))
    while instructions[0].opname in ("RESUME", "CACHE"):
        del instructions[0]
    reads = function.__name__.startswith("read_")  # makes its tuple before or after all reads
    for at in instructions:
        if at.opname.startswith("POP_JUMP"):
            assert at.argval > at.offset, "a backward jump"
        else:
            name = at.opname
            is_local = name.startswith(("LOAD_FAST", "STORE_FAST", "LOAD_SMALL_INT"))
            assert is_local or name in STRAIGHT or (reads and name in TUPLES), at


def test_a_commit_stores_all_versions():
    variables = make_variables(3)
    before = read_versions(variables)
    assert commit(variables, versions_of(variables, 5.0), variables, before)
    assert numbers(variables) == [5.0] * 3


def test_a_commit_after_another_change_stores_nothing():
    variables = make_variables(3)
    before = read_versions(variables)
    variables[1].assign([1.0, 1.0])
    assert not commit(variables, versions_of(variables, 5.0), variables[1:2], before[1:2])
    assert numbers(variables) == [0.0, 1.0, 0.0]


def test_an_unchecked_commit_does_not_store_into_an_exclusive_update():
    variables = make_variables(2)
    with ExclusiveUpdate(variables, [1]):
        fresh = versions_of(variables, 5.0)
        assert not commit(variables, fresh, blind=variables)
    assert commit(variables, fresh, blind=variables)
    assert numbers(variables) == [5.0, 5.0]


def test_readers_and_writers_wait_for_an_exclusive_update():
    variables = make_variables(2)
    begun, seen = threading.Event(), []

    def look():
        begun.wait()
        seen.append(float(variables[0].numpy()[0]))
        variables[1].assign([7.0, 7.0])
        variables[0].assign_add([1.0, 1.0])

    thread = threading.Thread(target=look)
    thread.start()

    def update(before):
        begun.set()
        thread.join(0.05)
        assert not seen
        store_exclusively(variables, versions_of(variables, 3.0))

    run_exclusively(variables, [0, 1], update)
    thread.join()
    assert seen == [3.0]
    assert numbers(variables) == [4.0, 7.0]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_exclusive_update_changes_nothing(error):
    variables = make_variables(3)
    before = read_versions(variables)

    def fail(versions):
        raise error

    with pytest.raises(error):
        run_exclusively(variables, [2, 0], fail)
    assert all(a is b for a, b in zip(read_versions(variables), before, strict=True))
    assert not any(v._lock._is_owned() for v in variables)
    assert all(v._array_in_update is None for v in variables)


def test_locks_are_acquired_in_the_order_of_creation():
    v, w = make_variables(2)
    assert ExclusiveUpdate([w, v]).places == [1, 0]


def test_a_signal_handler_reads_the_old_values_during_an_exclusive_update():
    variables = make_variables(2, 4.0)

    def update(before):
        assert numbers(variables) == [4.0, 4.0]  # as a signal handler may
        assert [float(t._array[0]) for t in read_versions(variables)] == [4.0, 4.0]
        variables[0].assign([9.0, 9.0])
        store_exclusively(variables, versions_of(variables, 5.0))

    run_exclusively(variables, [0, 1], update)
    assert numbers(variables) == [9.0, 5.0]


def test_without_the_gil_a_lock_makes_the_steps_atomic(monkeypatch):
    monkeypatch.setattr(commits, "HAS_GIL", False)
    variables = make_variables(3)
    plain = [snapshot_function, commit_function, take_out_function]
    for make in plain:
        monkeypatch.setattr(commits, make.__name__, make.__wrapped__)
    before = read_versions(variables)
    assert commit(variables, versions_of(variables, 2.0), variables, before)
    with ExclusiveUpdate(variables):
        assert all(v._value is None for v in variables)
    assert numbers(variables) == [2.0] * 3


class Sudden(BaseException):
    """A BaseException but no Exception, like KeyboardInterrupt."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
@pytest.mark.parametrize("size", [2, 20_000])
def test_interrupts_never_divide_a_call(size):
    variables = [tf.Variable(tf.zeros(size)) for _ in range(6)]
    one = tf.ones(size)

    @tf.function
    def step(x):
        for v in variables:
            v.assign_add(x)

    for _ in range(3):
        step(one)

    def interrupt(number, frame):
        raise Sudden

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # what raises in a callback of the garbage collector is lost
    try:
        for k in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + 1e-6 * k)
                for _ in range(1000):
                    step(one)
            except Sudden:
                pass
            values = {(v.numpy().min(), v.numpy().max()) for v in variables}
            assert len(values) == 1
            assert len(values.pop()) == 2
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    taken = []
    locks = [v._lock for v in variables]
    thread = threading.Thread(target=lambda: taken.extend(k.acquire(timeout=10) for k in locks))
    thread.start()
    thread.join()
    assert taken == [True] * 6
