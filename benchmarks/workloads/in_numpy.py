"""The workloads in NumPy, differentiated by hand."""

import numpy as np


def versions():
    return {"numpy": np.__version__}


def use_threads(n):
    """The environment has said it: BLAS reads it when it is loaded."""


def wait(results):
    """NumPy is done when it returns."""


def as_numpy(results):
    return [np.asarray(r) for r in results]


def chain_outside(x, repeats):
    def step():
        y = x
        for _ in range(repeats):
            y = np.sin(y * x + x)
        return [y]

    return step


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

    return step


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
        return [loss, *weights, *biases]

    return step


def mlp_held(x, y, weights, biases, rate):
    return lambda: forward(x, weights, biases)[0]


def chain_held(x, repeats):
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

    return step


def jacobian(x, w):
    def step():
        y = np.tanh(x @ w)
        batch, m = y.shape
        full = np.zeros((batch, m, len(w), m), np.float32)
        j = np.arange(m)
        full[:, j, :, j] = (1 - y * y).T[:, :, None] * x
        return [full]

    return step


def batch_jacobian(x, w1, w2):
    def step():
        h = np.tanh(x @ w1)
        slope = 1 - h * h
        return [np.matmul(w2.T * slope[:, None, :], w1.T)]

    return step


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

    return step


def bordered(x):
    """Images with a pixel of zeros around them."""
    return np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))


def patches(x):
    """(places, 9 * channels) of all 3×3 patches."""
    n, height, width, channels = x.shape
    views = np.lib.stride_tricks.sliding_window_view(bordered(x), (3, 3), axis=(1, 2))
    return views.transpose(0, 1, 2, 4, 5, 3).reshape(n * height * width, 9 * channels)


def convolution(x, w, g):
    def step():
        columns, matrix = patches(x), w.reshape(-1, w.shape[-1])
        y = np.dot(columns, matrix).reshape(g.shape)
        dw = np.dot(columns.T, g.reshape(-1, g.shape[-1])).reshape(w.shape)
        turned = w[::-1, ::-1].swapaxes(2, 3).reshape(-1, w.shape[2])
        return [y, np.dot(patches(g), turned).reshape(x.shape), dw]

    return step


def depthwise(x, w, g):
    height, width = x.shape[1:3]
    taps = [(i, j, slice(i, i + height), slice(j, j + width)) for i in range(3) for j in range(3)]

    def step():
        full, wide = bordered(x), bordered(g)
        y, dx, dw = np.zeros_like(g), np.zeros_like(x), np.empty_like(w)
        for i, j, rows, columns in taps:
            y += full[:, rows, columns] * w[i, j, :, 0]
            dx += wide[:, rows, columns] * w[2 - i, 2 - j, :, 0]
            dw[i, j, :, 0] = np.einsum("nhwc,nhwc->c", full[:, rows, columns], g)
        return [y, dx, dw]

    return step


def embedding(table, ids, g, rate):
    table, rate = table.copy(), np.float32(rate)

    def step():
        value = np.add.reduce(table[ids] * g, axis=None)
        np.subtract.at(table, ids, rate * g)
        return [value, table]

    return step


def batch_norm(x, scale, offset, g):
    return normalised(x, scale, offset, g, tuple(range(x.ndim - 1)))


def layer_norm(x, scale, offset, g):
    return normalised(x, scale, offset, g, (x.ndim - 1,))


def normalised(x, scale, offset, g, axes):
    """Normalisation along `axes` and its gradients."""
    first = tuple(range(x.ndim - 1))

    def mean(t):
        return np.mean(t, axes, keepdims=True)

    def step():
        normal = x - mean(x)
        factor = 1 / np.sqrt(mean(normal * normal) + np.float32(1e-3))
        normal *= factor
        y = normal * scale
        y += offset
        by_scale, by_offset = np.sum(g * normal, first), np.sum(g, first)
        t = g * scale
        normal *= mean(t * normal)
        dx = t - mean(t)
        dx -= normal
        dx *= factor
        return [y, dx, by_scale, by_offset]

    return step


def softmax(x, g):
    def step():
        y = np.exp(x - np.max(x, -1, keepdims=True))
        y /= np.sum(y, -1, keepdims=True)
        dx = g * y
        dx = g - np.sum(dx, -1, keepdims=True)
        dx *= y
        return [y, dx]

    return step
