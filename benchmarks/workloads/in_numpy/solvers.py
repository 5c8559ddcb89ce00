"""Equations and optimizers in NumPy, differentiated by hand."""

import numpy as np

from workloads import Work


def pinn(x, f, ends, weights, biases, rate):
    """Propagate u, u' and u'' through the network together, and likewise their cotangents."""
    weights, biases = [w.copy() for w in weights], [b.copy() for b in biases]
    inside, rate = len(x), np.float32(rate)
    first = np.zeros((3, inside + len(ends), 1), np.float32)
    first[0, :inside], first[0, inside:], first[1] = x, ends, 1

    def product(h, w):
        return np.dot(h.reshape(-1, h.shape[-1]), w).reshape(3, -1, w.shape[-1])

    def forward():
        h, kept = first, []
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            z = product(h, w)
            z[0] += b
            t = np.tanh(z[0])
            s = 1 - t * t
            kept.append((h, z, t, s))
            bent = -2 * t * z[1]
            bent *= z[1]
            bent += z[2]
            bent *= s
            h = np.stack([t, s * z[1], bent])
        return h, kept

    def through_tanh(g, z, t, s):
        """Cotangents of u, u' and u'' before tanh, from those after it."""
        u = z[1] * z[1]
        by_value = g[0] - 2 * t * z[1] * g[1]
        by_value += (-2 * t * z[2] - 2 * u * (s - 2 * t * t)) * g[2]
        return np.stack([s * by_value, s * (g[1] - 4 * t * z[1] * g[2]), s * g[2]])

    def step():
        h, kept = forward()
        out = product(h, weights[-1])
        out[0] += biases[-1]
        errors, edges = out[2, :inside] - f, out[0, inside:]
        loss = np.mean(errors * errors) + np.mean(edges * edges)
        g = np.zeros_like(out)
        g[2, :inside] = errors * np.float32(2 / inside)
        g[0, inside:] = edges * np.float32(2 / len(ends))
        for i in reversed(range(len(weights))):
            w = weights[i]
            dw = np.dot(h.reshape(-1, h.shape[-1]).T, g.reshape(-1, g.shape[-1]))
            db = np.add.reduce(g[0], axis=0)
            if i:
                h, z, t, s = kept[i - 1]
                g = through_tanh(product(g, w.T), z, t, s)
            w -= rate * dw
            biases[i] -= rate * db
        return [loss]

    return Work(step, (), [*weights, *biases])


def newton(a, y, w, decay):
    w, count, decay = w.copy(), np.float32(len(a)), np.float32(decay)
    ridge = decay * np.eye(len(w), dtype=np.float32)

    def step():
        margin = y * np.dot(a, w)
        loss = np.mean(np.logaddexp(np.float32(0), -margin)) + decay / 2 * np.dot(w, w)
        p = 1 / (1 + np.exp(margin))
        g = decay * w - np.dot(p * y, a) / count
        hessian = np.dot(a.T * (p * (1 - p) / count), a)
        hessian += ridge
        np.subtract(w, np.linalg.solve(hessian, g), out=w)
        return [loss]

    return Work(step, (), [w])


def slopes(x, y):
    """Rosenbrock's function and its derivatives."""
    left, up = 1 - x, y - x * x
    return left * left + 100 * up * up, -2 * left - 400 * up * x, 200 * up


def rosenbrock(x, y, rate):
    point, rate = [x, y], np.float32(rate)

    def step():
        x, y = point
        value, dx, dy = slopes(x, y)
        point[:] = x - rate * dx, y - rate * dy
        return [value]

    return Work(step, (), point)


def rosenbrock_loop(x, y, rate, steps):
    rate = np.float32(rate)

    def step(x, y):
        for _ in range(steps):
            _, dx, dy = slopes(x, y)
            x, y = x - rate * dx, y - rate * dy
        return [slopes(x, y)[0], x, y]

    return Work(step, [x, y])


def adam(x, y, weights, biases, rate, decays, epsilon):
    weights, biases = [w.copy() for w in weights], [b.copy() for b in biases]
    parameters = weights + biases
    firsts, seconds = ([np.zeros_like(p) for p in parameters] for _ in range(2))
    first, second = (np.float32(decay) for decay in decays)
    rest, rests, rate = 1 - first, 1 - second, np.float32(rate)
    count = np.zeros((), np.float32)

    def gradients():
        h, kept = x, []
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            kept.append(h)
            h = np.dot(h, w)
            h += b
            np.tanh(h, out=h)
        kept.append(h)
        g = np.dot(h, weights[-1])
        g += biases[-1]
        g -= y
        loss = np.mean(g * g)
        g *= np.float32(2 / g.size)
        by_weights, by_biases = [], []
        for i in reversed(range(len(weights))):
            by_weights.append(np.dot(kept[i].T, g))
            by_biases.append(np.add.reduce(g, axis=0))
            if i:
                g = np.dot(g, weights[i].T)
                g *= 1 - kept[i] * kept[i]
        return loss, by_weights[::-1] + by_biases[::-1]

    def step():
        loss, by_parameters = gradients()
        count[...] += 1
        scale = np.float32(rate / (1 - first**count))
        root = np.float32((1 - second**count) ** -0.5)
        for p, m, v, g in zip(parameters, firsts, seconds, by_parameters, strict=True):
            m *= first
            m += rest * g
            v *= second
            g *= g
            g *= rests
            v += g
            size = np.sqrt(v, out=g)
            size *= root
            size += epsilon
            np.divide(m, size, out=size)
            size *= scale
            p -= size
        return [loss]

    return Work(step, (), [*parameters, *firsts, *seconds, count])
