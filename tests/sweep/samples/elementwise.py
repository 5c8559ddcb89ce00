"""Samples for `ops/elementwise.py`."""

import numpy as np

from tests.sweep.sample import (
    Sample,
    booleans,
    complex_normal,
    complex_unit,
    inside,
    integers,
    nonzero,
    normal,
    positive,
    unit,
)

SHAPE = (2, 3)


def one(make, *more):
    """Samples of one argument, one for each maker."""
    return [Sample((some(SHAPE),)) for some in (make, *more)]


def two(make, *more):
    """Samples of two arguments, both from the same maker."""
    return [Sample((some(SHAPE), some(SHAPE))) for some in (make, *more)]


def small_integers(shape):
    """Integers between one and eight."""
    return integers(1, 9, shape)


SAMPLES = {
    "add": two(normal, complex_normal, small_integers),
    "subtract": two(normal, complex_normal, small_integers),
    "multiply": two(normal, complex_normal, small_integers),
    "divide": two(nonzero, complex_normal),
    "negative": one(normal, complex_normal, small_integers),
    "power": [
        Sample((positive(SHAPE), normal(SHAPE))),
        Sample((complex_unit(SHAPE), complex_unit(SHAPE))),
    ],
    "square": one(normal, complex_normal),
    "reciprocal": one(nonzero, complex_normal),
    "sqrt": one(positive, complex_unit),
    "rsqrt": one(positive, complex_unit),
    "exp": one(normal, complex_normal),
    "expm1": one(normal, complex_normal),
    "log": one(positive, complex_normal),
    "log1p": one(positive, complex_unit),
    "sin": one(normal, complex_normal),
    "cos": one(normal, complex_normal),
    "tan": one(inside, complex_unit),
    "asin": one(inside, complex_unit),
    "acos": one(inside, complex_unit),
    "atan": one(normal, complex_unit),
    "atan2": two(nonzero),
    "sinh": one(normal, complex_normal),
    "cosh": one(normal, complex_normal),
    "tanh": one(normal, complex_unit),
    "asinh": one(normal, complex_unit),
    "acosh": [Sample((1 + positive(SHAPE),)), Sample((1 + complex_unit(SHAPE),))],
    "atanh": one(inside, complex_unit),
    **{
        name: two(normal, small_integers)
        for name in ("greater", "greater_equal", "less", "less_equal")
    },
    **{
        name: two(normal, complex_normal, small_integers, booleans)
        for name in ("equal", "not_equal")
    },
    **{name: two(booleans) for name in ("logical_and", "logical_or", "logical_xor")},
    "logical_not": one(booleans),
    **{
        name: [Sample((np.array([1, np.inf, np.nan, -np.inf]),))]
        for name in ("is_nan", "is_inf", "is_finite")
    },
    **{name: one(normal) for name in ("floor", "ceil", "rint")},
    "select": [
        Sample((booleans(SHAPE), normal(SHAPE), normal(SHAPE))),
        Sample((booleans(SHAPE), complex_normal(SHAPE), complex_normal(SHAPE))),
    ],
    "multiply_by_slope": [
        Sample((nonzero(SHAPE), normal(SHAPE))),
        Sample((complex_normal(SHAPE), complex_normal(SHAPE))),
    ],
    "gate": [
        Sample((normal(SHAPE), booleans(SHAPE))),
        Sample((complex_normal(SHAPE), booleans(SHAPE))),
    ],
    "maximum": two(normal),
    "minimum": two(normal),
    "relu": one(normal),
    "where_positive": [Sample((normal(2, 3), normal(2, 3))), Sample((normal(2, 3), normal(3)))],
    "sigmoid": one(normal),
    "absolute": one(nonzero, complex_normal),
    "sign": one(nonzero, complex_normal),
    "conj": one(normal, complex_normal),
    "real": one(complex_normal),
    "imag": one(complex_normal),
    "make_complex": [Sample((normal(SHAPE), normal(SHAPE)), dtypes=("float32", "float64"))],
    "angle": one(complex_normal),
    "zeros_like": one(normal),
    "ones_like": one(normal),
    "cast": [
        Sample((normal(SHAPE),), {"dtype": np.dtype("float64")}),
        Sample((normal(SHAPE),), {"dtype": np.dtype("complex128")}),
        Sample((complex_normal(SHAPE),), {"dtype": np.dtype("complex128")}),
        Sample((complex_normal(SHAPE),), {"dtype": np.dtype("float64")}),
    ],
    "discretize": [
        Sample((normal(SHAPE),), {"dtype": np.dtype("int32")}),
        Sample((integers(0, 5, SHAPE),), {"dtype": np.dtype("float32")}),
    ],
    "identity": one(normal, complex_normal),
    "stop_gradient": one(normal, unit),
    "floordiv": two(positive),
    "truncatediv": two(positive),
    "floormod": [Sample((nonzero(SHAPE), 3 + positive(SHAPE)))],
    "truncatemod": [Sample((nonzero(SHAPE), 3 + positive(SHAPE)))],
    "squared_difference": two(normal),
    "nextafter": [Sample((normal(SHAPE), normal(SHAPE)), dtypes=("float32", "float64"))],
    "add_all": [
        Sample((normal(SHAPE), normal(SHAPE), normal(SHAPE))),
        Sample((complex_normal(SHAPE), complex_normal(SHAPE))),
        Sample((normal(0, 3), normal(0, 3))),
    ],
    "join_strings": [Sample((np.array([b"a", b"b"], object), np.array([b"c", b"d"], object)))],
    "truncate": one(normal),
    "softplus": one(normal),
    "softsign": one(nonzero),
    "angle_of_real": one(normal),
}
