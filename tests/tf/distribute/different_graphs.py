"""Worker 1 has a collective more in its graph than worker 0; both get an error that names it."""

import json

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = strategy.cluster_resolver.task_id
with strategy.scope():
    w = tf.Variable(1.0)


def replica_step(x):
    context = tf.distribute.get_replica_context()
    total = context.all_reduce("SUM", x * w)
    if rank == 1 and state["differs"]:
        total = context.all_reduce("SUM", total)
    return total


state = {"differs": False}
step = tf.function(lambda x: strategy.run(replica_step, args=(x,)))
first = float(step(tf.constant(2.0)))
state["differs"] = True
other = tf.function(lambda x: strategy.run(replica_step, args=(x,)))
try:
    for _ in range(3):
        other(tf.constant(2.0))
    problem = ["", ""]
except tf.errors.OpError as error:
    problem = [type(error).__name__, str(error)]
print("RESULT", json.dumps({"first": first, "problem": problem}), flush=True)
