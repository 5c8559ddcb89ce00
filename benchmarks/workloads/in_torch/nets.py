"""Layers and networks in PyTorch.

Images are (batch, channels, height, width) here, and filters (outputs, channels, height, width), as
is PyTorch's default. Results are permuted back without a copy.
"""

import torch
from torch.nn import functional

from workloads import Work
from workloads.in_torch.basics import descend, leaf


def images(array, requires_grad=False):
    x = torch.tensor(array).permute(0, 3, 1, 2).contiguous()
    return x.requires_grad_(requires_grad)


def filters(array):
    return torch.tensor(array).permute(3, 2, 0, 1).contiguous().requires_grad_()


def images_back(x):
    return x.permute(0, 2, 3, 1)


def filters_back(w):
    return w.permute(2, 3, 1, 0)


class Rows:
    """A view whose leading axes are merged when it is read, because merging copies."""

    def __init__(self, view):
        self.view = view

    def detach(self):
        return self.view.reshape(-1, self.view.shape[-1])


def cnn(x, y, kernels, dense, biases, rate):
    x, y = images(x), torch.tensor(y).long()
    channels = kernels[-1].shape[-1]
    side = round((len(dense) / channels) ** 0.5)
    kernels, biases = [filters(w) for w in kernels], [leaf(b) for b in biases]
    dense = torch.tensor(dense).view(side, side, channels, -1).permute(2, 0, 1, 3)
    dense = dense.reshape(side * side * channels, -1).clone().requires_grad_()
    parameters = [*kernels, dense, *biases]

    def loss_of(h, y):
        for w, b in zip(kernels, biases[:-1], strict=True):
            h = functional.max_pool2d(torch.relu(functional.conv2d(h, w, b, padding=1)), 2)
        return functional.cross_entropy(torch.addmm(biases[-1], h.flatten(1), dense), y)

    def step(x, y):
        loss = loss_of(x, y)
        descend(parameters, torch.autograd.grad(loss, parameters), rate)
        return [loss]

    # The other frameworks order the rows of the dense layer as NHWC.
    by_place = dense.detach().view(channels, side, side, -1).permute(1, 2, 0, 3)
    return Work(step, [x, y], [*map(filters_back, kernels), Rows(by_place), *biases])


def convolution(x, w, g):
    x, w, g = images(x, requires_grad=True), filters(w), images(g)

    def step(x, g):
        y = functional.conv2d(x, w, padding=1)
        dx, dw = torch.autograd.grad(y, (x, w), g)
        return [images_back(y), images_back(dx), filters_back(dw)]

    return Work(step, [x, g])


def depthwise(x, w, g):
    channels = x.shape[-1]
    w = torch.tensor(w).permute(2, 3, 0, 1).contiguous().requires_grad_()
    x, g = images(x, requires_grad=True), images(g)

    def step(x, g):
        y = functional.conv2d(x, w, padding=1, groups=channels)
        dx, dw = torch.autograd.grad(y, (x, w), g)
        return [images_back(y), images_back(dx), dw.permute(2, 3, 0, 1)]

    return Work(step, [x, g])


def residual(x, kernels, scales, offsets, g):
    x, g = images(x, requires_grad=True), images(g)
    kernels = [filters(w) for w in kernels]
    scales, offsets = [leaf(s) for s in scales], [leaf(o) for o in offsets]

    def normalise(x, i):
        return functional.batch_norm(x, None, None, scales[i], offsets[i], training=True, eps=1e-3)

    def step(x, g):
        y = torch.relu(normalise(functional.conv2d(x, kernels[0], padding=1), 0))
        y = torch.relu(normalise(functional.conv2d(y, kernels[1], padding=1), 1) + x)
        sources = (x, *kernels, *scales, *offsets)
        dx, d0, d1, *others = torch.autograd.grad(y, sources, g)
        return [images_back(y), images_back(dx), filters_back(d0), filters_back(d1), *others]

    return Work(step, [x, g])


def embedding(table, ids, g, rate):
    table, ids, g = leaf(table), torch.tensor(ids).long(), torch.tensor(g)

    def step(ids, g):
        value = (functional.embedding(ids, table, sparse=True) * g).sum()
        (slices,) = torch.autograd.grad(value, table)
        with torch.no_grad():
            table.add_(slices, alpha=-rate)
        return [value]

    return Work(step, [ids, g], [table])


def batch_norm(x, scale, offset, g):
    x, g = images(x, requires_grad=True), images(g)
    scale, offset = leaf(scale), leaf(offset)

    def step(x, g):
        y = functional.batch_norm(x, None, None, scale, offset, training=True, eps=1e-3)
        dx, *others = torch.autograd.grad(y, (x, scale, offset), g)
        return [images_back(y), images_back(dx), *others]

    return Work(step, [x, g])


def layer_norm(x, scale, offset, g):
    shape = (x.shape[-1],)

    def normalise(x, scale, offset):
        return functional.layer_norm(x, shape, scale, offset, eps=1e-3)

    return make_pullback_step(normalise, g, x, scale, offset)


def softmax(x, g):
    return make_pullback_step(lambda x: torch.softmax(x, -1), g, x)


def gelu(x, g):
    return make_pullback_step(functional.gelu, g, x)


def make_pullback_step(function, g, *sources):
    """Make a step that computes `function` and the gradients of all its inputs."""
    sources, g = [leaf(s) for s in sources], torch.tensor(g)

    def step(g, *sources):
        y = function(*sources)
        return [y, *torch.autograd.grad(y, sources, g)]

    return Work(step, [g, *sources])


def lstm(x, c, h, w, b, g):
    n = x.shape[-1]
    x, g = leaf(x), torch.tensor(g)
    first = (torch.tensor(h)[None], torch.tensor(c)[None])
    module = torch.nn.LSTM(n, h.shape[-1])
    values = [w[:n].T, w[n:].T, b, 0 * b]
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), values, strict=True):
            parameter.copy_(torch.tensor(value))
    parameters = list(module.parameters())[:3]

    def step(x, g):
        y, _ = module(x, first)
        dx, d0, d1, db = torch.autograd.grad(y, (x, *parameters), g)
        return [y, dx, torch.cat([d0.T, d1.T]), db]

    return Work(step, [x, g])


def lstm_loop(x, c, h, w, b, g):
    n = x.shape[-1]
    x, c, h, g = leaf(x), torch.tensor(c), torch.tensor(h), torch.tensor(g)
    inputs, recurrent, b = leaf(w[:n]), leaf(w[n:]), leaf(b)

    def outputs(x):
        state, out = c, h
        for row in x.unbind():
            gates = torch.addmm(torch.addmm(b, row, inputs), out, recurrent)
            i, f, candidate, o = gates.chunk(4, 1)
            state = torch.sigmoid(f) * state + torch.sigmoid(i) * torch.tanh(candidate)
            out = torch.sigmoid(o) * torch.tanh(state)
            yield out

    def step(x, g):
        y = torch.stack(list(outputs(x)))
        dx, d0, d1, db = torch.autograd.grad(y, (x, inputs, recurrent, b), g)
        return [y, dx, torch.cat([d0, d1]), db]

    return Work(step, [x, g])


def attention_with(attend, x, weights, heads, g):
    batch, steps, width = x.shape
    x, g, weights = leaf(x), torch.tensor(g), [leaf(w) for w in weights]

    def split_heads(x):
        return x.view(batch, steps, heads, width // heads).transpose(1, 2)

    def step(x, g):
        y = attend(*(split_heads(x @ w) for w in weights[:3]))
        y = y.transpose(1, 2).reshape(batch, steps, width) @ weights[3]
        return [y, *torch.autograd.grad(y, (x, *weights), g)]

    return Work(step, [x, g])


def attention(x, weights, heads, g):
    scale = (x.shape[-1] // heads) ** -0.5

    def attend(q, k, v):
        return torch.softmax((q * scale) @ k.transpose(-1, -2), -1) @ v

    return attention_with(attend, x, weights, heads, g)


def attention_fused(x, weights, heads, g):
    return attention_with(functional.scaled_dot_product_attention, x, weights, heads, g)


def attention_einsum(x, weights, heads, g):
    width = x.shape[-1]
    x, g, weights = leaf(x), torch.tensor(g), [leaf(w) for w in weights]
    scale = (width // heads) ** -0.5

    def step(x, g):
        apart = [w.view(width, heads, -1) for w in weights[:3]]
        q, k, v = (torch.einsum("abc,cde->abde", x, w) for w in apart)
        p = torch.softmax(torch.einsum("aecd,abcd->acbe", k, q * scale), -1)
        y = torch.einsum("acbe,aecd->abcd", p, v)
        y = torch.einsum("abcd,cde->abe", y, weights[3].view(heads, -1, width))
        return [y, *torch.autograd.grad(y, (x, *weights), g)]

    return Work(step, [x, g])
