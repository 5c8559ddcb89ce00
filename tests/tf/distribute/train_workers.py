"""Multi-worker training with a custom loop and checkpoints; one worker may fail on the way.

FAILURE in the environment is `kind rank point`. The worker `rank` fails before the step
`point // 2`, or, if the point is odd, in the middle of a collective of that step. It fails only in
the first attempt of the launcher.
"""

import json
import os
import signal
import sys
import time

import numpy as np
import tensorflow as tf

BATCH, STEPS, SAVED_EVERY = 12, 12, 3
FOLDER = sys.argv[1]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
RANK = strategy.cluster_resolver.task_id


def fail(kind):
    with open(os.path.join(FOLDER, "failed_at"), "w") as file:
        file.write(str(time.time()))
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if kind == "raise":
        raise ValueError("a fault of the program")
    sys.exit(3)


def prepare_failure():
    """How this worker fails, at which step (-1 if it does not), and whether in a collective."""
    kind, rank, point = os.environ.get("FAILURE", "none -1 0").split()
    if int(rank) != RANK or os.environ.get("GRADTAPE_RESTART", "0") != "0":
        return "", -1, False
    return kind, int(point) // 2, int(point) % 2 == 1


def fail_in_collective(kind):
    """Let this worker fail when it has sent the first bytes of its next collective."""
    from gradtape.compile.collective.ring import Ring

    receive = Ring.receive

    def fail_and_receive(ring, data):
        ring.send_some()
        fail(kind)
        receive(ring, data)

    Ring.receive = fail_and_receive


rng = np.random.default_rng(0)
x = rng.standard_normal((STEPS * BATCH, 5)).astype("float32")
y = (x @ rng.standard_normal((5, 1))).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
distributed = strategy.experimental_distribute_dataset(dataset)
with strategy.scope():
    w = tf.Variable(tf.zeros((5, 1)))
    momentum = tf.Variable(tf.zeros((5, 1)))
    done = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(w=w, momentum=momentum, done=done)
is_chief = RANK == 0
folder = os.path.join(FOLDER, "chief" if is_chief else f"temporary_{RANK}")
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
latest = tf.train.latest_checkpoint(os.path.join(FOLDER, "chief"))
if latest:
    checkpoint.restore(latest)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        errors = tf.reduce_sum(tf.square(x @ w - y), -1)
        loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
    (g,) = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, [w]))
    momentum.assign(0.5 * momentum + g)
    w.assign_sub(0.05 * momentum)
    return loss


@tf.function
def step(x, y):
    return strategy.reduce("SUM", strategy.run(replica_step, args=(x, y)), axis=None)


kind, fails_at, in_collective = prepare_failure()
try:
    for i, batch in enumerate(distributed):
        if i < int(done):
            continue
        if i == fails_at:
            if in_collective:
                fail_in_collective(kind)
            else:
                fail(kind)
        loss = float(step(*batch))
        done.assign_add(1)
        print("LOSS", json.dumps([i, loss]), flush=True)
        if (i + 1) % SAVED_EVERY == 0:
            manager.save()
except tf.errors.OpError as error:
    with open(os.path.join(FOLDER, "failed_at")) as file:
        seconds = time.time() - float(file.read())
    print("SURVIVED", json.dumps([type(error).__name__, seconds, str(error)]), flush=True)
    raise
print("WEIGHTS", json.dumps(w.numpy().ravel().tolist()), flush=True)
