"""Options and contexts of distributed input."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class InputReplicationMode(Enum):
    """How the function of `distribute_datasets_from_function` is called."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """Options of distributed datasets; gradtape accepts them, and they have no effect.

    Attributes:
        experimental_fetch_to_device: whether elements are copied to devices in advance.
        experimental_replication_mode: how dataset functions are called.
        experimental_place_dataset_on_device: whether datasets run on devices.
        experimental_per_replica_buffer_size: how many elements are copied in advance.
    """

    experimental_fetch_to_device: bool | None = True
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class RunOptions(NamedTuple):
    """Options of `Strategy.run`; gradtape accepts them, and they have no effect.

    Attributes:
        experimental_enable_dynamic_batch_size: for TPUs.
        experimental_bucketizing_dynamic_shape: for TPUs.
        experimental_xla_options: for TPUs.
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class ValueContext:
    """What the function of `experimental_distribute_values_from_function` is told.

    Args:
        replica_id_in_sync_group: the number of the replica.
        num_replicas_in_sync: the number of replicas of all workers.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """The number of the replica."""
        return self._replica_id_in_sync_group

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas of all workers."""
        return self._num_replicas_in_sync
