"""tf.distribute on one device."""

import pytest

import gradtape as tf


@pytest.fixture
def distribute():
    with tf.install():
        import tensorflow

        yield tensorflow.distribute


@pytest.mark.parametrize("name", ["OneDeviceStrategy", "MirroredStrategy"])
def test_one_replica(distribute, name):
    strategy = (
        distribute.OneDeviceStrategy("/cpu:0") if name[0] == "O" else distribute.MirroredStrategy()
    )
    assert not distribute.has_strategy()
    with strategy.scope():
        assert distribute.get_strategy() is strategy
        assert distribute.has_strategy()
        assert distribute.in_cross_replica_context()
        assert distribute.get_replica_context() is None
        v = tf.Variable(2.0)
        total = strategy.run(lambda x: v * x, args=(tf.constant(3.0),))
        assert strategy.run(distribute.in_cross_replica_context) is False
    assert float(strategy.reduce("SUM", total, axis=None)) == 6
    assert strategy.experimental_local_results(total) == (total,)
    assert strategy.num_replicas_in_sync == 1
    assert not distribute.has_strategy()


def test_merge_call_leaves_the_replica(distribute):
    strategy = distribute.OneDeviceStrategy("/cpu:0")

    def in_replica():
        context = distribute.get_replica_context()
        assert context.strategy is strategy
        return context.merge_call(lambda given: (given, distribute.in_cross_replica_context()))

    assert strategy.run(in_replica) == (strategy, True)


def test_the_default_strategy_is_its_own_replica(distribute):
    assert not distribute.in_cross_replica_context()
    assert distribute.get_replica_context().strategy is distribute.get_strategy()


def test_several_devices_are_refused(distribute):
    with pytest.raises(NotImplementedError, match="one device"):
        distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def test_datasets_stay_as_they_are(distribute):
    strategy = distribute.OneDeviceStrategy("/cpu:0")
    dataset = tf.data.Dataset.range(3)
    assert strategy.experimental_distribute_dataset(dataset) is dataset
    made = strategy.distribute_datasets_from_function(
        lambda context: dataset.batch(context.get_per_replica_batch_size(2))
    )
    assert [x.numpy().tolist() for x in made] == [[0, 1], [2]]
