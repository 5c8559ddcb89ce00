"""Chains of ops, dense nets and derivatives in NumPy, differentiated by hand."""

import numpy as np

from workloads import Work


def chain_outside(x, repeats):
    def step():
        y = x
        for _ in range(repeats):
            y = np.sin(y * x + x)
        return [y]

    return Work(step)


def chain(x, repeats):
    def step():
        y, inputs, angles = x, [], []
        for _ in range(repeats):
            inputs.append(y)
            angle = y * x + x
            angles.append(angle)
            y = np.sin(angle)
        g, dx = np.float32(1), np.float32(0)
        for before, angle in zip(reversed(inputs), reversed(angles), strict=True):
            g = g * np.cos(angle)
            dx = dx + g * before + g
            g = g * x
        return [y, dx + g]

    return Work(step)


def forward(x, weights, biases):
    """Inputs of every layer, and the logits."""
    inputs = [x]
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        h = np.dot(inputs[-1], w)
        h += b
        inputs.append(np.maximum(h, 0, out=h))
    logits = np.dot(inputs[-1], weights[-1])
    logits += biases[-1]
    return inputs, logits


def mlp(x, y, weights, biases, rate):
    weights, biases = [w.copy() for w in weights], [b.copy() for b in biases]
    rows, size, rate = np.arange(len(x)), np.float32(len(x)), np.float32(rate)

    def step():
        inputs, g = forward(x, weights, biases)
        g -= np.maximum.reduce(g, axis=1, keepdims=True)
        picked = g[rows, y]
        np.exp(g, out=g)
        total = np.add.reduce(g, axis=1, keepdims=True)
        loss = np.add.reduce(np.log(total[:, 0]) - picked) / size
        g /= total
        g[rows, y] -= 1
        g /= size
        for w, b, h in zip(reversed(weights), reversed(biases), reversed(inputs), strict=True):
            dw, db = np.dot(h.T, g), np.add.reduce(g, axis=0)
            if h is not x:
                g = np.dot(g, w.T)
                g *= h > 0
            dw *= rate
            w -= dw
            db *= rate
            b -= db
        return [loss]

    return Work(step, (), [*weights, *biases])


def mlp_memory(x, y, weights, biases, rate):
    return lambda: forward(x, weights, biases)[0]


def chain_memory(x, repeats):
    def hold():
        y, inputs, angles = x, [], []
        for _ in range(repeats):
            inputs.append(y)
            angles.append(y * x + x)
            y = np.sin(angles[-1])
        return inputs, angles

    return hold


def elementwise(x):
    def step():
        t = np.tanh(x)
        value = np.add.reduce(t * x + x * x)
        g = t * t
        np.subtract(1, g, out=g)
        g *= x
        g += t
        g += 2 * x
        return [value, g]

    return Work(step)


def jacobian(x, w):
    def step():
        y = np.tanh(x @ w)
        batch, m = y.shape
        full = np.zeros((batch, m, len(w), m), np.float32)
        j = np.arange(m)
        full[:, j, :, j] = (1 - y * y).T[:, :, None] * x
        return [full]

    return Work(step)


def batch_jacobian(x, w1, w2):
    def step():
        h = np.tanh(x @ w1)
        slope = 1 - h * h
        return [np.matmul(w2.T * slope[:, None, :], w1.T)]

    return Work(step)


def second_order(x, w1, w2):
    """Pearlmutter's (1994) forward differentiation of the gradient, along the gradient."""

    def step():
        h = np.tanh(x @ w1)
        slope = 1 - h * h
        r = (h @ w2 - 1) * np.float32(2 / len(x))  # d loss / d output
        back = r @ w2.T
        g = back * slope
        d1, d2 = x.T @ g, h.T @ r
        h_dot = x @ d1 * slope
        r_dot = (h_dot @ w2 + h @ d2) * np.float32(2 / len(x))
        g_dot = (r_dot @ w2.T + r @ d2.T) * slope - 2 * back * h * h_dot
        return [2 * (x.T @ g_dot), 2 * (h_dot.T @ r + h.T @ r_dot)]

    return Work(step)
