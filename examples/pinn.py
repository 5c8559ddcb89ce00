"""A physics-informed network for u'' = -sin(x), u(0) = u(pi) = 0: Adam first, then L-BFGS.

    python -m gradtape examples/pinn.py

The solution is sin(x). Needs no Keras: Adam is written out, and L-BFGS is SciPy's.
"""

from itertools import pairwise

import numpy as np
import scipy.optimize
import tensorflow as tf

DTYPE = tf.float64
rng = np.random.default_rng(0)


class Network(tf.Module):
    """Two hidden layers of tanh."""

    def __init__(self, sizes=(1, 16, 16, 1), name="network"):
        super().__init__(name=name)
        self.layers = [
            (
                tf.Variable(rng.normal(0, np.sqrt(1 / n), (n, m)), dtype=DTYPE, name="w"),
                tf.Variable(tf.zeros([m], DTYPE), name="b"),
            )
            for n, m in pairwise(sizes)
        ]

    def __call__(self, x):
        for w, b in self.layers[:-1]:
            x = tf.tanh(x @ w + b)
        w, b = self.layers[-1]
        return x @ w + b


network = Network()
inside = tf.constant(np.linspace(0, np.pi, 40)[:, None], dtype=DTYPE)
border = tf.constant([[0.0], [np.pi]], dtype=DTYPE)


def residual(x):
    """The residual u'' + sin(x), with nested tapes."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = network(x)
        u_x = inner.gradient(u, x)
    u_xx = outer.gradient(u_x, x)
    return u_xx + tf.sin(x)


@tf.function
def loss_and_gradients():
    with tf.GradientTape() as tape:
        physics = tf.reduce_mean(tf.square(residual(inside)))
        boundary = tf.reduce_mean(tf.square(network(border)))
        loss = physics + boundary
    return loss, tape.gradient(loss, network.trainable_variables)


def error():
    return np.abs(network(inside).numpy() - np.sin(inside.numpy())).max()


means = [tf.Variable(tf.zeros_like(v)) for v in network.trainable_variables]
squares = [tf.Variable(tf.zeros_like(v)) for v in network.trainable_variables]
for step in range(1, 201):
    loss, gradients = loss_and_gradients()
    rate = 0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    for v, g, m, s in zip(network.trainable_variables, gradients, means, squares, strict=True):
        m.assign_add((g - m) * 0.1)
        s.assign_add((tf.square(g) - s) * 0.001)
        v.assign_sub(rate * m / (tf.sqrt(s) + 1e-7))
    if step % 50 == 0:
        print(f"Adam step {step}: loss {loss.numpy():.5f}, largest error {error():.4f}")

variables = network.trainable_variables
shapes = [v.shape.as_list() for v in variables]
ends = np.cumsum([int(np.prod(shape)) for shape in shapes])


def set_variables(flat):
    for v, part, shape in zip(variables, np.split(flat, ends[:-1]), shapes, strict=True):
        v.assign(part.reshape(shape))


def value_and_gradient(flat):
    set_variables(flat)
    loss, gradients = loss_and_gradients()
    return loss.numpy(), np.concatenate([g.numpy().ravel() for g in gradients])


start = np.concatenate([v.numpy().ravel() for v in variables])
optimum = scipy.optimize.minimize(
    value_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": 25}
)
set_variables(optimum.x)
print(f"L-BFGS, {optimum.nit} iterations: loss {optimum.fun:.6f}, largest error {error():.4f}")
print("u(pi/2) =", f"{network(tf.constant([[np.pi / 2]], dtype=DTYPE)).numpy().item():.4f}")
