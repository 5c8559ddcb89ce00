"""Samples for `ops/special.py`."""

import numpy as np

from tests.sweep.sample import WIDE, Sample, inside, normal, positive, unit

SHAPE = (2, 3)
ORDERS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]])


def one(make):
    """A sample of one argument."""
    return [Sample((make(SHAPE),))]


SAMPLES = {
    **{name: one(normal) for name in ("erf", "erfc", "dawsn", "fresnel_sin", "fresnel_cos")},
    "erfinv": one(inside),
    "ndtri": one(unit),
    "lgamma": one(positive),
    "digamma": one(positive),
    "polygamma": [Sample((ORDERS, positive(SHAPE)), dtypes=WIDE)],
    "zeta": [Sample((1 + positive(SHAPE), positive(SHAPE)), dtypes=WIDE)],
    "igamma": [Sample((positive(SHAPE), positive(SHAPE)), dtypes=WIDE)],
    "igammac": [Sample((positive(SHAPE), 8 * positive(SHAPE)), dtypes=WIDE)],
    "igamma_by_a": [
        Sample((positive(SHAPE), positive(SHAPE)), {"order": 1}, dtypes=WIDE),
        Sample((20 * positive(SHAPE), 60 * positive(SHAPE)), {"order": 1}, dtypes=WIDE),
        Sample((200 + 9 * positive(SHAPE), 200 + 9 * positive(SHAPE)), {"order": 1}, dtypes=WIDE),
    ],
    "gamma_density": [
        Sample((positive(SHAPE), positive(SHAPE)), dtypes=WIDE),
        Sample((200 + 9 * positive(SHAPE), 200 + 9 * positive(SHAPE)), dtypes=WIDE),
    ],
    "reparameterize_gamma": [
        Sample((positive(SHAPE), positive(SHAPE)), dtypes=WIDE),
        Sample((200 + 9 * positive(SHAPE), 200 + 9 * positive(SHAPE)), dtypes=("float64",)),
    ],
    "betainc": [Sample((positive(SHAPE), positive(SHAPE), unit(SHAPE)), dtypes=WIDE)],
    "expint": one(positive),
    "spence": one(positive),
}
