"""Equations and optimizers in JAX."""

import jax
import jax.numpy as jnp

from workloads import Work
from workloads.in_jax.basics import descend


def network(x, weights, biases):
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = jnp.tanh(x @ w + b)
    return x @ weights[-1] + biases[-1]


def pinn(x, f, ends, weights, biases, rate):
    x, f, ends = jnp.asarray(x), jnp.asarray(f), jnp.asarray(ends)
    parameters = jax.tree.map(jnp.asarray, (weights, biases))

    def second_derivative(x, parameters):
        """Forward over forward mode, which is fastest for a scalar input."""
        along = jnp.ones_like(x)

        def slope(x):
            return jax.jvp(lambda x: network(x, *parameters), (x,), (along,))[1]

        return jax.jvp(slope, (x,), (along,))[1]

    def loss_of(parameters, x, f, ends):
        inside = jnp.mean(jnp.square(second_derivative(x, parameters) - f))
        return inside + jnp.mean(jnp.square(network(ends, *parameters)))

    def step(parameters, x, f, ends):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, f, ends)
        return descend(parameters, gradients, rate), [loss]

    return Work(step, [x, f, ends], parameters)


def newton(a, y, w, decay):
    a, y, w = jnp.asarray(a), jnp.asarray(y), jnp.asarray(w)

    def loss_of(w, a, y):
        return jnp.mean(jax.nn.softplus(-y * (a @ w))) + decay / 2 * jnp.sum(jnp.square(w))

    def step(w, a, y):
        loss, g = jax.value_and_grad(loss_of)(w, a, y)
        return w - jnp.linalg.solve(jax.hessian(loss_of)(w, a, y), g), [loss]

    return Work(step, [a, y], w)


def rosenbrock_value(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def rosenbrock(x, y, rate):
    def step(point):
        value, slopes = jax.value_and_grad(rosenbrock_value, (0, 1))(*point)
        return descend(point, slopes, rate), [value]

    return Work(step, [], (jnp.asarray(x), jnp.asarray(y)))


def rosenbrock_loop(x, y, rate, steps):
    def body(_, point):
        return descend(point, jax.grad(rosenbrock_value, (0, 1))(*point), rate)

    def step(x, y):
        x, y = jax.lax.fori_loop(0, steps, body, (x, y))
        return [rosenbrock_value(x, y), x, y]

    return Work(step, [jnp.asarray(x), jnp.asarray(y)])


def adam(x, y, weights, biases, rate, decays, epsilon):
    x, y = jnp.asarray(x), jnp.asarray(y)
    parameters = jax.tree.map(jnp.asarray, (weights, biases))
    firsts, seconds = (jax.tree.map(jnp.zeros_like, parameters) for _ in range(2))

    def loss_of(parameters, x, y):
        return jnp.mean(jnp.square(network(x, *parameters) - y))

    def step(state, x, y):
        parameters, firsts, seconds, count = state
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        count = count + 1
        by_first, by_second = (1 - decay**count for decay in decays)
        firsts = jax.tree.map(lambda m, g: decays[0] * m + (1 - decays[0]) * g, firsts, gradients)
        seconds = jax.tree.map(
            lambda v, g: decays[1] * v + (1 - decays[1]) * jnp.square(g), seconds, gradients
        )

        def moved(p, m, v):
            return p - rate * (m / by_first) / (jnp.sqrt(v / by_second) + epsilon)

        parameters = jax.tree.map(moved, parameters, firsts, seconds)
        return (parameters, firsts, seconds, count), [loss]

    return Work(step, [x, y], (parameters, firsts, seconds, jnp.zeros(())))
