"""WorkerGroup: the processes that run one program together, and their collectives on arrays.

A distribution strategy first reduces over the replicas of its own process, and then calls its
group. The group of a strategy with one process is a `SingleWorkerGroup`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gradtape.core.errors import InvalidArgumentError

REDUCTIONS = ("SUM", "MEAN", "MIN", "MAX")

Array = np.ndarray[Any, Any]


@runtime_checkable
class WorkerGroup(Protocol):
    """Collectives of several processes; all workers call them in the same order.

    A collective of which the other workers do not take part raises UnavailableError or
    DeadlineExceededError; it never waits for ever.

    Attributes:
        rank: the number of this worker; worker 0 is the chief.
        size: the number of workers.
        place: a trace stores here which collective of a call comes next, counted from 1.
    """

    place: int

    @property
    def rank(self) -> int:
        """The number of this worker; worker 0 is the chief."""

    @property
    def size(self) -> int:
        """The number of workers."""

    def all_reduce(self, arrays: Sequence[Array], op: str = "SUM") -> list[Array]:
        """Reduce each array elementwise over the workers.

        Args:
            arrays: host arrays; the other workers pass equal shapes and dtypes, in this order.
            op: "SUM", "MEAN", "MIN" or "MAX".

        Returns:
            One new array for each argument, of the same shape and dtype.
        """

    def all_gather(self, array: Array) -> list[Array]:
        """The arrays of all workers, in the order of their ranks; shapes may differ.

        Their dtypes and ranks must be equal.
        """

    def broadcast(self, array: Array, root: int = 0) -> Array:
        """The array of the worker `root`; the other workers pass one of its shape and dtype."""

    def barrier(self, name: str) -> None:
        """Wait until every worker has called this with the same name."""


class SingleWorkerGroup:
    """The group of a program that runs in one process."""

    rank = 0
    size = 1
    place = 0

    def all_reduce(self, arrays: Sequence[Array], op: str = "SUM") -> list[Array]:
        """The arrays themselves: there is nothing to reduce."""
        check_reduction(op)
        return list(arrays)

    def all_gather(self, array: Array) -> list[Array]:
        """The array of the only worker."""
        return [array]

    def broadcast(self, array: Array, root: int = 0) -> Array:
        """The array itself."""
        check_root(root, self.size)
        return array

    def barrier(self, name: str) -> None:
        """Return at once: there is no other worker."""


def check_reduction(op: str) -> None:
    """Raise InvalidArgumentError unless `op` names a reduction."""
    if op not in REDUCTIONS:
        raise InvalidArgumentError(
            f"all_reduce: op must be one of {', '.join(REDUCTIONS)}. Received {op!r}."
        )


def check_root(root: int, size: int) -> None:
    """Raise InvalidArgumentError unless `root` is the rank of a worker."""
    if not 0 <= root < size:
        raise InvalidArgumentError(
            f"broadcast: root must be the rank of a worker, in [0, {size}). Received {root}."
        )


SINGLE_WORKER = SingleWorkerGroup()

connected_groups: list[Any] = []
"""The group of several workers that this process belongs to, or belonged to last; at most one."""


def current_worker_group() -> WorkerGroup:
    """The workers of this process's strategy, or the group of one worker."""
    group: WorkerGroup = connected_groups[0] if connected_groups else SINGLE_WORKER
    return group
