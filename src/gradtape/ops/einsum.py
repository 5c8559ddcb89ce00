"""Einstein summation, as a sequence of matrix products.

An equation is written without ellipses and repeated labels within one operand (`tf` takes diagonals
and names the broadcast axes first), so it reads `ij,jk->ik`. An operand may carry lead axes in
front of those it names.
"""

from __future__ import annotations

import string
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.ops.linalg import product
from gradtape.ops.reduce import broadcast_to, fold
from gradtape.ops.shape import slice_

LEAD = 0x4E00  # labels for lead axes start here, out of the way of letters


def einsum_wrt_xs(g, xs, xs_spec, out_spec, equation, i):
    """The same sum with the cotangent in the place of the i-th operand.

    Labels only it had are spread out.
    """
    inputs, output = equation.split("->")
    labels = inputs.split(",")
    others = [x for k, x in enumerate(xs) if k != i]
    named = [output, *(label for k, label in enumerate(labels) if k != i)]
    known = "".join(label for label in labels[i] if any(label in name for name in named))
    part = einsum(g, *others, equation=",".join(named) + "->" + known)
    shape, rank = xs_spec[i].shape, len(labels[i])
    if known != labels[i]:
        key = tuple(slice(None) if label in known else None for label in labels[i])
        part = slice_(part, key=key, rank=len(known))
        part = broadcast_to(part, shape=shape[len(shape) - rank :], rank=rank)
    return fold(part, shape, rank, g, out_spec.shape)


@primitive(xs=einsum_wrt_xs)
def einsum(*xs, equation: str):
    """Sum of products over the labels that are missing on the right of `equation`."""
    inputs, output = equation.split("->")
    labels = inputs.split(",")
    most = 0
    for k, x in enumerate(xs):
        extra = x.ndim - len(labels[k])
        labels[k] = lead_labels(extra) + labels[k]
        most = max(most, extra)
    output = lead_labels(most) + output
    wide = accumulator(xs[0].dtype)
    operands = [x.astype(wide) for x in xs] if wide is not xs[0].dtype else list(xs)
    for i, j, kept in order_of(tuple(labels), output, tuple(x.shape for x in operands)):
        b, b_labels = operands.pop(j), labels.pop(j)
        a, a_labels = operands.pop(i), labels.pop(i)
        operands.append(contract(a, a_labels, b, b_labels, kept))
        labels.append(kept)
    result = arranged(summed(operands[0], labels[0], output), drop(labels[0], output), output)
    return result.astype(xs[0].dtype, copy=False)


def lead_labels(n: int) -> str:
    """Labels of `n` lead axes, which align from the right."""
    return "".join(chr(LEAD + k) for k in range(n, 0, -1))


@lru_cache(maxsize=4096)
def order_of(
    labels: tuple[str, ...], output: str, shapes: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, int, str], ...]:
    """Pairs to contract, the smaller index first, each with the labels it keeps.

    The result goes to the end.
    """
    names = list(labels)
    steps = []
    for i, j in pairs_of(labels, output, shapes):
        b, a = names.pop(j), names.pop(i)
        rest = output + "".join(names)
        kept = (
            "".join(dict.fromkeys(label for label in a + b if label in rest)) if names else output
        )
        names.append(kept)
        steps.append((i, j, kept))
    return tuple(steps)


def pairs_of(
    labels: tuple[str, ...], output: str, shapes: tuple[tuple[int, ...], ...]
) -> list[tuple[int, int]]:
    """The order that NumPy's search finds cheap, two operands at a time."""
    count = len(labels)
    if count <= 2:
        return [(0, 1)] * (count - 1)
    letters = dict.fromkeys("".join(labels))
    ascii_of = str.maketrans({label: string.ascii_letters[k] for k, label in enumerate(letters)})
    equation = (",".join(labels) + "->" + output).translate(ascii_of)
    operands = (np.broadcast_to(np.empty(()), shape) for shape in shapes)
    pairs = []
    for step in np.einsum_path(equation, *operands, optimize="greedy")[0][1:]:
        group = sorted(step)
        while len(group) > 1:
            i, j, *others = group
            pairs.append((i, j))
            count -= 1
            group = [k - (k > i) - (k > j) for k in others] + ([count - 1] if others else [])
    return pairs


def drop(labels: str, kept: str) -> str:
    """Those labels that are kept, in order."""
    return "".join(label for label in labels if label in kept)


def summed(x: Any, labels: str, kept: str) -> Any:
    """`x` summed over the labels that are not kept."""
    axes = gone(labels, kept)
    return np.add.reduce(x, axis=axes, dtype=x.dtype) if axes else x


def arranged(x: Any, labels: str, order: str) -> Any:
    """`x` with its axes in this order."""
    return x if labels == order else np.transpose(x, [labels.index(label) for label in order])


class Contraction(NamedTuple):
    """How two operands become factors of one product: sums, orders of axes and shapes."""

    sums: tuple[tuple[int, ...], tuple[int, ...]]
    orders: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    inner: bool
    shape: tuple[int, ...]
    order: tuple[int, ...] | None


def contract(a: Any, a_labels: str, b: Any, b_labels: str, kept: str) -> Any:
    """One matrix product of two operands; an outer or elementwise product if nothing is summed."""
    plan = contraction(a_labels, a.shape, b_labels, b.shape, kept)
    x, y = (factor(plan, k, operand) for k, operand in enumerate((a, b)))
    result = (product(x, y) if plan.inner else x * y).reshape(plan.shape)
    return result if plan.order is None else np.transpose(result, plan.order)


def factor(plan: Contraction, k: int, x: Any) -> Any:
    """An operand as a stack of matrices."""
    if plan.sums[k]:
        x = np.add.reduce(x, axis=plan.sums[k], dtype=x.dtype)
    if plan.orders[k] is not None:
        x = np.transpose(x, plan.orders[k])
    return x.reshape(plan.shapes[k])


@lru_cache(maxsize=4096)
def contraction(
    a_labels: str, a_shape: tuple[int, ...], b_labels: str, b_shape: tuple[int, ...], kept: str
) -> Contraction:
    """Shared labels that are kept are batch axes; the other shared ones are summed."""
    size = {
        **dict(zip(a_labels, a_shape, strict=True)),
        **dict(zip(b_labels, b_shape, strict=True)),
    }
    sums = (gone(a_labels, kept + b_labels), gone(b_labels, kept + a_labels))
    a_labels, b_labels = drop(a_labels, kept + b_labels), drop(b_labels, kept + a_labels)
    shared = drop(a_labels, b_labels)
    batch, inner = drop(shared, kept), "".join(label for label in shared if label not in kept)
    left = "".join(label for label in a_labels if label not in shared)
    right = "".join(label for label in b_labels if label not in shared)

    def merged(*groups: str) -> tuple[int, ...]:
        counts = (prod(size[label] for label in group) for group in groups)
        return (*(size[label] for label in batch), *counts)

    free = batch + left + right
    return Contraction(
        sums,
        (axes_in(a_labels, batch + left + inner), axes_in(b_labels, batch + inner + right)),
        (merged(left, inner), merged(inner, right)),
        bool(inner),
        tuple(size[label] for label in free),
        axes_in(free, kept),
    )


def gone(labels: str, kept: str) -> tuple[int, ...]:
    """Axes whose labels are not kept."""
    return tuple(k for k, label in enumerate(labels) if label not in kept)


def axes_in(labels: str, order: str) -> tuple[int, ...] | None:
    """Axes in this order; None if that is how they are."""
    return None if labels == order else tuple(labels.index(label) for label in order)
