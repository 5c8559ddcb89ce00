"""An interrupt that arrives in the instant in which a block ends does not prevent its end."""

import _thread
import contextlib
import gc
import random
import signal
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import context
from gradtape.core.context import local, no_recording

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGUSR1"), reason="the signal does not exist here"
)


class Bell:
    """`BELL + number` simulates a signal. Python runs handlers after calls, not operators."""

    __add__ = staticmethod(_thread.interrupt_main)


BELL = Bell()


@pytest.fixture(autouse=True)
def handler():
    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    yield
    signal.signal(signal.SIGUSR1, before)


def watch_by_hand():
    tape = tf.GradientTape()
    with tape:
        tape.watch(tf.constant(1.0))
    return tape


BLOCKS = {
    "tape": tf.GradientTape,
    "tape that watches a tensor": watch_by_hand,
    "accumulator": lambda: tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1.0)),
    "name scope": lambda: tf.name_scope("scope"),
    "no recorders": no_recording,
    "init scope": tf.init_scope,
    "device": lambda: tf.device("/CPU:0"),
}


def state():
    """The part of a thread's state that blocks change."""
    home = vars(local)
    return (
        home.get("recorders", ()),
        home.get("name_scopes", ()),
        home.get("device"),
        context.hand_watched_count[0],
        dict(context.counts_by_thread),
    )


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_ends(name):
    before = state()
    for _ in range(3):  # the machinery of an interrupted block is replaced
        with pytest.raises(KeyboardInterrupt), BLOCKS[name]():
            BELL + signal.SIGUSR1
        assert state() == before
    with BLOCKS[name]():
        pass
    assert state() == before


@pytest.mark.parametrize("name", BLOCKS)
def test_the_blocks_around_it_end(name):
    before = state()
    with (
        pytest.raises(KeyboardInterrupt),
        tf.GradientTape() as outer,
        tf.name_scope("outer"),
        watch_by_hand(),
        BLOCKS[name](),
    ):
        BELL + signal.SIGUSR1
    assert state() == before
    with outer:  # can be entered again
        pass


def test_a_block_that_an_exception_leaves_ends():
    before = state()
    with pytest.raises(KeyboardInterrupt), tf.GradientTape():
        raise BELL + signal.SIGUSR1  # a TypeError: the sum is None
    assert state() == before


def test_a_paused_tape_records_again():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with contextlib.suppress(KeyboardInterrupt), tape.stop_recording():
            unseen = v * v
            BELL + signal.SIGUSR1
        seen = v * v
    assert state()[0] == ()
    assert tape.gradient([unseen, seen], v).numpy() == 6


def test_the_outer_tape_records_after_a_scope_without_recorders():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with contextlib.suppress(KeyboardInterrupt), tf.init_scope():
            BELL + signal.SIGUSR1
        y = x * x
    assert tape.gradient(y, x).numpy() == 6


def test_blocks_that_overlap_end():
    v = tf.Variable(3.0)

    def hold(tape):
        with tape:
            yield
            BELL + signal.SIGUSR1

    first = hold(tf.GradientTape())
    next(first)
    with tf.GradientTape() as second:
        with contextlib.suppress(KeyboardInterrupt):
            next(first)
        y = v * v
        assert len(local.recorders) == 1
    assert state()[0] == ()
    assert second.gradient(y, v).numpy() == 6


def test_a_tape_ends_in_an_exit_stack_and_by_explicit_calls():
    before = state()
    with contextlib.ExitStack() as stack:
        tape = stack.enter_context(tf.GradientTape())
        assert local.recorders[-1] is tape._tape
    assert state() == before
    tape.__enter__()
    tape.__exit__(None, None, None)
    tape.__exit__(None, None, None)
    tf.GradientTape.__exit__(tape, None, None, None)
    assert state() == before


def test_a_block_does_not_swallow_exceptions():
    for make in BLOCKS.values():
        with pytest.raises(ZeroDivisionError), make():
            raise ZeroDivisionError


@pytest.mark.parametrize("name", [name for name in BLOCKS if name != "accumulator"])
def test_interrupts_at_any_instant(name):
    chance, before = random.Random(0), state()
    v = tf.Variable(np.ones((3, 3), np.float32))
    with BLOCKS[name]():
        v @ v  # imports what it needs
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    gc.disable()  # callbacks of other packages would swallow an interrupt
    try:
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 4e-4))
                for _ in range(2000):  # until the signal comes; a destructor may swallow it
                    with BLOCKS[name]():
                        v @ v
            except KeyboardInterrupt:
                pass
            assert state() == before
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        gc.enable()
