"""Equations and optimizers in PyTorch."""

import torch
from torch.func import grad, grad_and_value, hessian
from torch.nn import functional

from workloads import Work
from workloads.in_torch.basics import descend, leaf


def network(x, weights, biases):
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = torch.tanh(torch.addmm(b, x, w))
    return torch.addmm(biases[-1], x, weights[-1])


def pinn(x, f, ends, weights, biases, rate):
    x, f, ends = leaf(x), torch.tensor(f), torch.tensor(ends)
    weights, biases = [leaf(w) for w in weights], [leaf(b) for b in biases]
    parameters = weights + biases

    def step(x, f, ends):
        u = network(x, weights, biases)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second_derivative,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        loss = (second_derivative - f).square().mean() + network(
            ends, weights, biases
        ).square().mean()
        descend(parameters, torch.autograd.grad(loss, parameters), rate)
        return [loss]

    return Work(step, [x, f, ends], parameters)


def newton(a, y, w, decay):
    a, y, w = torch.tensor(a), torch.tensor(y), torch.tensor(w)

    def loss_of(w, a, y):
        return functional.softplus(-y * (a @ w)).mean() + decay / 2 * w.square().sum()

    def step(a, y):
        g, loss = grad_and_value(loss_of)(w, a, y)
        w.sub_(torch.linalg.solve(hessian(loss_of)(w, a, y), g))
        return [loss]

    return Work(step, [a, y], [w])


def rosenbrock_value(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def rosenbrock(x, y, rate):
    point = [leaf(x), leaf(y)]

    def step():
        value = rosenbrock_value(*point)
        descend(point, torch.autograd.grad(value, point), rate)
        return [value]

    return Work(step, [], point)


def rosenbrock_loop(x, y, rate, steps):
    x, y = torch.tensor(x), torch.tensor(y)

    def step(x, y):
        for _ in range(steps):
            dx, dy = grad(rosenbrock_value, (0, 1))(x, y)
            x, y = x - rate * dx, y - rate * dy
        return [rosenbrock_value(x, y), x, y]

    return Work(step, [x, y])


def adam(x, y, weights, biases, rate, decays, epsilon):
    x, y = torch.tensor(x), torch.tensor(y)
    weights, biases = [leaf(w) for w in weights], [leaf(b) for b in biases]
    parameters = weights + biases
    firsts, seconds = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
    count = torch.zeros(())

    def step(x, y):
        loss = (network(x, weights, biases) - y).square().mean()
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            count.add_(1)
            by_first, by_second = 1 - decays[0] ** count, (1 - decays[1] ** count).sqrt()
            for p, m, v, g in zip(parameters, firsts, seconds, gradients, strict=True):
                m.lerp_(g, 1 - decays[0])
                v.mul_(decays[1]).addcmul_(g, g, value=1 - decays[1])
                p.addcdiv_(m / by_first, (v.sqrt() / by_second).add_(epsilon), value=-rate)
        return [loss]

    return Work(step, [x, y], [*parameters, *firsts, *seconds, count])
