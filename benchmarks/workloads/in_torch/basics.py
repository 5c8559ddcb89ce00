"""Chains of ops, dense nets and derivatives in PyTorch."""

import torch
from torch.func import jacrev, vmap
from torch.nn import functional

from workloads import Work


def leaf(array):
    return torch.tensor(array, requires_grad=True)


def run_chain(x, repeats):
    y = x
    for _ in range(repeats):
        y = torch.sin(y * x + x)
    return y


def chain_outside(x, repeats):
    x = torch.tensor(x)

    def step(x):
        with torch.no_grad():
            return [run_chain(x, repeats)]

    return Work(step, [x])


def chain_unwatched(x, repeats):
    x = torch.tensor(x)
    return Work(lambda x: [run_chain(x, repeats)], [x])


def chain(x, repeats):
    x = leaf(x)

    def step(x):
        y = run_chain(x, repeats)
        return [y, *torch.autograd.grad(y, x)]

    return Work(step, [x])


def chain_memory(x, repeats):
    x = leaf(x)
    return lambda: run_chain(x, repeats)


def loss_of(x, y, weights, biases):
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = torch.relu(torch.addmm(b, x, w))
    return functional.cross_entropy(torch.addmm(biases[-1], x, weights[-1]), y)


def descend(parameters, gradients, rate):
    with torch.no_grad():
        for p, g in zip(parameters, gradients, strict=True):
            p.sub_(g, alpha=rate)


def mlp(x, y, weights, biases, rate):
    x, y = torch.tensor(x), torch.tensor(y).long()
    weights, biases = [leaf(w) for w in weights], [leaf(b) for b in biases]
    parameters = weights + biases

    def step(x, y):
        loss = loss_of(x, y, weights, biases)
        descend(parameters, torch.autograd.grad(loss, parameters), rate)
        return [loss]

    return Work(step, [x, y], parameters)


def mlp_memory(x, y, weights, biases, rate):
    x, y = torch.tensor(x), torch.tensor(y).long()
    weights, biases = [leaf(w) for w in weights], [leaf(b) for b in biases]
    return lambda: loss_of(x, y, weights, biases)


def elementwise(x):
    x = leaf(x)

    def step(x):
        value = (torch.tanh(x) * x + x * x).sum()
        return [value, *torch.autograd.grad(value, x)]

    return Work(step, [x])


def jacobian(x, w):
    x, w = torch.tensor(x), torch.tensor(w)
    return Work(lambda x, w: [jacrev(lambda w: torch.tanh(x @ w))(w)], [x, w])


def batch_jacobian(x, w1, w2):
    x, w1, w2 = torch.tensor(x), torch.tensor(w1), torch.tensor(w2)

    def step(x, w1, w2):
        return [vmap(jacrev(lambda row: torch.tanh(row @ w1) @ w2))(x)]

    return Work(step, [x, w1, w2])


def second_order(x, w1, w2):
    x, parameters = torch.tensor(x), [leaf(w1), leaf(w2)]

    def step(x):
        loss = (torch.tanh(x @ parameters[0]) @ parameters[1] - 1).square().mean()
        d1, d2 = torch.autograd.grad(loss, parameters, create_graph=True)
        norm = d1.square().sum() + d2.square().sum()
        return torch.autograd.grad(norm, parameters)

    return Work(step, [x])
