"""Random directions and cotangents for the checks, and comparisons of results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.sweep.pullback import Arrays, Case, call, is_float
from tests.sweep.sample import Sample


def pair(u: Any, v: Any) -> float:
    """The bilinear pairing without a conjugate, as in the engine."""
    return float(np.sum(np.asarray(u) * np.asarray(v)).real)


def same(a: Any, b: Any, what: str) -> None:
    """Assert equality up to rounding."""
    assert np.asarray(a).dtype == np.asarray(b).dtype, what
    if is_float(b):
        a, b = to_double(a), to_double(b)
        scale = np.max(np.abs(b), initial=0) if np.all(np.isfinite(b)) else 0
        assert_allclose(a, b, rtol=1e-11, atol=1e-12 + 1e-11 * scale, err_msg=what)
    else:
        assert_array_equal(a, b, err_msg=what)


def random_like(rng: np.random.Generator, x: Any) -> Any:
    """Normal numbers like `x`, rounded to multiples of 1/16, which every float dtype represents."""
    x = np.asarray(x)
    values = np.round(rng.standard_normal(x.shape) * 16) / 16
    if x.dtype.kind == "c":
        values = values + 1j * np.round(rng.standard_normal(x.shape) * 16) / 16
    return np.asarray(values).astype(x.dtype)[()]


def direction(rng: np.random.Generator, sample: Sample, i: int) -> Any:
    """A random direction in which the i-th argument may move."""
    v = random_like(rng, sample.args[i])
    return sample.tangent[i](v) if i in sample.tangent else v


def move_args(sample: Sample, directions: dict[int, Any], h: float) -> Arrays:
    """Move the arguments by `h` along directions."""
    args = (a + h * directions[i] if i in directions else a for i, a in enumerate(sample.args))
    return sample.recompute_bound(tuple(args))


def shift_cotangents(us: Arrays, dus: list[Any], h: float) -> Arrays:
    """Move cotangents by `h` along `dus`."""
    return tuple(None if u is None else u + h * du for u, du in zip(us, dus, strict=True))


def pick_lead(us: Arrays, i: Any) -> Arrays:
    """Take element `i` of the lead axes of each cotangent."""
    return tuple(None if u is None else u[i] for u in us)


def zip_present(first: Any, *others: Any) -> Iterator[tuple[Any, ...]]:
    """Zip, without the tuples whose first part is None."""
    return (parts for parts in zip(first, *others, strict=True) if parts[0] is not None)


def cotangents(
    rng: np.random.Generator, case: Case, lead: tuple[int, ...] = ()
) -> Iterator[Arrays]:
    """Cotangents of all differentiable outputs; then of each alone, if there are several."""
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


def to_double(a: Any) -> Any:
    """Convert to float64 or complex128."""
    a = np.asarray(a)
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
