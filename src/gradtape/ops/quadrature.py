"""Rules of quadrature for kernels and lowerings: constants, so always in NumPy."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def gauss(count: int) -> tuple[Any, Any]:
    """Nodes and weights of Gauss and Legendre on [0, 1]."""
    from numpy.polynomial.legendre import leggauss

    nodes, weights = leggauss(count)
    return (nodes + 1) / 2, weights / 2
