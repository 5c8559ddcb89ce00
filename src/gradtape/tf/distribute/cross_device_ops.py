"""Cross-device ops and communication options: accepted, because replicas share one memory."""

from __future__ import annotations

from enum import Enum
from typing import Any

from gradtape.core.errors import public


class CrossDeviceOps:
    """Base class of the algorithms that reduce values of several devices.

    All of them compute the same here: the replicas of a process share one memory.
    """


class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device and copies the result.

    Args:
        reduce_to_device: has no effect here.
        accumulation_fn: has no effect here.
    """

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


class NcclAllReduce(CrossDeviceOps):
    """Reduces with NCCL on GPUs.

    Args:
        num_packs: has no effect here.
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is given")
        self.num_packs = num_packs


class HierarchicalCopyAllReduce(NcclAllReduce):
    """Reduces in the order of the connections between GPUs.

    Args:
        num_packs: has no effect here.
    """


class CommunicationImplementation(Enum):
    """The library that workers communicate by; there is only one here."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions:
    """Options of the communication between workers.

    Args:
        bytes_per_pack: the size of a bucket; 0 for the default.
        timeout_seconds: how long a collective waits for other workers; None for the default.
        implementation: has no effect here.

    Raises:
        ValueError: if `bytes_per_pack` is negative.
    """

    @public
    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: Any = CommunicationImplementation.AUTO,
    ) -> None:
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
        self.implementation = CommunicationImplementation(
            getattr(implementation, "value", str(implementation).upper())
        )

    def __repr__(self) -> str:
        return (
            f"Options(bytes_per_pack={self.bytes_per_pack},"
            f"timeout_seconds={self.timeout_seconds}, implementation={self.implementation})"
        )


def check_cross_device_ops(ops: Any) -> None:
    """Raise ValueError unless `ops` is None or a CrossDeviceOps."""
    if ops is not None and not isinstance(ops, CrossDeviceOps):
        raise ValueError(
            "MirroredStrategy: cross_device_ops must be a tf.distribute.CrossDeviceOps. Received "
            f"{ops!r}."
        )
