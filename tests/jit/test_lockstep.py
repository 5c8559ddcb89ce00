"""Lock-step replicas: order, errors, and no hangs."""

import threading

import pytest

import gradtape as tf

WRAPPERS = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


@pytest.fixture(autouse=True)
def no_threads_are_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def number():
    return int(tf.distribute.get_replica_context().replica_id_in_sync_group)


def meet():
    return tf.distribute.get_replica_context().merge_call(lambda strategy: None)


def test_replicas_run_one_after_another_from_meeting_to_meeting(strategy):
    order = []

    def step():
        for part in "ab":
            order.append(f"{part}{number()}")
            meet()
        order.append(f"c{number()}")

    strategy.run(step)
    # As in TensorFlow: replica 0 goes on first after each meeting.
    assert order == ["a0", "a1", "a2", "b0", "b1", "b2", "c0", "c1", "c2"]


@WRAPPERS
@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("meetings_before", [0, 1])
def test_the_error_of_one_replica_ends_all(strategy, wrap, failing, meetings_before):
    ended = []

    def step():
        try:
            for _ in range(meetings_before):
                meet()
            if number() == failing:
                raise KeyError("boom")
            meet()
        finally:
            ended.append(number())

    with pytest.raises(KeyError, match="boom"):
        wrap(lambda: strategy.run(step))()
    assert len(ended) >= 1
    assert results(strategy) == [0, 1, 2]


def results(strategy):
    values = strategy.experimental_local_results(strategy.run(lambda: tf.constant(number())))
    return [int(v) for v in values]


@WRAPPERS
def test_an_error_in_merge_call_reaches_every_replica(strategy, wrap):
    caught = []

    def step():
        try:
            tf.distribute.get_replica_context().merge_call(lambda s: 1 / 0)
        except ZeroDivisionError:
            caught.append(number())
        return tf.constant(number())

    wrap(lambda: strategy.run(step))()
    assert caught == [0, 1, 2]


@WRAPPERS
@pytest.mark.parametrize("leaving", [0, 1, 2])
def test_a_replica_that_does_not_meet_is_an_error(strategy, wrap, leaving):
    def step():
        if number() != leaving:
            meet()

    with pytest.raises(RuntimeError, match="different number of"):
        wrap(lambda: strategy.run(step))()
    assert results(strategy) == [0, 1, 2]


def test_different_collectives_are_an_error(strategy):
    def step():
        context = tf.distribute.get_replica_context()
        if number() == 1:
            return context.merge_call(lambda s: None)
        return context.all_reduce("SUM", tf.constant(1.0))

    with pytest.raises(RuntimeError, match=r"Replica 0 is at all_reduce.*replica 1 at merge_call"):
        strategy.run(step)


@WRAPPERS
def test_collectives_in_nested_functions_are_refused(strategy, wrap):
    @tf.function
    def nested(x):
        return tf.distribute.get_replica_context().all_reduce("SUM", x)

    with pytest.raises(RuntimeError, match=r"nested `@tf\.function`"):
        wrap(lambda: strategy.run(lambda: nested(tf.constant(1.0))))()
    assert results(strategy) == [0, 1, 2]


def test_an_interrupt_of_the_caller_ends_the_other_replicas(strategy):
    def step():
        if number() == 0:
            meet()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        strategy.run(step)
    assert results(strategy) == [0, 1, 2]


def test_variables_that_a_replica_creates_belong_to_all(strategy):
    made = []

    def step():
        made.append(tf.Variable(number() + 5.0))
        return made[-1].read_value()

    out = strategy.run(step)
    assert made[0] is made[1] is made[2]
    assert [float(v) for v in strategy.experimental_local_results(out)] == [5.0] * 3


def test_tapes_of_replicas_are_their_own(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v) * (number() + 1.0)
        return tape.gradient(loss, v)

    values = strategy.experimental_local_results(strategy.run(step))
    assert [x.numpy().tolist() for x in values] == [[2, 4], [4, 8], [6, 12]]
