"""The workloads in PyTorch, eagerly."""

import torch
from torch.func import jacrev, vmap
from torch.nn import functional


def versions():
    return {"torch": torch.__version__}


def use_threads(n):
    torch.set_num_threads(n)
    torch.set_num_interop_threads(n)


def wait(results):
    """A CPU kernel has run when it returns."""


def as_numpy(results):
    return [r.detach().numpy() for r in results]


def leaf(array):
    return torch.tensor(array, requires_grad=True)


def run_chain(x, repeats):
    y = x
    for _ in range(repeats):
        y = torch.sin(y * x + x)
    return y


def chain_outside(x, repeats):
    x = torch.tensor(x)

    def step():
        with torch.no_grad():
            return [run_chain(x, repeats)]

    return step


def chain_unwatched(x, repeats):
    x = torch.tensor(x)
    return lambda: [run_chain(x, repeats)]


def chain(x, repeats):
    x = leaf(x)

    def step():
        y = run_chain(x, repeats)
        return [y, *torch.autograd.grad(y, x)]

    return step


def chain_held(x, repeats):
    x = leaf(x)
    return lambda: run_chain(x, repeats)


def loss_of(x, y, weights, biases):
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = torch.relu(torch.addmm(b, x, w))
    return functional.cross_entropy(torch.addmm(biases[-1], x, weights[-1]), y)


def mlp(x, y, weights, biases, rate):
    x, y = torch.tensor(x), torch.tensor(y).long()
    weights, biases = [leaf(w) for w in weights], [leaf(b) for b in biases]
    parameters = weights + biases

    def step():
        loss = loss_of(x, y, weights, biases)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p.sub_(g, alpha=rate)
        return [loss, *parameters]

    return step


def mlp_held(x, y, weights, biases, rate):
    x, y = torch.tensor(x), torch.tensor(y).long()
    weights, biases = [leaf(w) for w in weights], [leaf(b) for b in biases]
    return lambda: loss_of(x, y, weights, biases)


def elementwise(x):
    x = leaf(x)

    def step():
        value = (torch.tanh(x) * x + x * x).sum()
        return [value, *torch.autograd.grad(value, x)]

    return step


def jacobian(x, w):
    x, w = torch.tensor(x), torch.tensor(w)
    differentiate = jacrev(lambda w: torch.tanh(x @ w))
    return lambda: [differentiate(w)]


def batch_jacobian(x, w1, w2):
    x, w1, w2 = torch.tensor(x), torch.tensor(w1), torch.tensor(w2)
    differentiate = vmap(jacrev(lambda row: torch.tanh(row @ w1) @ w2))
    return lambda: [differentiate(x)]


def second_order(x, w1, w2):
    x, parameters = torch.tensor(x), [leaf(w1), leaf(w2)]

    def step():
        loss = (torch.tanh(x @ parameters[0]) @ parameters[1] - 1).square().mean()
        d1, d2 = torch.autograd.grad(loss, parameters, create_graph=True)
        norm = d1.square().sum() + d2.square().sum()
        return torch.autograd.grad(norm, parameters)

    return step
