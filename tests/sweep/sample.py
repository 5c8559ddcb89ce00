"""Sample inputs of primitives, and functions that make arrays for them.

A file of `samples/` belongs to the file of the same name in `ops/`. It defines `SAMPLES`, a dict
from the name of a primitive to a list of samples. Floats are float64 and complex numbers
complex128; the sweep casts them to the other dtypes that the op supports. Values must stay inside
the domain and away from kinks when moved by 1e-4. For elementwise ops the sweep adds scalars, empty
arrays and broadcast shapes. Every other op with a rule needs a sample with an empty array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

REALS = ("float16", "bfloat16", "float32", "float64")
WIDE = ("float32", "float64")

generator = np.random.default_rng(20)


@dataclass(frozen=True)
class Sample:
    """One set of arguments of a primitive.

    Attributes:
        args: raw arrays, in the order of the primitive's inputs.
        static: keyword-only arguments.
        dtypes: dtypes to cast float64 arguments to; complex arguments get the same precision.
        tangent: for arguments (by position) that may move only in some directions, a function that
            projects any array to such a direction (`symmetric`, for example).
        cotangent: the same for outputs (by position) with restricted cotangents.
        bound: arguments (by position) that are functions of all arguments, written in primitives;
            they are recomputed when others move.
        skip: properties (names of functions in `check`) that do not hold, each with the reason.
    """

    args: tuple[Any, ...]
    static: dict[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = REALS
    tangent: dict[int, Callable[[Any], Any]] = field(default_factory=dict)
    cotangent: dict[int, Callable[[Any], Any]] = field(default_factory=dict)
    bound: dict[int, Callable[..., Any]] = field(default_factory=dict)
    skip: dict[str, str] = field(default_factory=dict)

    def recompute_bound(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """`args` with the bound ones recomputed."""
        return tuple(self.bound[i](*args) if i in self.bound else a for i, a in enumerate(args))


def normal(*shape: Any) -> Any:
    """Normally distributed numbers; the shape as a tuple or as arguments."""
    return generator.standard_normal(size_of(shape))


def positive(*shape: Any) -> Any:
    """Numbers in [0.5, 2)."""
    return generator.uniform(0.5, 2, size_of(shape))


def unit(*shape: Any) -> Any:
    """Numbers in [0.05, 0.95)."""
    return generator.uniform(0.05, 0.95, size_of(shape))


def inside(*shape: Any) -> Any:
    """Numbers in (-0.95, 0.95), none near zero."""
    return unit(*shape) * sign(*shape)


def nonzero(*shape: Any) -> Any:
    """Numbers of either sign with absolute value in [0.5, 2)."""
    return positive(*shape) * sign(*shape)


def sign(*shape: Any) -> Any:
    """-1 or 1."""
    return generator.choice([-1.0, 1.0], size_of(shape))


def complex_normal(*shape: Any) -> Any:
    """Complex numbers with normally distributed parts."""
    return normal(*shape) + 1j * normal(*shape)


def complex_unit(*shape: Any) -> Any:
    """Complex numbers with parts in [0.05, 0.95)."""
    return unit(*shape) + 1j * unit(*shape)


def integers(low: int, high: int, *shape: Any, dtype: str = "int32") -> Any:
    """Integers in [low, high)."""
    return np.asarray(generator.integers(low, high, size_of(shape))).astype(dtype)


def booleans(*shape: Any) -> Any:
    """True and False."""
    return np.asarray(generator.integers(0, 2, size_of(shape))).astype(bool)


def symmetric(x: Any) -> Any:
    """The Hermitian part of a stack of matrices."""
    return (x + np.conj(np.swapaxes(x, -1, -2))) / 2


def matrices(*shape):
    """Well-conditioned square matrices with separated eigenvalues and singular values."""
    n = shape[-1]
    return normal(*shape) / 3 + np.diag(np.arange(1, n + 1) * 1.5)


def definite(*shape: Any) -> Any:
    """Symmetric positive definite matrices, well conditioned."""
    x = normal(*shape)
    return x @ np.swapaxes(x, -1, -2) / x.shape[-1] + np.eye(x.shape[-1])


def triangular(*shape: Any) -> Any:
    """Lower triangular matrices, well conditioned."""
    x = normal(*shape)
    return np.tril(x, -1) / x.shape[-1] + np.eye(x.shape[-1]) * positive(*x.shape)


def size_of(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as one tuple or as several numbers, as a tuple."""
    return shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
