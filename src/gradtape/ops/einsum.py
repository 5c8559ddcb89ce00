"""Einstein summation, as a sequence of matrix products.

An equation such as `ij,jk->ik` has no ellipsis, and no label twice in one operand: `tf` has taken
the diagonals and labelled the broadcast axes. An operand may carry lead axes in front of its
labelled ones.
"""

from __future__ import annotations

import string
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import primitive
from gradtape.ops.linalg.matmul import matmul_raw
from gradtape.ops.reduce import broadcast_to, unbroadcast
from gradtape.ops.shape import slice_

LEAD_LABEL = 0x4E00  # code point of the first label for lead axes, which no equation uses


def einsum_wrt_xs(g, xs, xs_spec, out_spec, equation, i):
    """The same sum with the cotangent in place of the i-th operand.

    The result is broadcast along labels that only that operand has.
    """
    others = [x for k, x in enumerate(xs) if k != i]
    turned, known, rank, key = transpose_equation(equation, i)
    part = einsum(g, *others, equation=turned)
    shape = xs_spec[i].shape
    if known < rank:
        part = slice_(part, key=key, rank=known)
        part = broadcast_to(part, shape=shape[len(shape) - rank :], rank=rank)
    return unbroadcast(part, shape, rank, g, out_spec.shape)


@lru_cache(maxsize=4096)
def transpose_equation(equation: str, i: int) -> tuple[str, int, int, tuple[Any, ...]]:
    """Make the equation for the cotangent of the i-th operand.

    Returns:
        The equation; how many of the operand's labels its result has; how many labels the operand
        has; and the `slice_` key that inserts axes for the missing ones.
    """
    inputs, output = equation.split("->")
    labels = inputs.split(",")
    named = [output, *(label for k, label in enumerate(labels) if k != i)]
    known = "".join(label for label in labels[i] if any(label in name for name in named))
    key = tuple(slice(None) if label in known else None for label in labels[i])
    return ",".join(named) + "->" + known, len(known), len(labels[i]), key


def einsum_shape(*xs, equation):
    inputs, output = equation.split("->")
    size: dict[str, Any] = {}
    fronts = []
    for x, labels in zip(xs, inputs.split(","), strict=True):
        at = len(x.shape) - len(labels)
        fronts.append(x.shape[:at])
        for label, n in zip(labels, x.shape[at:], strict=True):
            (size[label],) = broadcast_shapes((size.get(label, 1),), (n,))
    return (*broadcast_shapes(*fronts), *[size[label] for label in output])


@primitive(xs=einsum_wrt_xs, shape=einsum_shape)
def einsum(*xs, equation: str):
    """Sum of products over the labels that are missing on the right of `equation`."""
    dtype = xs[0].dtype
    wide = accumulator(dtype)
    operands = [x.astype(wide) for x in xs] if wide is not dtype else list(xs)
    path = plan_contraction(equation, tuple([x.shape for x in xs]))
    for i, j, plan in path.steps:
        b, a = operands.pop(j), operands.pop(i)
        operands.append(contract_pair(a, b, plan))
    (result,) = operands
    if path.sums:
        result = np.add.reduce(result, axis=path.sums, dtype=wide)
    if path.order is not None:
        result = np.transpose(result, path.order)
    return result if wide is dtype else result.astype(dtype)


class ContractionPath(NamedTuple):
    """The pairwise contractions of an equation, then the axes to sum and their final order."""

    steps: tuple[tuple[int, int, Contraction], ...]
    sums: tuple[int, ...]
    order: tuple[int, ...] | None


@lru_cache(maxsize=4096)
def plan_contraction(equation: str, shapes: tuple[tuple[int, ...], ...]) -> ContractionPath:
    """Plan the contraction of operands of these shapes, which may include lead axes."""
    inputs, output = equation.split("->")
    given = inputs.split(",")
    extra = [len(shape) - len(label) for shape, label in zip(shapes, given, strict=True)]
    labels = [lead_labels(n) + label for n, label in zip(extra, given, strict=True)]
    output = lead_labels(max(extra)) + output
    size = {
        label: n
        for name, shape in zip(labels, shapes, strict=True)
        for label, n in zip(name, shape, strict=True)
    }
    steps = []
    for i, j, kept in plan_pairs(tuple(labels), output, shapes):
        b, a = labels.pop(j), labels.pop(i)
        steps.append((i, j, plan_pair(a, b, kept, size)))
        labels.append(kept)
    (last,) = labels
    return ContractionPath(
        tuple(steps),
        find_dropped_axes(last, output),
        permutation_to(keep_labels(last, output), output),
    )


def lead_labels(n: int) -> str:
    """Labels of `n` lead axes; the last axis of every operand gets the same label."""
    return "".join(chr(LEAD_LABEL + k) for k in range(n, 0, -1))


def plan_pairs(
    labels: tuple[str, ...], output: str, shapes: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, int, str], ...]:
    """List the pairs to contract, the smaller index first, with the labels that each result keeps.

    The result of a pair is appended to the operands.
    """
    names = list(labels)
    steps = []
    for i, j in find_cheap_pairs(labels, output, shapes):
        b, a = names.pop(j), names.pop(i)
        rest = output + "".join(names)
        kept = (
            "".join(dict.fromkeys(label for label in a + b if label in rest)) if names else output
        )
        names.append(kept)
        steps.append((i, j, kept))
    return tuple(steps)


def find_cheap_pairs(
    labels: tuple[str, ...], output: str, shapes: tuple[tuple[int, ...], ...]
) -> list[tuple[int, int]]:
    """Pairs of operands in the order that NumPy's greedy search finds cheapest."""
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


def keep_labels(labels: str, kept: str) -> str:
    """The labels that are in `kept`, in their order."""
    return "".join(label for label in labels if label in kept)


class Contraction(NamedTuple):
    """Plan of one pair: what to sum first, how to make matrices, and the shape of the result."""

    swapped: bool
    sums: tuple[tuple[int, ...], tuple[int, ...]]
    orders: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    inner: bool
    shape: tuple[int, ...]
    order: tuple[int, ...] | None


def contract_pair(a: Any, b: Any, plan: Contraction) -> Any:
    """Contract two operands by one matrix product, or by `*` if no label is summed."""
    x, y = (b, a) if plan.swapped else (a, b)
    x, y = as_matrix_stack(plan, 0, x), as_matrix_stack(plan, 1, y)
    result = (matmul_raw(x, y) if plan.inner else x * y).reshape(plan.shape)
    return result if plan.order is None else np.transpose(result, plan.order)


def as_matrix_stack(plan: Contraction, k: int, x: Any) -> Any:
    """Reshape an operand to a stack of matrices."""
    if plan.sums[k]:
        x = np.add.reduce(x, axis=plan.sums[k], dtype=x.dtype)
    if plan.orders[k] is not None:
        x = np.transpose(x, plan.orders[k])
    return x.reshape(plan.shapes[k])


def plan_pair(a: str, b: str, kept: str, size: dict[str, int]) -> Contraction:
    """Plan the contraction of operands with labels `a` and `b` to the labels `kept`.

    Shared labels that are kept are batch axes; the other shared labels are summed. The left factor
    is the operand whose own labels come first in the result, so that the product is in order.
    """
    swapped = first_own_position(b, a, kept) < first_own_position(a, b, kept)
    if swapped:
        a, b = b, a
    sums = (find_dropped_axes(a, kept + b), find_dropped_axes(b, kept + a))
    a, b = keep_labels(a, kept + b), keep_labels(b, kept + a)
    shared = keep_labels(a, b)
    batch, inner = (
        keep_labels(shared, kept),
        "".join(label for label in shared if label not in kept),
    )
    left = "".join(label for label in a if label not in shared)
    right = "".join(label for label in b if label not in shared)

    def matrix_shape(*groups: str) -> tuple[int, ...]:
        counts = (prod(size[label] for label in group) for group in groups)
        return (*(size[label] for label in batch), *counts)

    free = batch + left + right
    return Contraction(
        swapped,
        sums,
        (permutation_to(a, batch + left + inner), permutation_to(b, batch + inner + right)),
        (matrix_shape(left, inner), matrix_shape(inner, right)),
        bool(inner),
        tuple(size[label] for label in free),
        permutation_to(free, kept),
    )


def first_own_position(a: str, b: str, kept: str) -> int:
    """Position in `kept` of the first label that only `a` has."""
    return next((k for k, label in enumerate(kept) if label in a and label not in b), len(kept))


def find_dropped_axes(labels: str, kept: str) -> tuple[int, ...]:
    """Axes whose labels are not in `kept`."""
    return tuple(k for k, label in enumerate(labels) if label not in kept)


def permutation_to(labels: str, order: str) -> tuple[int, ...] | None:
    """Permutation of axes from `labels` to `order`; None if they are equal."""
    return None if labels == order else tuple(labels.index(label) for label in order)
