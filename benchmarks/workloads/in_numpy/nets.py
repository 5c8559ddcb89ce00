"""Layers and networks in NumPy, differentiated by hand."""

import numpy as np

from workloads import Work


def pad_border(x):
    """Pad images with one pixel of zeros."""
    return np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))


def patches(x):
    """All 3×3 patches as (positions, 9 * channels)."""
    n, height, width, channels = x.shape
    views = np.lib.stride_tricks.sliding_window_view(pad_border(x), (3, 3), axis=(1, 2))
    return views.transpose(0, 1, 2, 4, 5, 3).reshape(n * height * width, 9 * channels)


def convolution(x, w, g):
    def step():
        columns, matrix = patches(x), w.reshape(-1, w.shape[-1])
        y = np.dot(columns, matrix).reshape(g.shape)
        dw = np.dot(columns.T, g.reshape(-1, g.shape[-1])).reshape(w.shape)
        turned = w[::-1, ::-1].swapaxes(2, 3).reshape(-1, w.shape[2])
        return [y, np.dot(patches(g), turned).reshape(x.shape), dw]

    return Work(step)


def depthwise(x, w, g):
    height, width = x.shape[1:3]
    taps = [(i, j, slice(i, i + height), slice(j, j + width)) for i in range(3) for j in range(3)]

    def step():
        full, wide = pad_border(x), pad_border(g)
        y, dx, dw = np.zeros_like(g), np.zeros_like(x), np.empty_like(w)
        for i, j, rows, columns in taps:
            y += full[:, rows, columns] * w[i, j, :, 0]
            dx += wide[:, rows, columns] * w[2 - i, 2 - j, :, 0]
            dw[i, j, :, 0] = np.einsum("nhwc,nhwc->c", full[:, rows, columns], g)
        return [y, dx, dw]

    return Work(step)


def embedding(table, ids, g, rate):
    table, rate = table.copy(), np.float32(rate)

    def step():
        value = np.add.reduce(table[ids] * g, axis=None)
        np.subtract.at(table, ids, rate * g)
        return [value]

    return Work(step, (), [table])


def batch_norm(x, scale, offset, g):
    return normalisation_step(x, scale, offset, g, tuple(range(x.ndim - 1)))


def layer_norm(x, scale, offset, g):
    return normalisation_step(x, scale, offset, g, (x.ndim - 1,))


def normalisation_step(x, scale, offset, g, axes):
    """Make a step that normalises along `axes` and computes the gradients."""
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

    return Work(step)


def softmax(x, g):
    def step():
        y = np.exp(x - np.max(x, -1, keepdims=True))
        y /= np.sum(y, -1, keepdims=True)
        dx = g * y
        dx = g - np.sum(dx, -1, keepdims=True)
        dx *= y
        return [y, dx]

    return Work(step)


def gelu(x, g):
    from scipy.special import erf

    half, root, width = np.float32(0.5), np.float32(2**-0.5), np.float32((2 * np.pi) ** -0.5)

    def step():
        share = erf(x * root)
        share += 1
        share *= half
        slope = x * x
        slope *= -half
        np.exp(slope, out=slope)
        slope *= width
        slope *= x
        slope += share
        slope *= g
        share *= x
        return [share, slope]

    return Work(step)


def columns_to_images(columns, shape):
    """The adjoint of `patches`: add every patch back at its position."""
    n, height, width, channels = shape
    total = np.zeros((n, height + 2, width + 2, channels), np.float32)
    columns = columns.reshape(n, height, width, 3, 3, channels)
    for i in range(3):
        for j in range(3):
            total[:, i : i + height, j : j + width] += columns[:, :, :, i, j]
    return total[:, 1:-1, 1:-1]


def max_pool(x):
    """The maximum of each 2×2 block, and the position of the first maximum in the block."""
    phases = [x[:, i::2, j::2] for i in range(2) for j in range(2)]
    y = np.maximum(np.maximum(phases[0], phases[1]), np.maximum(phases[2], phases[3]))
    free, hits = np.ones(y.shape, bool), []
    for phase in phases:
        hits.append((phase == y) & free)
        free &= ~hits[-1]
    return y, hits


def cnn(x, y, kernels, dense, biases, rate):
    kernels, biases, dense = [w.copy() for w in kernels], [b.copy() for b in biases], dense.copy()
    rows, size, rate = np.arange(len(x)), np.float32(len(x)), np.float32(rate)

    def forward():
        """The logits, and the residuals of every layer."""
        h, kept = x, []
        for w, b in zip(kernels, biases[:-1], strict=True):
            columns, shape = patches(h), h.shape
            h = np.dot(columns, w.reshape(-1, w.shape[-1])).reshape(*h.shape[:3], -1)
            h += b
            h, hits = max_pool(np.maximum(h, 0, out=h))
            kept.append((columns, shape, hits, h))
        return h.reshape(len(x), -1), kept

    def back(g, kept):
        """Gradients of kernels and biases."""
        for i in reversed(range(len(kernels))):
            columns, shape, hits, h = kept[i]
            g = g.reshape(h.shape) * (h > 0)
            full = np.empty((*shape[:3], h.shape[-1]), np.float32)
            for phase, hit in enumerate(hits):
                np.multiply(g, hit, out=full[:, phase // 2 :: 2, phase % 2 :: 2])
            flat = full.reshape(len(columns), -1)
            w = kernels[i]
            dw, db = np.dot(columns.T, flat).reshape(w.shape), np.add.reduce(flat, axis=0)
            if i:
                g = columns_to_images(np.dot(flat, w.reshape(-1, w.shape[-1]).T), shape)
            w -= rate * dw
            biases[i] -= rate * db

    def step():
        flat, kept = forward()
        g = np.dot(flat, dense)
        g += biases[-1]
        g -= np.maximum.reduce(g, axis=1, keepdims=True)
        picked = g[rows, y]
        np.exp(g, out=g)
        total = np.add.reduce(g, axis=1, keepdims=True)
        loss = np.add.reduce(np.log(total[:, 0]) - picked) / size
        g /= total
        g[rows, y] -= 1
        g /= size
        by_dense, by_bias, by_flat = np.dot(flat.T, g), np.add.reduce(g, axis=0), np.dot(g, dense.T)
        back(by_flat, kept)
        np.subtract(dense, rate * by_dense, out=dense)
        biases[-1] -= rate * by_bias
        return [loss]

    return Work(step, (), [*kernels, dense, *biases])


def residual(x, kernels, scales, offsets, g):
    axes = (0, 1, 2)

    def normalise(x):
        normal = x - np.mean(x, axes)
        factor = 1 / np.sqrt(np.mean(normal * normal, axes) + np.float32(1e-3))
        normal *= factor
        return normal, factor

    def normal_back(g, normal, factor, scale):
        by_scale, by_offset = np.sum(g * normal, axes), np.sum(g, axes)
        count = np.float32(g.size // g.shape[-1])
        dx = g - by_offset / count
        dx -= normal * (by_scale / count)
        dx *= factor * scale
        return dx, by_scale, by_offset

    def convolve(columns, w):
        return np.dot(columns, w.reshape(-1, w.shape[-1])).reshape(x.shape)

    def convolve_back(g, columns, w):
        flat = g.reshape(-1, g.shape[-1])
        turned = w[::-1, ::-1].swapaxes(2, 3).reshape(-1, w.shape[2])
        dx = np.dot(patches(g), turned).reshape(x.shape)
        return dx, np.dot(columns.T, flat).reshape(w.shape)

    def step():
        first = patches(x)
        normal0, factor0 = normalise(convolve(first, kernels[0]))
        h = np.maximum(normal0 * scales[0] + offsets[0], 0)
        second = patches(h)
        normal1, factor1 = normalise(convolve(second, kernels[1]))
        y = np.maximum(normal1 * scales[1] + offsets[1] + x, 0)
        past = g * (y > 0)
        t, s1, o1 = normal_back(past, normal1, factor1, scales[1])
        t, d1 = convolve_back(t, second, kernels[1])
        t *= h > 0
        t, s0, o0 = normal_back(t, normal0, factor0, scales[0])
        t, d0 = convolve_back(t, first, kernels[0])
        return [y, t + past, d0, d1, s0, s1, o0, o1]

    return Work(step)


def lstm(x, c, h, w, b, g):
    """One product for the inputs of all steps; gates of a step are contiguous blocks of rows."""
    steps, batch, n = x.shape
    hidden = h.shape[-1]
    halves = np.full((4 * hidden, 1), 0.5, np.float32)  # sigmoid(z) = (1 + tanh(z / 2)) / 2
    halves[2 * hidden : 3 * hidden] = 1
    i, f, k, o = (slice(q * hidden, (q + 1) * hidden) for q in range(4))

    def forward():
        scaled = w.T * halves
        entering = np.matmul(scaled[:, :n], x.swapaxes(1, 2))
        entering += b[:, None] * halves
        recurrent = np.ascontiguousarray(scaled[:, n:])
        gates = np.empty((steps, 4 * hidden, batch), np.float32)
        states, squashed = np.empty((2, steps, hidden, batch), np.float32)
        outs = np.empty((steps, hidden, batch), np.float32)
        state, out = c.T, h.T
        for t in range(steps):
            z = gates[t]
            np.dot(recurrent, out, out=z)
            z += entering[t]
            np.tanh(z, out=z)
            z *= halves
            z[: 2 * hidden] += halves[0]
            z[o] += halves[0]
            np.multiply(z[f], state, out=states[t])
            states[t] += z[i] * z[k]
            state = states[t]
            np.tanh(state, out=squashed[t])
            out = np.multiply(z[o], squashed[t], out=outs[t])
        return gates, states, squashed, outs

    def step():
        gates, states, squashed, outs = forward()
        by_gates, turned = np.empty_like(gates), np.ascontiguousarray(w[n:])
        cotangents = np.ascontiguousarray(g.swapaxes(1, 2))
        by_out, by_state = 0, 0
        for t in reversed(range(steps)):
            z, dz, s = gates[t], by_gates[t], squashed[t]
            by_out = cotangents[t] + by_out
            by_state = by_out * z[o] * (1 - s * s) + by_state
            dz[o] = by_out * s * z[o] * (1 - z[o])
            dz[i] = by_state * z[k] * z[i] * (1 - z[i])
            dz[f] = by_state * (states[t - 1] if t else c.T) * z[f] * (1 - z[f])
            dz[k] = by_state * z[i] * (1 - z[k] * z[k])
            by_state = by_state * z[f]
            by_out = np.dot(turned, dz)
        flat = by_gates.swapaxes(0, 1).reshape(4 * hidden, -1)
        before = np.concatenate([h.T[None], outs[:-1]]).swapaxes(0, 1).reshape(hidden, -1)
        entered = x.reshape(-1, n)
        dw = np.concatenate([np.dot(flat, entered).T, np.dot(before, flat.T)])
        dx = np.dot(flat.T, w[:n].T).reshape(steps, batch, n)
        return [outs.swapaxes(1, 2), dx, dw, np.add.reduce(flat, axis=1)]

    return Work(step)


def attention(x, weights, heads, g):
    batch, steps, width = x.shape
    scale = np.float32((width // heads) ** -0.5)
    flat, by_flat = x.reshape(-1, width), g.reshape(-1, width)

    def split_heads(t):
        return np.ascontiguousarray(t.reshape(batch, steps, heads, -1).swapaxes(1, 2))

    def merge_heads(t):
        return t.swapaxes(1, 2).reshape(-1, width)

    def step():
        q, k, v = (split_heads(np.dot(flat, w)) for w in weights[:3])
        q *= scale
        p = np.matmul(q, k.swapaxes(2, 3))
        p -= np.maximum.reduce(p, axis=-1, keepdims=True)
        np.exp(p, out=p)
        p /= np.add.reduce(p, axis=-1, keepdims=True)
        mixed = merge_heads(np.matmul(p, v))
        y = np.dot(mixed, weights[3])
        past = split_heads(np.dot(by_flat, weights[3].T))
        dp = np.matmul(past, v.swapaxes(2, 3))
        dp -= np.add.reduce(dp * p, axis=-1, keepdims=True)
        dp *= p
        dq = merge_heads(np.matmul(dp, k)) * scale
        dk, dv = (
            merge_heads(np.matmul(dp.swapaxes(2, 3), q)),
            merge_heads(np.matmul(p.swapaxes(2, 3), past)),
        )
        dx = np.dot(dq, weights[0].T)
        dx += np.dot(dk, weights[1].T)
        dx += np.dot(dv, weights[2].T)
        by_weights = [np.dot(flat.T, t) for t in (dq, dk, dv)]
        return [y.reshape(x.shape), dx.reshape(x.shape), *by_weights, np.dot(mixed.T, by_flat)]

    return Work(step)
