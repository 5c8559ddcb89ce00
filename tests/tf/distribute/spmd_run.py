"""Steps of several replicas on JAX's devices, beside the same steps in lock-step on the host.

`test_spmd` runs this file in a process of its own, with five host devices of JAX: four of them
stand in for GPUs. Each scene trains with CPU replicas and with GPU replicas from equal values.
"""

import json
import logging
import sys
import traceback

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.xla.spmd import SpmdPlan

RNG = np.random.default_rng(0)
X = RNG.standard_normal((48, 4)).astype("float32")
Y = X.sum(1, keepdims=True) + 1
COUNT = 4


def strategies(count=COUNT):
    """The strategies to compare: lock-step on the host, one program on GPUs."""
    return [
        tf.distribute.MirroredStrategy([f"{kind}:{i}" for i in range(count)])
        for kind in ("CPU", "GPU")
    ]


def plans_of(function):
    """The plans of a function's calls."""
    return [each.plan for each in function._cache.values()]


def train(strategy, make_step, data=(X, Y), batch=16, epochs=2, spmd=True):
    """The losses and last variables of some steps; checks that GPUs run one program."""
    tf.random.set_seed(3)
    with strategy.scope():
        replica_step, variables = make_step(strategy)

    @tf.function
    def step(*batch):
        per_replica = strategy.run(replica_step, args=batch)
        return strategy.reduce("SUM", per_replica, axis=None)

    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch)
    distributed = strategy.experimental_distribute_dataset(dataset)
    losses = [step(*each).numpy() for _ in range(epochs) for each in distributed]
    is_spmd = [isinstance(plan, SpmdPlan) for plan in plans_of(step) if plan is not None]
    assert any(is_spmd) == (spmd and "GPU" in strategy.extended.worker_devices[0]), is_spmd
    values = [copy.numpy() for v in variables for copy in strategy.experimental_local_results(v)]
    return [*losses, *values]


def compare(make_step, **options):
    """Check that both strategies compute the same."""
    host, spmd = (train(strategy, make_step, **options) for strategy in strategies())
    assert len(host) == len(spmd)
    for a, b in zip(host, spmd, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def gradient_step(w, b, x, y):
    """The loss of a linear model, and its gradients."""
    with tf.GradientTape() as tape:
        error = tf.reduce_sum(tf.square(x @ w + b - y), -1)
        loss = tf.nn.compute_average_loss(error, global_batch_size=16)
    return loss, tape.gradient(loss, [w, b])


def scene_all_reduce():
    def make(strategy):
        w, b = tf.Variable(tf.ones((4, 1))), tf.Variable(tf.zeros(1))

        def step(x, y):
            loss, gradients = gradient_step(w, b, x, y)
            gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
            for v, g in zip((w, b), gradients, strict=True):
                v.assign_sub(0.1 * g)
            return loss

        return step, [w, b]

    compare(make)


def scene_update_by_merge_call():
    def make(strategy):
        w, b = tf.Variable(tf.ones((4, 1))), tf.Variable(tf.zeros(1))

        def apply(strategy, gradients):
            for v, g in zip((w, b), gradients, strict=True):
                total = strategy.extended.reduce_to("MEAN", g, v)
                strategy.extended.update(v, lambda v, g: v.assign_sub(0.3 * g), args=(total,))

        def step(x, y):
            loss, gradients = gradient_step(w, b, x, y)
            tf.distribute.get_replica_context().merge_call(apply, args=(gradients,))
            return loss

        return step, [w, b]

    compare(make)


def scene_aggregations_and_own_copies():
    def make(strategy):
        sync, agg = tf.VariableSynchronization.ON_READ, tf.VariableAggregation
        total = tf.Variable(0.0, synchronization=sync, aggregation=agg.SUM, trainable=False)
        mean = tf.Variable(0.0, aggregation=agg.MEAN)
        first = tf.Variable(tf.zeros(4), aggregation=agg.ONLY_FIRST_REPLICA)
        own = tf.Variable(tf.zeros(4))

        def step(x, y):
            total.assign_add(tf.reduce_sum(x))
            mean.assign_add(tf.reduce_mean(y))
            first.assign(tf.reduce_mean(x, 0))
            own.assign(0.9 * own + 0.1 * tf.reduce_mean(x, 0))
            return mean * tf.reduce_sum(own)

        return step, [total, mean, first, own]

    compare(make)


def scene_replica_id_and_random_numbers():
    def make(strategy):
        own = tf.Variable(tf.zeros((4, 4)))

        def step(x, y):
            context = tf.distribute.get_replica_context()
            weight = tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0
            own.assign_add(weight * tf.nn.dropout(x, 0.5) + tf.random.normal((4, 4)))
            return tf.reduce_sum(own)

        return step, [own]

    compare(make)


def scene_all_gather_and_gradient_through_collectives():
    def make(strategy):
        w = tf.Variable(tf.ones((4, 1)))

        def step(x, y):
            context = tf.distribute.get_replica_context()
            with tf.GradientTape() as tape:
                h = x @ w
                mean = context.all_reduce("MEAN", tf.reduce_mean(h))
                rows = context.all_gather(h, axis=0)
                loss = tf.reduce_mean(tf.square(h - mean)) + tf.reduce_mean(tf.square(rows)) / 4
            w.assign_sub(0.05 * context.all_reduce("SUM", tape.gradient(loss, w)))
            return loss

        return step, [w]

    compare(make)


def scene_loops_and_branches_inside_replicas():
    def make(strategy):
        w = tf.Variable(tf.ones((4, 1)))

        def step(x, y):
            start = (0, x @ w)
            _, h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, 0.5 * h + 1.0), start)
            h = tf.cond(tf.reduce_sum(x) > 0, lambda: h, lambda: -h)
            total = tf.distribute.get_replica_context().all_reduce("SUM", tf.reduce_mean(h))
            w.assign_sub(0.01 * total * tf.ones((4, 1)))
            return total

        return step, [w]

    compare(make)


def scene_global_norm_and_half_types():
    def make(strategy):
        w, b = tf.Variable(tf.ones((4, 1))), tf.Variable(tf.zeros(1))

        def step(x, y):
            loss, gradients = gradient_step(w, b, x, y)
            gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
            clipped, norm = tf.clip_by_global_norm(gradients, 0.5)
            for v, g in zip((w, b), clipped, strict=True):
                v.assign_sub(0.3 * g)
            return loss + tf.cast(tf.cast(norm, tf.bfloat16), tf.float32)

        return step, [w, b]

    compare(make)


def scene_uneven_last_batch():
    """The last batch has 2 rows for 4 replicas: it runs in lock-step, the others as one program."""

    def make(strategy):
        w, b = tf.Variable(tf.ones((4, 1))), tf.Variable(tf.zeros(1))

        def step(x, y):
            loss, gradients = gradient_step(w, b, x, y)
            gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
            for v, g in zip((w, b), gradients, strict=True):
                v.assign_sub(0.1 * g)
            return loss

        return step, [w, b]

    compare(make, data=(X[:34], Y[:34]), epochs=4)


def scene_replicas_that_differ_run_in_lock_step():
    def make(strategy):
        w = tf.Variable(tf.zeros(4), aggregation=tf.VariableAggregation.SUM)

        def step(x, y):
            context = tf.distribute.get_replica_context()
            if int(context.replica_id_in_sync_group) == 0:
                x = tf.sin(x)
            w.assign_add(tf.reduce_mean(x, 0))
            return tf.reduce_sum(x)

        return step, [w]

    compare(make, spmd=False)
    reasons = tf.engine.declined()
    assert any("one program cannot serve all replicas" in reason for reason in reasons), reasons


def scene_jit_compile_must_be_one_program():
    strategy = strategies()[1]

    @tf.function(jit_compile=True)
    def step(x):
        def one(x):
            context = tf.distribute.get_replica_context()
            return tf.sin(x) if int(context.replica_id_in_sync_group) else x

        return strategy.run(one, args=(x,))

    with pytest.raises(tf.errors.InvalidArgumentError, match="one program must be able to run"):
        step(tf.constant(1.0))


def scene_variables_stay_on_their_devices():
    strategy = strategies()[1]
    with strategy.scope():
        w = tf.Variable(tf.ones((300, 300)))

    @tf.function
    def step():
        def one():
            g = tf.distribute.get_replica_context().all_reduce("SUM", w * 0.001)
            tf.distribute.get_replica_context().merge_call(
                lambda s, g: s.extended.update(w, lambda v, g: v.assign_sub(g), args=(g,)), (g,)
            )

        strategy.run(one)

    from gradtape.devices.array import JaxPort

    step(), step()
    fetched, fetch = [], JaxPort.fetch
    JaxPort.fetch = lambda array: fetched.append(array.shape) or fetch(array)
    for _ in range(3):
        step()
    assert not fetched, fetched
    np.testing.assert_allclose(w.numpy(), (1 - 0.004) ** 5, rtol=1e-5)
    JaxPort.fetch = fetch

    @tf.function(jit_compile=True)
    def elsewhere():
        return tf.reduce_sum(w)

    np.testing.assert_allclose(elsewhere().numpy(), 90000 * (1 - 0.004) ** 5, rtol=1e-4)
    np.testing.assert_allclose(elsewhere().numpy(), 90000 * (1 - 0.004) ** 5, rtol=1e-4)


def scene_tpu_strategy_on_all_devices_of_jax():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="jax")
    assert resolver.num_accelerators() == {"TPU": 5}
    strategy = tf.distribute.TPUStrategy(resolver)
    assert strategy.num_replicas_in_sync == 5
    assert strategy.cluster_resolver is resolver
    assert strategy.extended.num_replicas_per_host == 5

    @tf.function
    def step(x):
        def one(x):
            context = tf.distribute.get_replica_context()
            number = tf.cast(context.replica_id_in_sync_group, tf.float32)
            return context.all_reduce("SUM", x * number)

        return strategy.run(one, args=(x,))

    for _ in range(3):
        results = [float(x) for x in strategy.experimental_local_results(step(tf.constant(1.0)))]
        assert results == [10.0] * 5
    assert [type(plan) for plan in plans_of(step)] == [SpmdPlan]


def scene_tpu_strategy_without_a_tpu():
    for make in (tf.distribute.TPUStrategy, tf.distribute.cluster_resolver.TPUClusterResolver):
        with pytest.raises(tf.errors.NotFoundError, match="JAX has no TPU"):
            make()


SCENES = {name: f for name, f in list(globals().items()) if name.startswith("scene_")}


def main():
    """Run the named scenes, and print the traceback of each, or an empty string."""
    logging.disable(logging.WARNING)
    results = {}
    for name in sys.argv[1:] or SCENES:
        try:
            SCENES[name]()
            results[name] = ""
        except BaseException:
            results[name] = traceback.format_exc()
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main()
