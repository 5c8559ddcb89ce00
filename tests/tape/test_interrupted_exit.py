"""An interrupt that ends `__exit__` before its first line does not leave a tape recording."""

import gc
import threading

import pytest

import gradtape as tf
from gradtape.core.context import hand_watched_count, local


@pytest.fixture(autouse=True)
def no_recorder():
    yield
    assert local.recorders == ()
    assert hand_watched_count == [0]


def enter(make):
    """Enter a context manager whose `__exit__` an interrupt prevents."""
    manager = make()
    manager.__enter__()
    assert local.recorders
    return manager


def make_accumulator():
    return tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1.0))


@pytest.mark.parametrize("make", [tf.GradientTape, make_accumulator])
def test_a_context_manager_that_is_deleted_records_no_longer(make):
    enter(make)
    gc.collect()
    assert local.recorders == ()


def test_an_inner_tape_that_is_deleted_leaves_the_outer_one():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        inner = enter(tf.GradientTape)
        inner.watch(x)
        y = x * x
        del inner
        assert len(local.recorders) == 1
        y = y * x
    assert outer.gradient(y, x).numpy() == 12.0


def test_a_tape_that_another_thread_deletes_stops_in_its_own_thread():
    tape = [enter(tf.GradientTape)]
    thread = threading.Thread(target=tape.clear)
    thread.start()
    thread.join()
    assert local.recorders == ()


def test_a_tape_that_was_left_can_be_deleted_while_another_records():
    with tf.GradientTape() as tape:
        pass
    with tf.GradientTape():
        del tape
        assert len(local.recorders) == 1


def test_wrong_arguments_leave_nothing_to_delete():
    with pytest.raises(TypeError):
        tf.GradientTape(no_such=True)
    with pytest.raises(TypeError):
        tf.autodiff.ForwardAccumulator()
    gc.collect()
