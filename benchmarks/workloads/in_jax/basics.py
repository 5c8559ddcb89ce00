"""Chains of ops, dense nets and derivatives in JAX."""

import jax
import jax.numpy as jnp

from workloads import Work


def run_chain(x, repeats):
    y = x
    for _ in range(repeats):
        y = jnp.sin(y * x + x)
    return y


def chain_outside(x, repeats):
    x = jnp.asarray(x)
    return Work(lambda x: [run_chain(x, repeats)], [x])


def chain_unwatched(x, repeats):
    x, other = jnp.asarray(x), jnp.ones(())

    def step(x, other):
        kept = []
        jax.vjp(lambda w: kept.append(run_chain(x, repeats)) or w * w, other)
        return kept

    return Work(step, [x, other])


def chain(x, repeats):
    x = jnp.asarray(x)
    return Work(jax.value_and_grad(lambda x: run_chain(x, repeats)), [x])


def chain_memory(x, repeats):
    x = jnp.asarray(x)
    return lambda: jax.vjp(lambda x: run_chain(x, repeats), x)


def loss_of(parameters, x, y):
    weights, biases = parameters
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = jax.nn.relu(x @ w + b)
    logits = x @ weights[-1] + biases[-1]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


def descend(parameters, gradients, rate):
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)


def mlp(x, y, weights, biases, rate):
    x, y = jnp.asarray(x), jnp.asarray(y)
    parameters = jax.tree.map(jnp.asarray, (weights, biases))

    def step(parameters, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        return descend(parameters, gradients, rate), [loss]

    return Work(step, [x, y], parameters)


def mlp_memory(x, y, weights, biases, rate):
    x, y = jnp.asarray(x), jnp.asarray(y)
    parameters = jax.tree.map(jnp.asarray, (weights, biases))
    return lambda: jax.vjp(lambda p: loss_of(p, x, y), parameters)


def elementwise(x):
    x = jnp.asarray(x)
    return Work(jax.value_and_grad(lambda x: jnp.sum(jnp.tanh(x) * x + x * x)), [x])


def jacobian(x, w):
    x, w = jnp.asarray(x), jnp.asarray(w)
    return Work(lambda x, w: [jax.jacrev(lambda w: jnp.tanh(x @ w))(w)], [x, w])


def batch_jacobian(x, w1, w2):
    x, w1, w2 = jnp.asarray(x), jnp.asarray(w1), jnp.asarray(w2)

    def step(x, w1, w2):
        return [jax.vmap(jax.jacrev(lambda row: jnp.tanh(row @ w1) @ w2))(x)]

    return Work(step, [x, w1, w2])


def second_order(x, w1, w2):
    x, parameters = jnp.asarray(x), (jnp.asarray(w1), jnp.asarray(w2))

    def loss(parameters, x):
        w1, w2 = parameters
        return jnp.mean(jnp.square(jnp.tanh(x @ w1) @ w2 - 1))

    def norm(parameters, x):
        d1, d2 = jax.grad(loss)(parameters, x)
        return jnp.sum(jnp.square(d1)) + jnp.sum(jnp.square(d2))

    return Work(jax.grad(norm), [parameters, x])
