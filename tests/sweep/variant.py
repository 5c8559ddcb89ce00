"""Samples derived from others: in other dtypes, and scalar, empty and broadcast ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from gradtape.core.primitive import Primitive
from tests.sweep.pullback import inputs_with_rules
from tests.sweep.sample import Sample

COMPLEX = {"float32": "complex64", "float64": "complex128"}
EMPTY = [(0,), (2, 0)]
BROADCAST = [
    ((2, 3), (3,), (2, 1), (1, 3), (3,)),
    ((2, 1), (1, 3), (), (2, 3), (1, 3)),
    ((), (2, 3), (1, 3), (3,), ()),
    ((0, 3), (1, 3), (3,), (), (3,)),
    ((3, 1, 1), (2, 1), (3, 2, 1), (2, 1), (2, 1)),
]


def numpy_dtype(name: str) -> Any:
    """The NumPy dtype for a name, bfloat16 included."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def cast_sample(sample: Sample, name: str) -> Sample | None:
    """The sample with floats cast to the dtype `name` and complex numbers to its precision.

    None if there is no complex dtype of that precision.
    """
    target = {np.dtype("float64"): numpy_dtype(name)}
    if any(np.asarray(a).dtype.kind == "c" for a in sample.args):
        if name not in COMPLEX:
            return None
        target[np.dtype("complex128")] = np.dtype(COMPLEX[name])
    args = tuple(
        np.asarray(a).astype(target.get(np.asarray(a).dtype, np.asarray(a).dtype))[()]
        for a in sample.args
    )
    return replace(sample, args=args)


def is_empty(sample: Sample) -> bool:
    """Whether some array has no elements."""
    return any(np.size(a) == 0 for a in sample.args)


def reshape_sample(sample: Sample, shapes: tuple[tuple[int, ...], ...]) -> Sample:
    """The sample's values in other shapes, repeated as needed."""
    args = tuple(np.resize(a, shape)[()] for a, shape in zip(sample.args, shapes, strict=False))
    return replace(sample, args=args)


def elementwise_samples(op: Primitive, samples: list[Sample]) -> list[Sample]:
    """The first sample of each combination of dtypes, for an elementwise op."""
    found: dict[tuple[Any, ...], Sample] = {}
    for sample in samples:
        if op.core_ndim == 0 and not is_empty(sample):
            kinds = tuple(np.asarray(a).dtype for a in sample.args)
            found.setdefault((kinds, *map(str, sample.static.values())), sample)
    return list(found.values())


def scalar_variants(op: Primitive, samples: list[Sample]) -> list[Sample]:
    """Elementwise samples reduced to scalars."""
    chosen = [s for s in elementwise_samples(op, samples) if "scalars" not in s.skip]
    return [reshape_sample(s, ((),) * len(s.args)) for s in chosen]


def empty_variants(op: Primitive, samples: list[Sample]) -> list[Sample]:
    """Samples with an empty array: generated for elementwise ops, given for all others."""
    given = [s for s in samples if is_empty(s)]
    made = [
        reshape_sample(s, (shape,) * len(s.args))
        for s in elementwise_samples(op, samples)
        if "zero_size" not in s.skip
        for shape in EMPTY
    ]
    return [*given, *made]


def needs_empty(op: Primitive, samples: list[Sample]) -> bool:
    """Whether the op needs a sample with an empty array and has none."""
    excused = any("zero_size" in s.skip for s in samples)
    return (
        any(inputs_with_rules(op, s) for s in samples)
        and not excused
        and not empty_variants(op, samples)
    )


def broadcast_variants(op: Primitive, samples: list[Sample]) -> list[Sample]:
    """Elementwise samples of several operands in shapes that broadcast."""
    chosen = [s for s in elementwise_samples(op, samples) if "broadcast" not in s.skip]
    several = [s for s in chosen if len(s.args) > 1]
    return [reshape_sample(s, shapes) for s in several for shapes in BROADCAST]
