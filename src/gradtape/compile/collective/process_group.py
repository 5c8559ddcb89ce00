"""The group of this process: made once for a cluster, and left when the program ends."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from types import TracebackType

from gradtape.compile.collective.address import parse_address
from gradtape.compile.collective.group import SocketWorkerGroup
from gradtape.compile.collective.monitor import PROGRAM_ENDED
from gradtape.compile.collective.rendezvous import Cluster, join_cluster
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.worker_group import SINGLE_WORKER, WorkerGroup, connected_groups

WORKER_TIMEOUT_SECONDS = 30.0
JOIN_TIMEOUT_SECONDS = 3600.0


def connect_workers(
    addresses: Sequence[str], rank: int, timeout: float | None = None
) -> WorkerGroup:
    """The group of the workers at `addresses`, of which this process has the number `rank`.

    The first call waits until all workers have called it. Later calls return the same group, or
    form a new one after a failure.

    Args:
        addresses: `host:port` of each worker; worker 0 is the chief.
        rank: the number of this worker.
        timeout: how many seconds a collective may wait for workers that are alive; None waits as
            long as they are.

    Raises:
        DeadlineExceededError: if a worker does not start in time.
        InvalidArgumentError: if workers disagree on the addresses.
    """
    if not 0 <= rank < len(addresses):
        raise InvalidArgumentError(
            f"MultiWorkerMirroredStrategy: the task index must lie in [0, {len(addresses)}). "
            f"Received {rank}."
        )
    if len(addresses) == 1:
        return SINGLE_WORKER
    cluster = Cluster(tuple(parse_address(text) for text in addresses), rank)
    if connected_groups:
        group = connected_groups[0]
        if group.is_usable and group.cluster == cluster:
            group.timeout = timeout
            return group
        group.close("its program made another group")
        connected_groups.clear()
    links = join_cluster(cluster, read_seconds("GRADTAPE_JOIN_TIMEOUT", JOIN_TIMEOUT_SECONDS))
    silence = read_seconds("GRADTAPE_WORKER_TIMEOUT", WORKER_TIMEOUT_SECONDS)
    group = SocketWorkerGroup(cluster, links, silence, timeout)
    connected_groups.append(group)
    install_exit_hooks()
    return group


def read_seconds(variable: str, default: float) -> float:
    """A positive number of seconds from the environment."""
    text = os.environ.get(variable, "")
    try:
        seconds = float(text) if text else default
    except ValueError:
        seconds = 0.0
    if seconds > 0:
        return seconds
    raise InvalidArgumentError(
        f"tf.distribute: {variable} must be a positive number of seconds. Received {text!r}."
    )


def leave_group(reason: str) -> None:
    """Leave the group of this process, if it has one."""
    for group in connected_groups:
        if group.process == os.getpid():
            group.close(reason)


def forget_group() -> None:
    """In a forked process: close its copies of the connections."""
    for group in connected_groups:
        group.forget()
    connected_groups.clear()


class ExceptionHook:
    """Replaces `sys.excepthook`: tells the other workers of an uncaught exception."""

    def __init__(self) -> None:
        """Remember the hook that is replaced."""
        self.previous = sys.excepthook

    def __call__(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Leave the group, then report the exception as before."""
        leave_group(f"it raised {kind.__name__}: {str(error)[:300]}")
        self.previous(kind, error, trace)


HOOKS: list[ExceptionHook] = []


def install_exit_hooks() -> None:
    """Leave the group when the program ends or raises, and in forked processes; done once."""
    if HOOKS:
        return
    HOOKS.append(ExceptionHook())
    sys.excepthook = HOOKS[0]
    atexit.register(leave_group, PROGRAM_ENDED)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget_group)
