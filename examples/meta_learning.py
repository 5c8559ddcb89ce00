"""Meta-learning: initial weights from which one gradient step fits any sine wave.

    python -m gradtape examples/meta_learning.py

The outer gradient goes through the inner gradient step (MAML; Finn, Abbeel and Levine, 2017).
Needs no Keras.
"""

import numpy as np
import tensorflow as tf

INNER_RATE = 0.05
rng = np.random.default_rng(5)


def sine_task(shots):
    """Training points and query points of one sine wave."""
    amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0, np.pi)
    x = rng.uniform(-3, 3, (2 * shots, 1)).astype("float32")
    y = (amplitude * np.sin(x + phase)).astype("float32")
    return x[:shots], y[:shots], x[shots:], y[shots:]


def batch_of_tasks(tasks=8, shots=10):
    return [np.stack(part) for part in zip(*(sine_task(shots) for _ in range(tasks)), strict=True)]


def dense(n, m, name):
    weight = rng.normal(0, np.sqrt(2 / n), (n, m)).astype("float32")
    return [tf.Variable(weight, name=f"{name}/w"), tf.Variable(tf.zeros([m]), name=f"{name}/b")]


weights = [*dense(1, 24, "first"), *dense(24, 24, "second"), *dense(24, 1, "third")]


def forward(params, x):
    w1, b1, w2, b2, w3, b3 = params
    hidden = tf.nn.tanh(tf.matmul(x, w1) + b1)
    hidden = tf.nn.tanh(tf.matmul(hidden, w2) + b2)
    return tf.matmul(hidden, w3) + b3


def mse(params, x, y):
    return tf.reduce_mean(tf.math.squared_difference(forward(params, x), y))


def adapt(params, x, y):
    """The parameters after one gradient step on this task."""
    with tf.GradientTape() as tape:
        tape.watch(params)
        loss = mse(params, x, y)
    gradients = tape.gradient(loss, params)
    return [p - INNER_RATE * g for p, g in zip(params, gradients, strict=True)], loss


@tf.function
def meta_step(x, y, x_query, y_query, rate):
    with tf.GradientTape() as outer:
        before, after = [], []
        for i in range(x.shape[0]):
            adapted, loss = adapt([tf.identity(w) for w in weights], x[i], y[i])
            before.append(loss)
            after.append(mse(adapted, x_query[i], y_query[i]))
        meta_loss = tf.add_n(after) / len(after)
    gradients, norm = tf.clip_by_global_norm(outer.gradient(meta_loss, weights), 1.0)
    for w, g in zip(weights, gradients, strict=True):
        w.assign_sub(rate * g)
    return tf.add_n(before) / len(before), meta_loss, norm


for step in range(1, 101):
    tasks = [tf.constant(part) for part in batch_of_tasks()]
    before, after, norm = meta_step(*tasks, tf.constant(0.05))
    if step % 25 == 0:
        print(f"step {step}: before {before:.4f}, after {after:.4f}, slope {norm:.3f}")

x, y, x_query, y_query = sine_task(10)
params = [tf.convert_to_tensor(w) for w in weights]
print(f"a new wave: loss {mse(params, x_query, y_query):.4f}", end="")
for _ in range(3):
    params, _ = adapt(params, tf.constant(x), tf.constant(y))
    print(f", {mse(params, x_query, y_query):.4f}", end="")
print(" after one, two and three steps")
