"""Collectives: ops whose results combine the arrays of several workers.

All workers apply them in the same order. A trace therefore records them like side effects: in
order, never eliminated, never merged. The derivative of a collective is a collective.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import keep_shape
from gradtape.core.worker_group import WorkerGroup
from gradtape.ops.cotangent import compute_once


def reduce_cotangents(g: Any, reduction: str, group: WorkerGroup) -> Any:
    """The reduced cotangents of all results, in one collective."""
    return all_reduce(*g, reduction=reduction, group=group)


@primitive(
    xs=lambda g, i, reduction, group: compute_once(g, reduce_cotangents, reduction, group)[i],
    outputs=True,
    shape=lambda *xs, reduction, group: list(xs),
)
def all_reduce(*xs, reduction: str, group: WorkerGroup):
    """Sum or mean of each array over the workers of `group`."""
    return tuple(group.all_reduce(list(map(np.asarray, xs)), reduction))


def broadcast_wrt_x(g, root, group):
    """Only the worker `root` has contributed: it gets the sum of all cotangents."""
    (total,) = all_reduce(g, reduction="SUM", group=group)
    return total if group.rank == root else 0 * total


@primitive(x=broadcast_wrt_x, shape=keep_shape)
def broadcast(x, *, root: int, group: WorkerGroup):
    """The array of the worker `root`."""
    return group.broadcast(np.asarray(x), root)


for collective in (all_reduce, broadcast):
    collective.op.is_effect = True
    collective.keep_on_host("it communicates with other processes")
