"""The strategy and the replica that a thread runs for.

Without a strategy only the functions of `tf.distribute` and seeded random ops read this state.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

EVERY_REPLICA = -1  # an update that holds for all replicas at once


class ReplicaState(threading.local):
    """What a thread runs for.

    Attributes:
        strategy: the strategy whose scope is active, or None for the default strategy.
        replica: the `ReplicaContext` of the replica, or None in cross-replica context.
        updated_replica: inside `extended.update`, the replica whose copies of variables are
            written, or EVERY_REPLICA; None elsewhere.
    """

    strategy: Any = None
    replica: Any = None
    updated_replica: int | None = None


replica_state = ReplicaState()
parallel_runs = [0]  # how many calls of `run` with several replicas are active in all threads
split_count = [0]  # how often a variable got copies of its own: older traces may be stale


@contextlib.contextmanager
def use_replica_state(
    strategy: Any, replica: Any, updated_replica: int | None = None
) -> Iterator[None]:
    """Run for this strategy and replica within this scope."""
    state = replica_state
    before = state.strategy, state.replica, state.updated_replica
    state.strategy, state.replica, state.updated_replica = strategy, replica, updated_replica
    try:
        yield
    finally:
        state.strategy, state.replica, state.updated_replica = before


@contextlib.contextmanager
def use_updated_replica(replica: int | None) -> Iterator[None]:
    """Let writes to distributed variables concern this replica's copies within this scope."""
    before, replica_state.updated_replica = replica_state.updated_replica, replica
    try:
        yield
    finally:
        replica_state.updated_replica = before


def current_replica_number(strategy: Any) -> int | None:
    """Which copy of a variable of `strategy` this thread uses; None in cross-replica context."""
    state = replica_state
    if state.updated_replica is not None:
        return state.updated_replica
    replica = state.replica
    return replica._local_number if replica is not None and replica.strategy is strategy else None


def current_device_number() -> int:
    """Which device of this process the thread's replica has; 0 outside of replicas."""
    replica = replica_state.replica
    return 0 if replica is None else int(replica._local_number)


def is_parallel_replica() -> bool:
    """Whether this thread runs for one of several replicas of this process."""
    replica = replica_state.replica
    return replica is not None and replica._local_count > 1
