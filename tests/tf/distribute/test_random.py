"""Random numbers of replicas: those of TensorFlow 2.21 with two replicas."""

import numpy as np
import pytest

import gradtape as tf


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def values_of(strategy, value):
    return [x.numpy() for x in strategy.experimental_local_results(value)]


def test_a_generator_outside_the_scope_serves_one_replica_after_the_other(strategy):
    generator = tf.random.Generator.from_seed(1)
    drawn = [values_of(strategy, strategy.run(lambda: generator.normal([]))) for _ in range(2)]
    wanted = [[0.43842274, 1.6272374], [1.6307176, -0.8393225]]
    np.testing.assert_allclose(drawn, wanted, rtol=1e-6)
    assert generator.state.numpy().tolist() == [1025, 0, 0]


def test_a_generator_of_the_scope_has_a_stream_for_each_replica(strategy):
    with strategy.scope():
        generator = tf.random.Generator.from_seed(1)
    drawn = values_of(strategy, strategy.run(lambda: generator.normal([2])))
    wanted = [[-0.87930447, 1.4680789], [0.020661574, 1.9473345]]
    np.testing.assert_allclose(drawn, wanted, rtol=1e-6)
    strategy.run(lambda: generator.normal([2]))
    assert [x.tolist() for x in values_of(strategy, generator.state)] == [[1025, 0, 0]] * 2
    draw = tf.function(lambda: strategy.run(lambda: generator.uniform([2])))
    wanted = [
        [[0.9415176, 0.079967976], [0.8363533, 0.60185695]],
        [[0.71699345, 0.43377483], [0.7943897, 0.4219401]],
        [[0.8772007, 0.70207036], [0.51458764, 0.071103334]],
    ]
    np.testing.assert_allclose([values_of(strategy, draw()) for _ in range(3)], wanted, rtol=1e-6)
    strategy.run(lambda: generator.uniform_full_int([1], tf.int32))
    np.testing.assert_allclose(generator.normal([2]), [-1.0439487, -0.23537067], rtol=1e-6)


def test_random_ops_of_replicas_have_streams_of_their_own(strategy):
    tf.random.set_seed(3)
    eager = [values_of(strategy, strategy.run(lambda: tf.random.uniform([]))) for _ in range(2)]
    wanted = [[0.13366318, 0.19457185], [0.3532257, 0.6392698]]
    np.testing.assert_allclose(eager, wanted, rtol=1e-6)
    draw = tf.function(lambda: strategy.run(lambda: tf.random.uniform([])))
    wanted = [[0.12736404, 0.77806914], [0.8580158, 0.25704932]]
    np.testing.assert_allclose([values_of(strategy, draw()) for _ in range(2)], wanted, rtol=1e-6)


def test_an_eager_op_with_a_seed_of_its_own_gives_all_replicas_equal_numbers(strategy):
    tf.random.set_seed(11)
    drawn = [
        values_of(strategy, strategy.run(lambda: tf.random.uniform([1], seed=1))) for _ in range(2)
    ]
    np.testing.assert_allclose(drawn, [[[0.622838]] * 2, [[0.4206988]] * 2], rtol=1e-6)
    np.testing.assert_allclose(tf.random.uniform([1], seed=1), [0.1592485], rtol=1e-5)
    tf.random.set_seed(12)
    masks = values_of(strategy, strategy.run(lambda: tf.nn.dropout(tf.ones(8), 0.5, seed=1)))
    assert masks[0].tolist() == masks[1].tolist()
