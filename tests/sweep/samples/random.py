"""Random numbers: no rules, so that only kernels and lowerings are compared."""

import numpy as np

from tests.sweep.sample import Sample

KEY, COUNTER = np.array([2**63 + 5], np.uint64), np.array([2**64 - 2, 9], np.uint64)
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]


def drawn(*shapes, dtypes=FLOATS, more=()):
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
    "random_uniform": drawn((2, 3), (), (0,)),
    "random_bits": drawn(
        (2, 3), (), dtypes=[np.dtype(n) for n in ("int32", "int64", "uint32", "uint64")]
    ),
    "random_integers": [
        Sample((KEY, COUNTER, kind(-5), kind(100)), {"shape": (2, 3)})
        for kind in (np.int32, np.int64)
    ],
    "random_normal": drawn((2, 3), (), (0,)),
    "random_truncated_normal": drawn((2, 3), (), (0,), (50,)),
}
