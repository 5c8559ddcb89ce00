"""Equations and optimizers in autograd."""

import autograd.numpy as anp
import numpy as np
from autograd import elementwise_grad, grad, hessian, value_and_grad

from workloads import Work
from workloads.in_autograd.basics import descend


def network(x, parameters):
    n = len(parameters) // 2
    for i in range(n - 1):
        x = anp.tanh(anp.dot(x, parameters[i]) + parameters[n + i])
    return anp.dot(x, parameters[n - 1]) + parameters[-1]


def pinn(x, f, ends, weights, biases, rate):
    parameters, rate = [p.copy() for p in (*weights, *biases)], np.float32(rate)
    second_derivative = elementwise_grad(elementwise_grad(network))

    def loss_of(parameters):
        inside = anp.mean((second_derivative(x, parameters) - f) ** 2)
        return inside + anp.mean(network(ends, parameters) ** 2)

    differentiate = value_and_grad(loss_of)

    def step():
        loss, gradients = differentiate(parameters)
        descend(parameters, gradients, rate)
        return [loss]

    return Work(step, (), parameters)


def newton(a, y, w, decay):
    w, decay = w.copy(), np.float32(decay)

    def loss_of(w):
        losses = anp.logaddexp(np.float32(0), -y * anp.dot(a, w))
        return anp.mean(losses) + decay / 2 * anp.sum(w * w)

    differentiate, curvature = value_and_grad(loss_of), hessian(loss_of)

    def step():
        loss, g = differentiate(w)
        np.subtract(w, np.linalg.solve(curvature(w), g), out=w)
        return [loss]

    return Work(step, (), [w])


def rosenbrock_value(point):
    x, y = point
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def rosenbrock(x, y, rate):
    point = [float(x), float(y)]
    differentiate = value_and_grad(rosenbrock_value)

    def step():
        value, (dx, dy) = differentiate(point)
        point[:] = point[0] - rate * dx, point[1] - rate * dy
        return [value]

    return Work(step, (), point)


def rosenbrock_loop(x, y, rate, steps):
    slopes = grad(rosenbrock_value)

    def step(x, y):
        for _ in range(steps):
            dx, dy = slopes([x, y])
            x, y = x - rate * dx, y - rate * dy
        return [rosenbrock_value([x, y]), x, y]

    return Work(step, [float(x), float(y)])


def adam(x, y, weights, biases, rate, decays, epsilon):
    parameters = [p.copy() for p in (*weights, *biases)]
    firsts, seconds = ([np.zeros_like(p) for p in parameters] for _ in range(2))
    count = np.zeros((), np.float32)
    differentiate = value_and_grad(lambda p: anp.mean((network(x, p) - y) ** 2))

    def step():
        loss, gradients = differentiate(parameters)
        count[...] += 1
        by_first, by_second = (np.float32(1 - decay**count) for decay in decays)
        for p, m, v, g in zip(parameters, firsts, seconds, gradients, strict=True):
            m += (1 - decays[0]) * (g - m)
            v += (1 - decays[1]) * (g * g - v)
            p -= rate * (m / by_first) / (np.sqrt(v / by_second) + epsilon)
        return [loss]

    return Work(step, (), [*parameters, *firsts, *seconds, count])
