"""Integrated gradients: attribution of a network's output to inputs (Sundararajan et al., 2017).

    python -m gradtape examples/integrated_gradients.py

Attributions sum to the difference of the outputs at the input and at the baseline.
Needs no Keras.
"""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
x_train = rng.uniform(-1, 1, (512, 6)).astype("float32")
# Inputs 0, 1 and 4 matter; the others do not.
y_train = (x_train[:, 0] * x_train[:, 1] + 0.5 * x_train[:, 4] > 0).astype("int32")


class Classifier(tf.Module):
    """A perceptron with one hidden layer."""

    def __init__(self, hidden=24):
        super().__init__()
        self.w1 = tf.Variable(rng.normal(0, 0.5, (6, hidden)).astype("float32"))
        self.b1 = tf.Variable(tf.zeros([hidden]))
        self.w2 = tf.Variable(rng.normal(0, 0.5, (hidden, 2)).astype("float32"))
        self.b2 = tf.Variable(tf.zeros([2]))

    @tf.Module.with_name_scope
    def __call__(self, x):
        hidden = tf.nn.gelu(tf.matmul(x, self.w1) + self.b1)
        return tf.nn.softmax(tf.matmul(hidden, self.w2) + self.b2, axis=-1)


model = Classifier()
velocity = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        picked = tf.gather(model(x), y, batch_dims=1)
        loss = -tf.reduce_mean(tf.math.log(picked + 1e-7))
    gradients = tape.gradient(loss, model.trainable_variables)
    for v, g, m in zip(model.trainable_variables, gradients, velocity):
        m.assign(0.9 * m + g)
        v.assign_sub(0.1 * m)
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(64)
for epoch in range(1, 41):
    losses = [train_step(x, y).numpy() for x, y in dataset]
    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}")


def interpolate(baseline, x, alphas):
    alphas = alphas[:, tf.newaxis]
    return tf.expand_dims(baseline, 0) + alphas * tf.expand_dims(x - baseline, 0)


def compute_gradients(inputs, target):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        answers = model(inputs)[:, target]
    return tape.gradient(answers, inputs)


@tf.function
def integrated_gradients(baseline, x, target, m_steps=50):
    alphas = tf.linspace(start=0.0, stop=1.0, num=m_steps + 1)
    gradients = compute_gradients(interpolate(baseline, x, alphas), target)
    trapezoids = (gradients[:-1] + gradients[1:]) / tf.constant(2.0)
    return (x - baseline) * tf.math.reduce_mean(trapezoids, axis=0)


baseline = tf.zeros(6)
for row in (0, 1, 2):
    x = tf.constant(x_train[row])
    target = tf.argmax(model(x[tf.newaxis])[0])
    attributions = integrated_gradients(baseline, x, target)
    difference = (model(x[tf.newaxis]) - model(baseline[tf.newaxis]))[0, target]
    print(
        f"input {row}: class {target.numpy()}, attributions",
        " ".join(f"{a:.3f}" for a in attributions.numpy()),
        f"sum {tf.reduce_sum(attributions):.3f} of {difference:.3f}",
    )
