"""Tridiagonal systems that may be singular: pivots that are too small are perturbed.

The algorithm is LAPACK's (xLAGTF and xLAGTS), with the tolerance that TensorFlow uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import conj
from gradtape.ops.linalg.band_matrix import (
    banded_solve_shape,
    diagonal_offsets_of,
    shift_axis,
    transpose_bands,
)
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import stack


def perturbed_solve_wrt_bands(g, bands, out, crossed):
    """The diagonals of -y xᵀ, where y solves the transposed system for the cotangent."""
    y, x = perturbed_solve_wrt_b(g, bands, crossed), conj(out) if crossed else out
    rows = [
        -reduce_sum(y * shift_axis(x, offset, axis=-2), axis=(-1,), keepdims=False)
        for offset in diagonal_offsets_of(bands, 1)
    ]
    return stack(*rows, axis=-2)


def perturbed_solve_wrt_b(g, bands, crossed):
    turned = transpose_bands(bands, 1)
    return perturbed_solve(conj(turned) if crossed else turned, g, crossed=False)


@primitive(
    core=2, bands=perturbed_solve_wrt_bands, b=perturbed_solve_wrt_b, shape=banded_solve_shape
)
def perturbed_solve(bands, b, *, crossed: bool):
    """The solution `x` of A @ x = b for tridiagonal A, with perturbed pivots if A is singular.

    Args:
        bands: (..., 3, n), as in `band_matrix`.
        b: (..., n, m).
        crossed: as for `banded_solve`.
    """
    n = bands.shape[-1]
    lead = np.broadcast_shapes(bands.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*lead, *b.shape[-2:])))
    if not x.size:
        return x
    rows = np.array(np.broadcast_to(bands, (*lead, 3, n)))
    with np.errstate(all="ignore"):
        factors = Factors(rows)
        factors.eliminate(x)
        factors.substitute_back(x)
    return x


perturbed_solve.keep_on_host("the number of perturbations of a pivot depends on its value")


class Factors:
    """Factors of tridiagonal matrices by Gaussian elimination with partial pivoting.

    Attributes:
        upper: the three diagonals of U, the main diagonal first.
        lower: the multipliers of L.
        is_swapped: whether a row was swapped with the next one.
    """

    def __init__(self, rows: Any) -> None:
        """Factor matrices given by their super-, main and subdiagonal, which are overwritten."""
        above, main, below = rows[..., 0, :], rows[..., 1, :], rows[..., 2, :]
        n = main.shape[-1]
        second = np.zeros_like(main)  # the second superdiagonal
        self.lower, self.is_swapped = np.zeros_like(main), np.zeros(main.shape, bool)
        above[..., -1] = 0
        scale = np.abs(main[..., 0]) + np.abs(above[..., 0])
        for k in range(n - 1):
            pivot, other = main[..., k].copy(), below[..., k + 1].copy()
            right, diagonal = above[..., k].copy(), main[..., k + 1].copy()
            beyond = above[..., k + 1].copy()
            next_scale = np.abs(other) + np.abs(diagonal) + np.abs(beyond)
            swap = (other != 0) & ~(relative(other, next_scale) <= relative(pivot, scale))
            keep = ~swap
            multiplier = np.where(swap, divide(pivot, other), divide(other, pivot))
            main[..., k] = np.where(swap, other, pivot)
            above[..., k] = np.where(swap, diagonal, right)
            second[..., k] = np.where(swap, beyond, 0)
            main[..., k + 1] = np.where(
                swap, right - multiplier * diagonal, diagonal - multiplier * right
            )
            above[..., k + 1] = np.where(swap, -multiplier * beyond, beyond)
            self.lower[..., k], self.is_swapped[..., k] = multiplier, swap
            scale = np.where(keep, next_scale, scale)
        self.upper = main, above, second

    def eliminate(self, x: Any) -> None:
        """Solve with L, in place."""
        for k in range(x.shape[-2] - 1):
            swap, multiplier = self.is_swapped[..., k, None], self.lower[..., k, None]
            upper, lower = x[..., k, :].copy(), x[..., k + 1, :].copy()
            x[..., k, :] = np.where(swap, lower, upper)
            x[..., k + 1, :] = np.where(
                swap, upper - multiplier * lower, lower - multiplier * upper
            )

    def substitute_back(self, x: Any) -> None:
        """Solve with U, in place, with perturbed pivots."""
        n = x.shape[-2]
        limits = np.finfo(x.dtype)
        largest = np.max([np.abs(part).max(-1) for part in self.upper], axis=0)[..., None]
        step = np.maximum(largest * limits.eps, limits.tiny)
        main, above, second = (part[..., None] for part in self.upper)
        for k in reversed(range(n)):
            rest = x[..., k, :]
            for distance, part in ((1, above), (2, second)):
                if k + distance < n:
                    rest = rest - part[..., k, :] * x[..., k + distance, :]
            x[..., k, :] = divide_perturbed(rest, main[..., k, :], step, limits.tiny)


def relative(value: Any, scale: Any) -> Any:
    """The magnitude of a pivot relative to its row; zero for a zero pivot."""
    return np.where(value == 0, 0, np.abs(value) / np.where(value == 0, 1, scale))


def divide(a: Any, b: Any) -> Any:
    """The quotient `a` / `b`, or zero if `b` is zero."""
    return np.where(b == 0, 0, a / np.where(b == 0, 1, b))


def divide_perturbed(rest: Any, pivot: Any, step: Any, tiny: Any) -> Any:
    """The quotient `rest` / `pivot`, with a pivot increased until this does not overflow."""
    pivot = np.broadcast_to(pivot, rest.shape).copy()
    step = np.broadcast_to(np.copysign(step, pivot.real), rest.shape).copy()
    while True:
        size = np.abs(pivot)
        overflows = (size < 1) & ((size == 0) | (np.abs(rest) * tiny > size))
        if not overflows.any():
            return rest / pivot
        pivot[overflows] += step[overflows]
        step[overflows] *= 2
