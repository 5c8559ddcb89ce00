"""Samples for `ops/cumulative.py`."""

from dataclasses import replace

from tests.sweep.sample import Sample, complex_normal, nonzero, normal

FLAGS = [{"exclusive": e, "reverse": r} for e in (False, True) for r in (False, True)]
ALONE = dict.fromkeys(("scalars", "broadcast"), "needs an axis to run along")
INFINITE = dict.fromkeys(
    ("first_order", "second_order"), "the first element is -inf, wherever the input moves"
)


def along(make):
    """Scans in both directions, along the last and a middle axis, and of an empty array."""
    return [
        *(Sample((make(2, 4),), {"axis": -1, **flags}) for flags in FLAGS),
        Sample((make(2, 3, 2),), {"axis": -2, "exclusive": False, "reverse": False}),
        Sample((make(2, 0),), {"axis": -1, "exclusive": True, "reverse": False}),
    ]


SAMPLES = {
    "cumsum": [*along(normal), *along(complex_normal)],
    "cumprod": along(nonzero),
    "cumulative_logsumexp": [
        replace(s, skip=INFINITE) if s.static["exclusive"] else s for s in along(normal)
    ],
    "weighted_cumsum": [
        *(
            Sample((normal(2, 4), normal(2, 4), normal(2, 4)), {"axis": -1, **flags}, skip=ALONE)
            for flags in FLAGS
        ),
        Sample(
            (normal(2, 0), normal(2, 0), normal(2, 0)),
            {"axis": -1, "exclusive": False, "reverse": False},
            skip=ALONE,
        ),
    ],
}
