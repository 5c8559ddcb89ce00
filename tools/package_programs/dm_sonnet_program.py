"""Sonnet: a network with batch normalisation, its optimizer, and an LSTM."""

import numpy as np
import sonnet as snt
import tensorflow as tf

x = tf.constant(np.linspace(-1, 1, 48).reshape(12, 4), tf.float32)
tf.random.set_seed(3)
net = snt.nets.MLP([8, 3])
norm = snt.BatchNorm(create_scale=True, create_offset=True)
optimizer = snt.optimizers.Adam(0.05)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((norm(net(x), is_training=True) - x[:, :3]) ** 2)
    variables = net.trainable_variables + norm.trainable_variables
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss


net(x), norm(net(x), is_training=True)
print("mlp", [float(step()) for _ in range(10)])
lstm = snt.LSTM(5)
out, state = snt.dynamic_unroll(lstm, tf.reshape(x, [6, 2, 4]), lstm.initial_state(2))
print("lstm", tf.reduce_sum(out).numpy().tolist(), [v.name for v in lstm.trainable_variables])
