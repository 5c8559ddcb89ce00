"""Writes to variables of a strategy, in every context: equal to TensorFlow 2.21's results.

`aggregation.txt` holds what TensorFlow printed for `describe_writes` with three replicas.
"""

from pathlib import Path

import pytest

import gradtape as tf

RECORDED = (Path(__file__).parent / "aggregation.txt").read_text().splitlines()
A, S = tf.VariableAggregation, tf.VariableSynchronization


def describe_writes(wrap):
    """Yield a line for every kind of write to every kind of variable."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
    for aggregation in (A.NONE, A.SUM, A.MEAN, A.ONLY_FIRST_REPLICA):
        for synchronization in (S.AUTO, S.ON_READ, S.NONE):
            writer = Writer(strategy, aggregation, synchronization, wrap)
            label = f"{aggregation.name} {synchronization.name}"
            try:
                v = writer.make()
            except ValueError as error:
                yield f"{label} !! {type(error).__name__}"
                continue
            distributed = isinstance(v, tf.distribute.DistributedValues)
            yield f"--- {label} {type(v).__name__} {v.trainable} {distributed}"
            for name in ("assign", "assign_add", "assign_sub"):
                yield from writer.describe(name)


class Writer:
    """Writes to new variables of one kind."""

    def __init__(self, strategy, aggregation, synchronization, wrap):
        self.strategy, self.wrap = strategy, wrap
        self.facts = {"aggregation": aggregation, "synchronization": synchronization}

    def make(self):
        with self.strategy.scope():
            return tf.Variable(10.0, **self.facts)

    def values(self, v):
        return [float(x.numpy()) for x in self.strategy.experimental_local_results(v)]

    def describe(self, name):
        shared = tf.constant(3.0)
        kinds = {
            "rid": lambda: number() + 1.0,
            "shared": lambda: shared,
            "number": lambda: 3.0,
            "constant": lambda: tf.constant(3.0),
        }
        for kind, value in kinds.items():
            yield show(f"replica {name} {kind}", lambda value=value: self.in_replica(name, value))
        yield show(f"cross {name}", lambda: self.in_scope(name, 4.0))
        yield show(f"outside {name}", lambda: self.outside(name))
        if self.facts["synchronization"] is not S.ON_READ:
            values = self.strategy.experimental_distribute_values_from_function(
                lambda c: tf.constant(float(c.replica_id_in_sync_group))
            )
            yield show(f"cross perreplica {name}", lambda: self.in_scope(name, values))

    def in_replica(self, name, value):
        v = self.make()

        def write():
            getattr(v, name)(value())
            return v.read_value()

        out = self.wrap(lambda: self.strategy.run(write))()
        return self.values(out), self.values(v), float(v.numpy())

    def in_scope(self, name, value):
        v = self.make()
        with self.strategy.scope():
            getattr(v, name)(value)
        return self.values(v), float(v.numpy())

    def outside(self, name):
        v = self.make()
        getattr(v, name)(4.0)
        return self.values(v), float(v.numpy())


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def show(name, compute):
    try:
        return f"{name} -> {compute()}"
    except Exception as error:
        return f"{name} !! {type(error).__name__}"


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_writes_are_aggregated_as_in_tensorflow(wrap):
    half = len(RECORDED) // 2
    recorded = RECORDED[half:] if wrap is tf.function else RECORDED[:half]
    assert list(describe_writes(wrap)) == recorded
