"""Variables of a strategy: copies of replicas, updates, checkpoints, and functions."""

import numpy as np
import pytest

import gradtape as tf

A, S = tf.VariableAggregation, tf.VariableSynchronization
COUNT = 3


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(COUNT)])


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def values_of(strategy, value):
    return [x.numpy().tolist() for x in strategy.experimental_local_results(value)]


def test_an_update_happens_once_while_replicas_share_the_value(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    calls = []

    def add(variable, delta):
        calls.append(1)
        variable.assign_add(delta)

    def step():
        total = tf.distribute.get_replica_context().all_reduce("SUM", tf.ones([2]))
        tf.distribute.get_replica_context().merge_call(
            lambda s, t: s.extended.update(v, add, args=(t,)), args=(total,)
        )

    for k in (1, 2):
        strategy.run(step)
        assert v.numpy().tolist() == [1.0 + 3 * k, 2.0 + 3 * k]
    assert len(calls) == 2
    assert len(values_of(strategy, v)) == COUNT


def test_an_update_with_different_values_updates_each_copy(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
        per_replica = strategy.run(number)
        strategy.extended.update(v, lambda copy, x: copy.assign_add(x), args=(per_replica,))
    assert values_of(strategy, v) == [1, 2, 3]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_a_learning_rate_that_each_replica_computes_is_recognised_as_equal(strategy, wrap):
    with strategy.scope():
        v = tf.Variable(1.0)
        steps = tf.Variable(0.0)
    calls = []

    def subtract(variable, rate):
        calls.append(1)
        variable.assign_sub(rate)

    @wrap
    def step():
        def replica():
            rate = 0.5 / (1.0 + steps)
            tf.distribute.get_replica_context().merge_call(
                lambda s, r: s.extended.update(v, subtract, args=(r,)), args=(rate,)
            )

        strategy.run(replica)
        steps.assign_add(1.0)

    for _ in range(3):
        step()
    assert float(v) == pytest.approx(1 - 0.5 - 0.25 - 0.5 / 3)
    assert len(calls) == (1 if wrap is tf.function else 3)


def test_functions_follow_a_variable_that_gets_copies(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def read():
        return strategy.run(lambda: v + 0.0)

    @tf.function
    def write():
        return strategy.run(lambda: v.assign_add(number()))

    for _ in range(2):
        assert values_of(strategy, read()) == [1, 1, 1]
    for k in (1, 2, 3):
        write()
        assert values_of(strategy, read()) == [1, 1 + k, 1 + 2 * k]
    v.assign(7.0)
    assert values_of(strategy, read()) == [7, 7, 7]


def test_a_write_after_another_replica_has_read(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    context = tf.distribute.get_replica_context

    @tf.function
    def step():
        def replica():
            before = v + 0.0
            context().merge_call(lambda s: None)
            v.assign_add(number())
            return before

        return strategy.run(replica)

    assert values_of(strategy, step()) == [1, 1, 1]
    assert values_of(strategy, step()) == [1, 2, 3]
    assert values_of(strategy, step()) == [1, 3, 5]


def test_gradients_of_variables_with_copies(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def step():
        def replica():
            v.assign_add(number())
            with tf.GradientTape() as tape:
                loss = v * v
            return tape.gradient(loss, v)

        return strategy.run(replica)

    assert values_of(strategy, step()) == [2, 4, 6]
    assert values_of(strategy, step()) == [2, 6, 10]


def test_assigning_to_one_copy(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="w")
    copies = v.values
    assert [copy.name for copy in copies] == ["w:0", "w/replica_1:0", "w/replica_2:0"]
    copies[1].assign([5.0, 6.0])
    assert values_of(strategy, v) == [[1, 2], [5, 6], [1, 2]]
    assert v.numpy().tolist() == [1, 2]
    assert "w/replica_2:0" in repr(v)
    assert strategy.extended.value_container(copies[2]) is v


def test_scatter_and_slices(strategy):
    with strategy.scope():
        mean = tf.Variable([0.0, 0.0, 0.0], aggregation=A.MEAN)
        own = tf.Variable([0.0, 0.0, 0.0])

    def step():
        slices = tf.IndexedSlices(number()[None] + 1, tf.constant([1]))
        mean.scatter_add(slices)
        own[2].assign(number())

    strategy.run(step)
    assert mean.numpy().tolist() == [0, 2, 0]
    assert values_of(strategy, own) == [[0, 0, i] for i in range(COUNT)]
    with pytest.raises(NotImplementedError, match="ONLY_FIRST_REPLICA"):
        strategy.run(
            lambda: mean.scatter_update(tf.IndexedSlices(number()[None], tf.constant([1])))
        )


def test_metrics_are_reduced_when_they_are_read(strategy):
    with strategy.scope():
        total = tf.Variable(0.0, aggregation=A.SUM, synchronization=S.ON_READ)
        count = tf.Variable(0, aggregation=A.SUM, synchronization=S.ON_READ)

    @tf.function
    def step():
        def replica():
            total.assign_add(number() + 1)
            count.assign_add(1)

        strategy.run(replica)
        return total / tf.cast(count, tf.float32)

    assert [float(step()) for _ in range(3)] == [2.0] * 3
    assert float(total) == 18
    assert int(count) == 9
    total.assign(6.0)
    assert values_of(strategy, total) == [2, 2, 2]


def test_checkpoints(strategy, tmp_path):
    with strategy.scope():
        mirrored = tf.Variable([1.0, 2.0])
        metric = tf.Variable(0.0, aggregation=A.SUM, synchronization=S.ON_READ)
    strategy.run(lambda: metric.assign_add(number()))
    strategy.run(lambda: mirrored.assign_add([number(), 0.0]))
    path = tf.train.Checkpoint(mirrored=mirrored, metric=metric).save(str(tmp_path / "c"))
    alone = tf.Variable([0.0, 0.0]), tf.Variable(0.0)
    tf.train.Checkpoint(mirrored=alone[0], metric=alone[1]).restore(path).assert_consumed()
    assert alone[0].numpy().tolist() == [1, 2]  # replica 0 is saved
    assert float(alone[1]) == 3  # and of metrics the total
    mirrored.assign([9.0, 9.0])
    metric.assign(0.0)
    tf.train.Checkpoint(mirrored=mirrored, metric=metric).restore(path)
    assert values_of(strategy, mirrored) == [[1, 2]] * COUNT
    assert float(metric) == 3


def test_saved_models(strategy, tmp_path):
    with strategy.scope():
        module = tf.Module()
        module.v = tf.Variable(2.0)
    module.double = tf.function(lambda x: x * module.v, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert float(loaded.double(tf.constant(3.0))) == 6


def test_creator_scopes_inside_and_outside(strategy):
    def freeze(next_creator, **facts):
        return next_creator(**{**facts, "trainable": False})

    with strategy.scope(), tf.variable_creator_scope(freeze):
        inside = tf.Variable(1.0)
    with tf.variable_creator_scope(freeze), strategy.scope():
        outside = tf.Variable(1.0)
    for v in (inside, outside):
        assert type(v).__name__ == "MirroredVariable"
        assert not v.trainable


def test_variables_as_arguments_of_functions(strategy):
    with strategy.scope():
        v, w = tf.Variable(1.0), tf.Variable(2.0)
    add = tf.function(lambda variable, x: variable.assign_add(x))
    for _ in range(3):
        add(v, tf.constant(1.0))
        add(w, tf.constant(10.0))
    assert (float(v), float(w)) == (4, 32)


def test_batch_statistics_drift_apart_and_replica_0_counts(strategy):
    with strategy.scope():
        moving = tf.Variable(np.float32(0.0), trainable=False)
    step = tf.function(lambda: strategy.run(lambda: moving.assign(0.5 * moving + number())))
    for _ in range(3):
        step()
    assert values_of(strategy, moving) == [0, 1.75, 3.5]
    assert float(moving) == 0
