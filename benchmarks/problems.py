"""Sizes and input data of every workload, the same for every framework."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Problem:
    """One row of the table; `data` goes to the workload of the same `kind` as keyword arguments."""

    name: str
    kind: str
    about: str
    data: dict[str, Any] = field(repr=False)
    per: int = 1  # number of ops per step; divides the time of a step
    rtol: float = 1e-4
    atol: float = 1e-6
    group: str = "step"  # "op", "layer" (a single layer, forward and backward) or "step"
    compiled: bool = True  # whether it is measured compiled
    eager: bool = True  # whether it is measured op by op


def normal(seed, *shape, scale=1.0):
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


def mlp(batch, *sizes):
    """A classifier's batch, its initial weights and biases, and a learning rate."""
    layers = enumerate(pairwise(sizes))
    weights = [normal(i, n, m, scale=(2 / n) ** 0.5) for i, (n, m) in layers]
    return {
        "x": normal(100, batch, sizes[0]),
        "y": np.random.default_rng(101).integers(0, sizes[-1], batch).astype(np.int32),
        "weights": weights,
        "biases": [np.zeros(w.shape[1], np.float32) for w in weights],
        "rate": 0.1,
    }


def mlp_step(name, about, *sizes):
    # A step changes the parameters by a thousandth: only a tight tolerance checks the gradient.
    return Problem(name, "mlp", about, mlp(*sizes), rtol=3e-6, atol=1e-6)


def two_layers(batch, n, hidden, m):
    """A smooth regression network tanh(x W1) W2 for second derivatives and jacobians."""
    return {
        "x": normal(1, batch, n),
        "w1": normal(2, n, hidden, scale=n**-0.5),
        "w2": normal(3, hidden, m, scale=hidden**-0.5),
    }


def filters(seed, *shape):
    """Initial filters that preserve the scale of activations (He initialisation)."""
    return normal(seed, *shape, scale=(2 / np.prod(shape[:-1])) ** 0.5)


def cnn(batch, size, channels, *widths, classes):
    """A classifier of images: 3×3 filters with a pool after each, then a dense layer."""
    depths = enumerate(pairwise([channels, *widths]))
    flat = (size // 2 ** len(widths)) ** 2 * widths[-1]
    return {
        "x": normal(110, batch, size, size, channels),
        "y": np.random.default_rng(111).integers(0, classes, batch).astype(np.int32),
        "kernels": [filters(120 + i, 3, 3, c, o) for i, (c, o) in depths],
        "dense": normal(112, flat, classes, scale=flat**-0.5),
        "biases": [np.zeros(n, np.float32) for n in [*widths, classes]],
        "rate": 0.1,
    }


def residual(batch, size, channels):
    """Two convolutions with batch normalisation, and a skip connection."""
    return {
        "x": normal(130, batch, size, size, channels),
        "kernels": [filters(131 + i, 3, 3, channels, channels) for i in range(2)],
        "scales": [1 + normal(133 + i, channels, scale=0.1) for i in range(2)],
        "offsets": [normal(135 + i, channels, scale=0.1) for i in range(2)],
        "g": normal(137, batch, size, size, channels),
    }


def convolution(batch, size, channels, outs):
    """Images, filters over all channels, and a cotangent."""
    return {
        "x": normal(140, batch, size, size, channels),
        "w": filters(141, 3, 3, channels, outs),
        "g": normal(142, batch, size, size, outs),
    }


def embedding(rows, width, batch, length):
    """An embedding table, the ids of a batch of texts, and a cotangent."""
    return {
        "table": normal(150, rows, width),
        "ids": np.random.default_rng(151).integers(0, rows, (batch, length)).astype(np.int32),
        "g": normal(152, batch, length, width),
        "rate": 0.1,
    }


def normalisation(*shape):
    """An input, a scale and an offset for its last axis, and a cotangent."""
    return {
        "x": 1 + normal(160, *shape),
        "scale": 1 + normal(161, shape[-1], scale=0.1),
        "offset": normal(162, shape[-1], scale=0.1),
        "g": normal(163, *shape),
    }


def lstm(steps, batch, n, hidden):
    """Sequences, initial states, weights of the gates i, f, c, o, and a cotangent of outputs."""
    return {
        "x": normal(160, steps, batch, n),
        "c": normal(161, batch, hidden, scale=0.5),
        "h": normal(162, batch, hidden, scale=0.5),
        "w": normal(163, n + hidden, 4 * hidden, scale=(n + hidden) ** -0.5),
        "b": normal(164, 4 * hidden, scale=0.1),
        "g": normal(165, steps, batch, hidden),
    }


def attention(batch, steps, width, heads):
    """Sequences, the four projections of self-attention, and a cotangent."""
    return {
        "x": normal(170, batch, steps, width),
        "weights": [normal(171 + i, width, width, scale=width**-0.5) for i in range(4)],
        "heads": heads,
        "g": normal(175, batch, steps, width),
    }


def deep(*sizes):
    """Weights and biases of a tanh network."""
    weights = [normal(300 + i, n, m, scale=n**-0.5) for i, (n, m) in enumerate(pairwise(sizes))]
    biases = [normal(400 + i, w.shape[1], scale=0.1) for i, w in enumerate(weights)]
    return {"weights": weights, "biases": biases}


def pinn(points, hidden):
    """Data for u'' = -π² sin(π x) on [0, 1] with u = 0 at the ends: points, f, ends and network."""
    x = np.linspace(0, 1, points + 2, dtype=np.float32)[1:-1, None]
    net = deep(1, hidden, hidden, 1)
    f = (-(np.pi**2) * np.sin(np.pi * x)).astype(np.float32)
    return {"x": x, "f": f, "ends": np.float32([[0], [1]]), **net, "rate": 1e-3}


def logistic(rows, n):
    """A logistic regression with noisy labels ±1; the weights start at zero."""
    a = normal(200, rows, n)
    score = a @ normal(201, n) + 2 * normal(202, rows)
    return {"a": a, "y": np.sign(score), "w": np.zeros(n, np.float32), "decay": 0.01}


def adam(batch, layers, width):
    """A deep network, its targets, and the constants of Adam."""
    return {
        "x": normal(210, batch, width),
        "y": normal(211, batch, width),
        **deep(*[width] * (layers + 1)),
        "rate": 1e-3,
        "decays": (0.9, 0.999),
        "epsilon": 1e-5,
    }


LOOP = 50
ROSENBROCK = {"x": np.float32(-1.2), "y": np.float32(1), "rate": 1e-3}
CHAIN = {"x": np.float32(0.7), "repeats": 200}


def op(name, kind, about):
    return Problem(name, kind, about, CHAIN, 3 * CHAIN["repeats"], group="op", compiled=False)


PROBLEMS = [
    op("op, outside a tape", "chain_outside", "scalar op without a tape"),
    op("op, unwatched", "chain_unwatched", "the same under a tape that watches other tensors"),
    op("op, recorded", "chain", "scalar op, forward and backward, in a chain"),
    mlp_step("MLP tiny", "batch 8, 4-16-3: a step of SGD", 8, 4, 16, 3),
    mlp_step("MLP small", "batch 32, 64-64-10", 32, 64, 64, 10),
    mlp_step("MLP medium", "batch 128, 784-256-128-10", 128, 784, 256, 128, 10),
    mlp_step("MLP wide", "batch 256, 784-1024-1024-10", 256, 784, 1024, 1024, 10),
    Problem("elementwise 10^6", "elementwise", "sum(tanh(x) x + x²)", {"x": normal(7, 1_000_000)}),
    Problem(
        "jacobian",
        "jacobian",
        "tanh(x W), 320 outputs by 64×64 weights",
        {"x": normal(8, 5, 64), "w": normal(9, 64, 64, scale=0.125)},
    ),
    Problem(
        "batch jacobian",
        "batch_jacobian",
        "batch 32, tanh(x W1) W2, 16 outputs by 64 inputs",
        two_layers(32, 64, 64, 16),
    ),
    Problem(
        "second order",
        "second_order",
        "gradient of the gradient's squared norm, batch 32, 32-32-1",
        two_layers(32, 32, 32, 1),
    ),
    Problem(
        "CNN",
        "cnn",
        "batch 32, 28×28, 3×3 1→32→64 with pools, dense: a step of SGD",
        cnn(32, 28, 1, 32, 64, classes=10),
        atol=1e-5,
    ),
    Problem(
        "convolution 3×3",
        "convolution",
        "batch 32, 28×28, 32→64, forward and both gradients",
        convolution(32, 28, 32, 64),
        rtol=1e-3,
        atol=3e-3,
        group="layer",
    ),
    Problem(
        "residual block",
        "residual",
        "batch 16, 16×16×32, two 3×3 with batch normalisation, all gradients",
        residual(16, 16, 32),
        rtol=1e-3,
        atol=3e-3,
    ),
    Problem(
        "depthwise 3×3",
        "depthwise",
        "batch 32, 28×28×32, forward and both gradients",
        {**convolution(32, 28, 32, 32), "w": filters(143, 3, 3, 32, 1)},
        rtol=1e-3,
        atol=3e-3,
        group="layer",
    ),
    Problem(
        "embedding",
        "embedding",
        "10,000×64, 32 texts of 50: lookup, sparse gradient, update",
        embedding(10_000, 64, 32, 50),
    ),
    Problem(
        "batch norm",
        "batch_norm",
        "batch 32, 28×28×64, moments of the batch, all gradients",
        normalisation(32, 28, 28, 64),
        rtol=1e-3,
        atol=2e-2,  # of sums over 25,000 positions
        group="layer",
    ),
    Problem(
        "layer norm",
        "layer_norm",
        "4096 rows of 256, all gradients",
        normalisation(4096, 256),
        rtol=1e-3,
        atol=3e-3,
        group="layer",
    ),
    Problem(
        "softmax",
        "softmax",
        "4096 rows of 256, forward and backward",
        {"x": normal(164, 4096, 256), "g": normal(165, 4096, 256)},
        group="layer",
    ),
    Problem(
        "gelu",
        "gelu",
        "10^6, exact, forward and backward",
        {"x": normal(166, 1_000_000), "g": normal(167, 1_000_000)},
        group="layer",
    ),
    Problem(
        "LSTM",
        "lstm",
        "50 steps, batch 16, 64→64, one op, all gradients",
        lstm(50, 16, 64, 64),
        rtol=1e-3,
        atol=1e-4,
    ),
    Problem(
        "LSTM, cell loop",
        "lstm_loop",
        "the same as a Python loop over steps",
        lstm(50, 16, 64, 64),
        rtol=1e-3,
        atol=1e-4,
    ),
    Problem(
        "attention",
        "attention",
        "batch 8, 64 steps of 128, 4 heads, written out, all gradients",
        attention(8, 64, 128, 4),
        atol=1e-4,
    ),
    Problem(
        "attention, einsum",
        "attention_einsum",
        "the same, written as in Keras",
        attention(8, 64, 128, 4),
        atol=1e-4,
    ),
    Problem(
        "attention, fused",
        "attention_fused",
        "the same with the framework's fused op, if it has one",
        attention(8, 64, 128, 4),
        atol=1e-4,
    ),
    Problem(
        "pipeline",
        "pipeline",
        "shuffle, map, batch of 32, prefetch: a batch of 16 numbers and a label",
        {
            "x": normal(150, 4096, 16),
            "y": np.arange(4096, dtype=np.int32),
            "buffer": 1024,
            "batch": 32,
        },
        4096 // 32,
        group="op",
        compiled=False,
    ),
    Problem(
        "PINN",
        "pinn",
        "u'' = f at 128 points, 1-32-32-1, nested tapes: a step of SGD",
        pinn(128, 32),
        atol=1e-5,
    ),
    Problem(
        "Newton",
        "newton",
        "logistic regression, 256 rows of 32, full hessian, a Newton step",
        logistic(256, 32),
        rtol=1e-3,
        atol=1e-4,
    ),
    Problem("Rosenbrock", "rosenbrock", "a step of gradient descent on two scalars", ROSENBROCK),
    Problem(
        "Rosenbrock, loop inside",
        "rosenbrock_loop",
        "50 such steps in one call, time of one",
        {**ROSENBROCK, "steps": LOOP},
        LOOP,
        rtol=1e-3,
        eager=False,  # JAX always compiles its loop
    ),
    Problem(
        "Adam, 100 variables",
        "adam",
        "50 layers of 16, batch 8: gradients and a step of Adam, written out",
        adam(8, 50, 16),
        atol=1e-5,
    ),
]

MEMORY = [
    Problem("tape memory, MLP", "mlp_memory", "batch 512, 8 layers of 256", mlp(512, *[256] * 9)),
    Problem(
        "tape memory, op",
        "chain_memory",
        "a recorded scalar op",
        {"x": np.float32(0.7), "repeats": 2000},
        6000,
    ),
]
