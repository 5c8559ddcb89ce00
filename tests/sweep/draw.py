"""Numbers for the checks: directions and cotangents of a case, and how results are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.sweep.pullback import Arrays, Case, call, is_float
from tests.sweep.sample import Sample


def pair(u: Any, v: Any) -> float:
    """The bare bilinear pairing: no conjugate, as in the engine."""
    return float(np.sum(np.asarray(u) * np.asarray(v)).real)


def same(a: Any, b: Any, what: str) -> None:
    """Equal up to rounding."""
    assert np.asarray(a).dtype == np.asarray(b).dtype, what
    if is_float(b):
        a, b = widened(a), widened(b)
        scale = np.max(np.abs(b), initial=0) if np.all(np.isfinite(b)) else 0
        assert_allclose(a, b, rtol=1e-11, atol=1e-12 + 1e-11 * scale, err_msg=what)
    else:
        assert_array_equal(a, b, err_msg=what)


def random_like(rng: np.random.Generator, x: Any) -> Any:
    """Normal numbers of the shape and dtype of `x`, on a grid that every float holds exactly."""
    x = np.asarray(x)
    values = np.round(rng.standard_normal(x.shape) * 16) / 16
    if x.dtype.kind == "c":
        values = values + 1j * np.round(rng.standard_normal(x.shape) * 16) / 16
    return np.asarray(values).astype(x.dtype)[()]


def direction(rng: np.random.Generator, sample: Sample, i: int) -> Any:
    """A direction in which the i-th argument may move."""
    v = random_like(rng, sample.args[i])
    return sample.tangent[i](v) if i in sample.tangent else v


def moved(sample: Sample, directions: dict[int, Any], h: float) -> Arrays:
    """Arguments moved by `h` along directions."""
    args = (a + h * directions[i] if i in directions else a for i, a in enumerate(sample.args))
    return sample.rebound(tuple(args))


def shifted(us: Arrays, dus: list[Any], h: float) -> Arrays:
    """Cotangents moved by `h`."""
    return tuple(None if u is None else u + h * du for u, du in zip(us, dus, strict=True))


def picked(us: Arrays, i: Any) -> Arrays:
    """Element `i` of the lead axes of each cotangent."""
    return tuple(None if u is None else u[i] for u in us)


def present(first: Any, *others: Any) -> Iterator[tuple[Any, ...]]:
    """Tuples whose first part is not None."""
    return (parts for parts in zip(first, *others, strict=True) if parts[0] is not None)


def cotangents(
    rng: np.random.Generator, case: Case, lead: tuple[int, ...] = ()
) -> Iterator[Arrays]:
    """Cotangents of all differentiable outputs; then, if there are several, of each alone."""
    values = call(case.op, case.sample.args, case.sample.static)
    us = [
        random_like(rng, np.zeros(lead + np.shape(v), v.dtype)) if is_float(v) else None
        for v in values
    ]
    for k, project in case.sample.cotangent.items():
        us[k] = project(us[k])
    yield tuple(us)
    live = [k for k, u in enumerate(us) if u is not None]
    for k in live if len(live) > 1 else ():
        yield tuple(u if j == k else None for j, u in enumerate(us))


def widened(a: Any) -> Any:
    """As float64 or complex128."""
    a = np.asarray(a)
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
