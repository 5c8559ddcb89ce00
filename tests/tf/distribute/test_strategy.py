"""Strategies with several replicas in one process; results are those of TensorFlow 2.21."""

import contextlib

import numpy as np
import pytest

import gradtape as tf

WRAPPERS = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])


@pytest.fixture(params=[2, 3])
def strategy(request):
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(request.param)])


def context():
    return tf.distribute.get_replica_context()


def replica_number():
    return tf.cast(context().replica_id_in_sync_group, tf.float32)


def results_of(strategy, value):
    return [x.numpy().tolist() for x in strategy.experimental_local_results(value)]


@WRAPPERS
def test_results_that_differ_are_per_replica(strategy, wrap):
    shared = tf.constant(7.0)
    out = wrap(lambda: strategy.run(lambda: {"a": replica_number(), "b": (shared, 1)}))()
    count = strategy.num_replicas_in_sync
    assert results_of(strategy, out["a"]) == list(range(count))
    assert isinstance(out["a"], tf.distribute.DistributedValues)
    assert float(out["b"][0]) == 7
    assert int(out["b"][1]) == 1


@WRAPPERS
@pytest.mark.parametrize("op", ["SUM", "MEAN"])
def test_all_reduce_and_its_gradient(strategy, wrap, op):
    count = strategy.num_replicas_in_sync

    def step():
        x = replica_number() + 1
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context().all_reduce(op, x * x)
            z = y * (replica_number() + 2)
        return y, tape.gradient(z, x)

    y, g = wrap(lambda: strategy.run(step))()
    ids = np.arange(count)
    reduce = np.sum if op == "SUM" else np.mean
    np.testing.assert_allclose(results_of(strategy, y), [reduce((ids + 1.0) ** 2)] * count)
    np.testing.assert_allclose(results_of(strategy, g), 2.0 * (ids + 1) * reduce(ids + 2.0))


@WRAPPERS
def test_all_gather_of_uneven_batches_and_its_gradient(strategy, wrap):
    count = strategy.num_replicas_in_sync

    def step():
        size = int(context().replica_id_in_sync_group) + 1
        x = tf.fill([size], replica_number() + 1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context().all_gather(x, 0)
            z = tf.reduce_sum(y * tf.range(float(y.shape[0])))
        return y, tape.gradient(z, x)

    y, g = wrap(lambda: strategy.run(step))()
    rows = [i + 1.0 for i in range(count) for _ in range(i + 1)]
    assert results_of(strategy, y) == [rows] * count
    starts = [sum(range(i + 1)) for i in range(count)]
    wanted = [[float(count * (s + k)) for k in range(i + 1)] for i, s in enumerate(starts)]
    assert results_of(strategy, g) == wanted


@WRAPPERS
def test_a_tensor_that_all_replicas_share_counts_once_in_all_reduce(strategy, wrap):
    shared = tf.constant(2.0)
    out = wrap(lambda: strategy.run(lambda: context().all_reduce("SUM", shared)))()
    assert results_of(strategy, out) == [2.0] * strategy.num_replicas_in_sync


@WRAPPERS
def test_merge_call_runs_once_in_cross_replica_context(strategy, wrap):
    calls = []

    def merge(given, x):
        calls.append(tf.distribute.in_cross_replica_context())
        assert given is strategy
        return strategy.reduce("SUM", x, axis=None)

    out = wrap(
        lambda: strategy.run(lambda: context().merge_call(merge, args=(replica_number(),)))
    )()
    assert float(strategy.experimental_local_results(out)[0]) == sum(
        range(strategy.num_replicas_in_sync)
    )
    assert calls == [True]


@WRAPPERS
def test_each_replica_returns_its_own_result_of_reduce_to(strategy, wrap):
    with strategy.scope():
        place = tf.Variable(0.0)

    def replica_step():
        return context().merge_call(
            lambda s, x: s.extended.batch_reduce_to("SUM", [(x, place)]), args=(replica_number(),)
        )

    total = float(sum(range(strategy.num_replicas_in_sync)))
    (mine,) = wrap(lambda: strategy.run(replica_step))()
    assert results_of(strategy, mine) == [total] * strategy.num_replicas_in_sync
    summed = wrap(lambda: strategy.reduce("SUM", strategy.run(replica_step), axis=None))()
    assert float(summed[0]) == total * strategy.num_replicas_in_sync


def test_a_tape_around_replicas_records_reduce_to(strategy):
    x = tf.constant(3.0)

    def replica_step():
        return context().merge_call(
            lambda s, y: s.extended.reduce_to("SUM", y, y), args=(x * replica_number(),)
        )

    with tf.GradientTape() as tape:
        tape.watch(x)
        total = strategy.reduce("MEAN", strategy.run(replica_step), axis=None)
    assert float(tape.gradient(total, x)) == sum(range(strategy.num_replicas_in_sync))


@WRAPPERS
@pytest.mark.parametrize("axis", [1, -2])
def test_reduce_refuses_an_axis_that_the_values_do_not_have(strategy, wrap, axis):
    values = strategy.run(lambda: tf.ones([2]) * replica_number())
    for op in ("SUM", "MEAN"):
        with pytest.raises(ValueError, match="reduction dimension"):
            wrap(lambda op=op: strategy.reduce(op, values, axis=axis))()


@WRAPPERS
def test_reduce_along_an_axis_counts_every_row_once(strategy, wrap):
    rows = strategy.run(
        lambda: tf.ones([1 + context().replica_id_in_sync_group]) * replica_number()
    )
    count = strategy.num_replicas_in_sync
    weights = [i + 1 for i in range(count)]
    mean = np.average(range(count), weights=weights)
    assert float(wrap(lambda: strategy.reduce("MEAN", rows, axis=0))()) == pytest.approx(mean)
    total = sum(i * (i + 1) for i in range(count))
    assert float(wrap(lambda: strategy.reduce("SUM", rows, axis=0))()) == total


def test_a_function_that_is_run_is_traced_once_for_all_replicas(strategy):
    traces = []

    @tf.function
    def step(x):
        traces.append(1)
        return context().all_reduce("SUM", x)

    values = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant(float(c.replica_id_in_sync_group))
    )
    for _ in range(4):
        out = strategy.run(step, args=(values,))
    assert len(traces) == strategy.num_replicas_in_sync
    assert results_of(strategy, out)[0] == sum(range(strategy.num_replicas_in_sync))


def test_a_nested_function_is_traced_for_each_replica(strategy):
    with strategy.scope():
        v = tf.Variable(0.0)
    number = tf.function(lambda: v + replica_number())

    def step():
        v.assign_add(10 * replica_number())  # copies differ from now on
        return number()

    for k in (1, 2, 3):
        out = results_of(strategy, strategy.run(step))
        assert out == [i + 10.0 * i * k for i in range(strategy.num_replicas_in_sync)]


@pytest.mark.parametrize("device", ["CPU:0", None])
def test_one_replica_gathers_a_value_as_it_is(device):
    default = tf.distribute.get_strategy()
    strategy = default if device is None else tf.distribute.MirroredStrategy([device])
    assert float(strategy.gather(tf.constant(2.0), axis=0)) == 2
    gather = tf.function(lambda x: strategy.run(lambda: context().all_gather(x, axis=5)))
    x = tf.constant([2.0])
    assert gather(x).numpy().tolist() == [2.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        out = 3.0 * strategy.run(lambda: context().all_gather(x, axis=0))
    assert tape.gradient(out, x).numpy().tolist() == [3.0]


def test_scopes_and_contexts(strategy):
    distribute = tf.distribute
    assert not distribute.has_strategy()
    assert not distribute.in_cross_replica_context()
    assert context().strategy is distribute.get_strategy()
    with strategy.scope():
        assert distribute.get_strategy() is strategy
        assert distribute.has_strategy()
        assert distribute.in_cross_replica_context()
        assert context() is None
        with strategy.scope():
            pass
        assert results_of(
            strategy, strategy.run(lambda: tf.constant(context().strategy is strategy))
        )
        other = distribute.MirroredStrategy(["CPU:0"])
        with pytest.raises(RuntimeError, match="Mixing different"), other.scope():
            pass
    assert not distribute.has_strategy()


def test_methods_of_the_cross_replica_context_raise_inside_a_replica(strategy):
    for call in (
        lambda: strategy.run(lambda: 1),
        lambda: strategy.reduce("SUM", 1.0, axis=None),
        lambda: strategy.gather(tf.ones([1]), axis=0),
    ):
        with pytest.raises(RuntimeError, match="cross-replica context"):
            strategy.run(call)


def test_values_that_all_replicas_share_cannot_be_summed(strategy):
    with pytest.raises(ValueError, match="cannot be reduced"):
        strategy.reduce("SUM", tf.constant(1.0), axis=None)
    assert float(strategy.reduce("MEAN", tf.constant(1.5), axis=None)) == 1.5


def test_one_replica_returns_plain_values():
    for strategy in (
        tf.distribute.MirroredStrategy(["CPU:0"]),
        tf.distribute.OneDeviceStrategy("CPU:0"),
        tf.distribute.get_strategy(),
    ):
        assert strategy.num_replicas_in_sync == 1
        out = strategy.run(lambda: context().all_reduce("SUM", tf.constant(2.0)))
        assert float(out) == 2
        assert float(strategy.reduce("SUM", out, axis=None)) == 2
        assert strategy.experimental_local_results(out) == (out,)


def test_parameter_servers_are_refused_with_a_reason():
    with pytest.raises(NotImplementedError, match="asynchronous"):
        tf.distribute.ParameterServerStrategy()


def test_losses_are_divided_by_the_global_batch(strategy):
    def losses():
        return (
            tf.nn.compute_average_loss(tf.constant([1.0, 3.0])),
            tf.nn.compute_average_loss(tf.constant([1.0, 3.0]), global_batch_size=10),
            tf.nn.scale_regularization_loss(tf.constant(6.0)),
        )

    count = strategy.num_replicas_in_sync
    average, given, regularization = strategy.run(losses)
    np.testing.assert_allclose(results_of(strategy, average), [2.0 / count] * count)
    np.testing.assert_allclose(results_of(strategy, given), [0.4] * count)
    np.testing.assert_allclose(results_of(strategy, regularization), [6.0 / count] * count)
    with strategy.scope(), pytest.raises(RuntimeError, match="replica context"):
        tf.nn.compute_average_loss(tf.constant([1.0]))


def test_logical_devices_of_the_cpu():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
    try:
        names = [d.name for d in tf.config.list_logical_devices("CPU")]
        assert names == [f"/device:CPU:{i}" for i in range(4)]
        assert tf.distribute.MirroredStrategy(names).num_replicas_in_sync == 4
        with tf.device("CPU:3"):
            assert float(tf.constant(1.0)) == 1
    finally:
        tf.config.set_logical_device_configuration(cpu, None)
    assert len(tf.config.list_logical_devices("CPU")) == 1


def test_experimental_set_strategy(strategy):
    tf.distribute.experimental_set_strategy(strategy)
    try:
        assert tf.distribute.get_strategy() is strategy
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("fails", [False, True])
def test_a_context_that_outlives_its_run_raises(number, fails):
    """Replica 0 ended the process by a BaseException, replica 1 waited for ever."""
    contexts = {}

    def keep():
        context = tf.distribute.get_replica_context()
        contexts[int(context.replica_id_in_sync_group)] = context
        context.all_reduce("SUM", tf.constant(1.0))
        if fails:
            raise ValueError("a mistake")

    with contextlib.suppress(ValueError):
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).run(keep)
    for call in (
        lambda context: context.all_reduce("SUM", tf.constant(1.0)),
        lambda context: context.all_gather(tf.constant([1.0]), 0),
        lambda context: context.merge_call(lambda strategy: None),
    ):
        with pytest.raises(RuntimeError, match="The run has ended"):
            call(contexts[number])


def test_local_results_of_a_structure_have_its_structure():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    local = strategy.experimental_local_results
    values = strategy.experimental_distribute_values_from_function(
        lambda context: {"n": context.num_replicas_in_sync, "i": [context.replica_id_in_sync_group]}
    )
    assert local(values) == ({"n": 2, "i": [0]}, {"n": 2, "i": [1]})
    assert local([1, 2]) == ([1, 2], [1, 2])
    assert local(3) == (3,)
