"""Chains of ops, dense nets and derivatives in autograd."""

import autograd.numpy as anp
import numpy as np
from autograd import grad, make_vjp, value_and_grad
from autograd import jacobian as jacobian_of

from workloads import Work


def run_chain(x, repeats):
    y = x
    for _ in range(repeats):
        y = anp.sin(y * x + x)
    return y


def chain_outside(x, repeats):
    x = float(x)
    return Work(lambda: [run_chain(x, repeats)])


def chain_unwatched(x, repeats):
    x = float(x)

    def step():
        kept = []
        make_vjp(lambda w: kept.append(run_chain(x, repeats)) or w * w)(1.0)
        return kept

    return Work(step)


def chain(x, repeats):
    x = float(x)
    return Work(value_and_grad(lambda x: run_chain(x, repeats)), [x])


def chain_memory(x, repeats):
    x = float(x)
    return lambda: make_vjp(lambda x: run_chain(x, repeats))(x)


def loss_of(parameters, x, y, rows):
    n = len(parameters) // 2
    weights, biases = parameters[:n], parameters[n:]
    for i in range(n - 1):
        x = anp.maximum(anp.dot(x, weights[i]) + biases[i], 0)
    logits = anp.dot(x, weights[-1]) + biases[-1]
    logits = logits - anp.max(logits, axis=1, keepdims=True)
    return anp.mean(anp.log(anp.sum(anp.exp(logits), axis=1)) - logits[rows, y])


def descend(parameters, gradients, rate):
    for p, g in zip(parameters, gradients, strict=True):
        p -= rate * g


def mlp(x, y, weights, biases, rate):
    parameters = [p.copy() for p in (*weights, *biases)]
    rows, rate = np.arange(len(x)), np.float32(rate)
    differentiate = value_and_grad(lambda p: loss_of(p, x, y, rows))

    def step():
        loss, gradients = differentiate(parameters)
        descend(parameters, gradients, rate)
        return [loss]

    return Work(step, (), parameters)


def mlp_memory(x, y, weights, biases, rate):
    rows = np.arange(len(x))
    return lambda: make_vjp(lambda p: loss_of(p, x, y, rows))([*weights, *biases])


def elementwise(x):
    return Work(value_and_grad(lambda x: anp.sum(anp.tanh(x) * x + x * x)), [x])


def jacobian(x, w):
    differentiate = jacobian_of(lambda w: anp.tanh(anp.dot(x, w)))
    return Work(lambda: [differentiate(w)])


def batch_jacobian(x, w1, w2):
    # Rows are independent, so the jacobian of the sum over rows contains the jacobian of each row.
    differentiate = jacobian_of(lambda x: anp.sum(anp.dot(anp.tanh(anp.dot(x, w1)), w2), axis=0))
    return Work(lambda: [np.moveaxis(differentiate(x), 0, 1)])


def second_order(x, w1, w2):
    def loss(parameters):
        return anp.mean((anp.dot(anp.tanh(anp.dot(x, parameters[0])), parameters[1]) - 1) ** 2)

    def norm(parameters):
        d1, d2 = grad(loss)(parameters)
        return anp.sum(d1 * d1) + anp.sum(d2 * d2)

    return Work(grad(norm), [[w1, w2]])
