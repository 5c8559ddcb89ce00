"""Quadrature rules for kernels and lowerings. They are constants, so always NumPy arrays."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def gauss_legendre(count: int) -> tuple[Any, Any]:
    """Nodes and weights of the Gauss-Legendre rule on [0, 1]."""
    from numpy.polynomial.legendre import leggauss

    nodes, weights = leggauss(count)
    return (nodes + 1) / 2, weights / 2
