"""Samples for `ops/random/stateless.py` and `rejection.py`, which have no rules."""

import numpy as np

from tests.sweep.sample import Sample

KEY, COUNTER = np.array([2**63 + 5], np.uint64), np.array([2**64 - 2, 9], np.uint64)
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]


def draw_samples(*shapes, dtypes=FLOATS, more=()):
    return [
        Sample((KEY, COUNTER, *more), {"shape": shape, "dtype": dtype})
        for shape in shapes
        for dtype in dtypes
    ]


SAMPLES = {
    "key_and_counter": [
        Sample((np.array([1, -2], np.int64),)),
        Sample((np.array([7, -3], np.int32),)),
    ],
    "random_uniform": draw_samples((2, 3), (), (0,)),
    "random_bits": draw_samples(
        (2, 3), (), dtypes=[np.dtype(n) for n in ("int32", "int64", "uint32", "uint64")]
    ),
    "random_integers": [
        Sample((KEY, COUNTER, kind(-5), kind(100)), {"shape": (2, 3)})
        for kind in (np.int32, np.int64)
    ],
    "fresh_uniform": draw_samples((2, 3), (0,), dtypes=FLOATS[1:]),
    "fresh_normal": draw_samples((2, 3), (0,), dtypes=FLOATS[1:]),
    "random_normal": draw_samples((2, 3), (), (0,)),
    "random_gamma": [
        Sample((KEY, COUNTER, alpha), {"shape": shape})
        for alpha, shape in (
            (np.array([0.5, 1.0, 7.0]), (20, 3)),
            (np.float32(2.0), (2, 2)),
            (np.ones(2), (0, 2)),
        )
    ],
    "random_poisson": [
        Sample((KEY, COUNTER, np.array([0.5, 30.0])), {"shape": shape, "dtype": np.dtype("int64")})
        for shape in ((20, 2), (0, 2))
    ],
    "random_binomial": [
        Sample(
            (KEY, COUNTER, np.array([5.0, 90.0]), np.array([0.7, 0.4])),
            {"shape": shape, "dtype": np.dtype("int32")},
        )
        for shape in ((20, 2), (0, 2))
    ],
    "random_classes": [
        Sample(
            (KEY, COUNTER, np.array([[0.0, 1.0], [2.0, -np.inf]])),
            {"samples": n, "dtype": np.dtype("int64")},
        )
        for n in (5, 0)
    ],
    "split_generator_state": [Sample((np.array([-1, 2, 3]),))],
    "skip_ahead": [Sample((np.array([-1, 2, 3]), np.int64(5)))],
    "random_truncated_normal": draw_samples((2, 3), (), (0,), (50,)),
}
