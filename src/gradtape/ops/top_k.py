"""The largest entries along the last axis, and whether given ones are among them."""

from __future__ import annotations

import numpy as np

from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import BOOL, INT64


@primitive(x=None, shape=lambda x, k: Spec(((*x.shape[:-1], k), INT64)))
def top_indices(x, *, k: int):
    """Positions (..., k) of the largest entries, largest first; ties in order, NaN last."""
    # A stable sort of the reversed array, read backwards, keeps ties in their original order.
    if x.dtype.kind not in "iu":
        x = np.where(np.isnan(x), x.dtype.type(-np.inf), x)
    n = x.shape[-1]
    order = np.argsort(x[..., ::-1], axis=-1, stable=True)
    return n - 1 - order[..., ::-1][..., :k]


@primitive(scores=None, classes=None, shape=lambda scores, classes, k: Spec((classes.shape, BOOL)))
def is_in_top_k(scores, classes, *, k: int):
    """Whether the score (b, n) of each class (b,) is among the `k` largest of its row."""
    known = (classes >= 0) & (classes < scores.shape[1])
    own = np.take_along_axis(scores, np.where(known, classes, 0)[:, None], axis=1)
    proper = (
        known & np.all(np.isfinite(scores) | np.less(scores, own), axis=1) & np.isfinite(own[:, 0])
    )
    return proper & (np.sum(np.greater(scores, own), axis=1) < k)
