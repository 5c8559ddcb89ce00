"""Training of a network."""

import sonnet as snt
import tensorflow as tf

tf.random.set_seed(1)
mlp = snt.nets.MLP([4, 2], w_init=snt.initializers.Constant(0.1))
opt = snt.optimizers.Adam(0.1)
x = tf.reshape(tf.range(6.0), [2, 3])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(mlp(x) ** 2)
    opt.apply(tape.gradient(loss, mlp.trainable_variables), mlp.trainable_variables)
print(round(float(loss), 4), [v.shape.as_list() for v in mlp.trainable_variables])
