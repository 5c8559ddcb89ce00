"""What is measured: sizes and input data of every workload, the same for every framework."""

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
    per: int = 1  # divides the time of one step: how many ops it makes
    rtol: float = 1e-4
    atol: float = 1e-6


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
    # The parameters move by a thousandth: only a narrow tolerance sees the gradient in them.
    return Problem(name, "mlp", about, mlp(*sizes), rtol=3e-6, atol=1e-6)


def two_layers(batch, n, hidden, m):
    """A smooth regression net tanh(x W1) W2 for second order and for jacobians."""
    return {
        "x": normal(1, batch, n),
        "w1": normal(2, n, hidden, scale=n**-0.5),
        "w2": normal(3, hidden, m, scale=hidden**-0.5),
    }


CHAIN = {"x": np.float32(0.7), "repeats": 200}
OPS = 3 * CHAIN["repeats"]

PROBLEMS = [
    Problem("op, outside a tape", "chain_outside", "scalar op, nobody records", CHAIN, OPS),
    Problem("op, unwatched", "chain_unwatched", "the same while a tape watches others", CHAIN, OPS),
    Problem("op, recorded", "chain", "scalar op, forward and backward, in a chain", CHAIN, OPS),
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
]

MEMORY = [
    Problem("tape memory, MLP", "mlp_held", "batch 512, 8 layers of 256", mlp(512, *[256] * 9)),
    Problem(
        "tape memory, op",
        "chain_held",
        "a recorded scalar op",
        {"x": np.float32(0.7), "repeats": 2000},
        6000,
    ),
]
