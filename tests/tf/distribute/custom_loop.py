"""Multi-worker training with a custom loop; runs on gradtape and on TensorFlow.

The last batch is uneven. A SyncOnRead variable counts rows; a variable that is created in a scope
starts with the chief's value.
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf

BATCH = int(os.environ.get("BATCH", "16"))
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = strategy.cluster_resolver.task_id or 0
rng = np.random.default_rng(0)
x = rng.standard_normal((100, 8)).astype("float32")
y = x @ rng.standard_normal((8, 3)).astype("float32")


def make_dataset(context):
    size = context.get_per_replica_batch_size(BATCH)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    return dataset.shard(context.num_input_pipelines, context.input_pipeline_id).batch(size)


if "function" in sys.argv:
    distributed = strategy.distribute_datasets_from_function(make_dataset)
else:
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
    distributed = strategy.experimental_distribute_dataset(dataset)
with strategy.scope():
    w = tf.Variable(np.full((8, 3), 0.1 if rank == 0 else 7.0, "float32"))
    b = tf.Variable(tf.zeros(3))
    rows = tf.Variable(
        0.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )


def replica_step(x, y):
    with tf.GradientTape() as tape:
        errors = tf.reduce_sum(tf.square(x @ w + b - y), -1)
        loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
    gradients = tape.gradient(loss, [w, b])
    gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
    for variable, gradient in zip([w, b], gradients):  # noqa: B905 - as the tutorials write it
        variable.assign_sub(0.05 * gradient)
    rows.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
    return loss


@tf.function
def step(x, y):
    return strategy.reduce("SUM", strategy.run(replica_step, args=(x, y)), axis=None)


losses = [float(step(*batch)) for _ in range(2) for batch in distributed]
result = {
    "losses": losses,
    "weights": w.numpy().ravel().tolist(),
    "rows": float(rows.read_value()),
    "replicas": strategy.num_replicas_in_sync,
}
print("RESULT", json.dumps(result), flush=True)
