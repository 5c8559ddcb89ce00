"""Layers and networks in autograd, which has no fast convolution."""

import autograd.numpy as anp
import numpy as np
from autograd import make_vjp, value_and_grad
from autograd.builtins import tuple as tuple_of

from workloads import Work


def make_pullback_step(function, g, *sources):
    """Make a step that computes `function` and the gradients of all its inputs."""

    def step():
        pull, y = make_vjp(lambda sources: function(*sources))(tuple_of(sources))
        return [y, *pull(g)]

    return Work(step)


def embedding(table, ids, g, rate):
    table, rate = table.copy(), np.float32(rate)
    differentiate = value_and_grad(lambda rows: anp.sum(rows * g))

    def step():
        value, slices = differentiate(table[ids])
        np.subtract.at(table, ids, rate * slices)
        return [value]

    return Work(step, (), [table])


def make_normalise(axes):
    def normal(x, scale, offset):
        centred = x - anp.mean(x, axes, keepdims=True)
        variance = anp.mean(centred * centred, axes, keepdims=True)
        return centred / anp.sqrt(variance + np.float32(1e-3)) * scale + offset

    return normal


def batch_norm(x, scale, offset, g):
    return make_pullback_step(make_normalise(tuple(range(x.ndim - 1))), g, x, scale, offset)


def layer_norm(x, scale, offset, g):
    return make_pullback_step(make_normalise((x.ndim - 1,)), g, x, scale, offset)


def probabilities(x):
    y = anp.exp(x - anp.max(x, -1, keepdims=True))
    return y / anp.sum(y, -1, keepdims=True)


def softmax(x, g):
    return make_pullback_step(probabilities, g, x)


def gelu(x, g):
    from autograd.scipy.special import erf

    root = np.float32(2**-0.5)
    return make_pullback_step(lambda x: x * (erf(x * root) + 1) / 2, g, x)


def sigmoid(x):
    return (anp.tanh(x / 2) + 1) / 2


def lstm_loop(x, c, h, w, b, g):
    n, hidden = x.shape[-1], h.shape[-1]

    def outputs(x, w, b):
        state, out, outs = c, h, []
        entering, recurrent = anp.matmul(x, w[:n]) + b, w[n:]
        for t in range(len(x)):
            gates = entering[t] + anp.dot(out, recurrent)
            i, f, candidate, o = (gates[:, q * hidden : (q + 1) * hidden] for q in range(4))
            state = sigmoid(f) * state + sigmoid(i) * anp.tanh(candidate)
            out = sigmoid(o) * anp.tanh(state)
            outs.append(out)
        return anp.stack(outs)

    return make_pullback_step(outputs, g, x, w, b)


def attention(x, weights, heads, g):
    batch, steps, width = x.shape
    scale = np.float32((width // heads) ** -0.5)

    def split_heads(x):
        return anp.swapaxes(anp.reshape(x, (batch, steps, heads, width // heads)), 1, 2)

    def attend(x, *weights):
        q, k, v = (split_heads(anp.matmul(x, w)) for w in weights[:3])
        p = probabilities(anp.matmul(q * scale, anp.swapaxes(k, 2, 3)))
        y = anp.reshape(anp.swapaxes(anp.matmul(p, v), 1, 2), (batch, steps, width))
        return anp.matmul(y, weights[3])

    return make_pullback_step(attend, g, x, *weights)
