"""Switches of TensorFlow's runtime that are remembered; ops run the same either way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradtape.core.device.placement import Placement


@dataclass
class Settings:
    """What users have set, as it was given."""

    intra_op_threads: int = 0
    inter_op_threads: int = 0
    jit: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    determinism: bool = False
    tensor_float_32: bool = True
    synchronous: bool = True


SETTINGS = Settings()


def get_soft_device_placement() -> bool:
    """Whether ops that their device cannot run fall back to the CPU."""
    return Placement.soft


def set_soft_device_placement(enabled: bool) -> None:
    """Let ops that their device cannot run, or whose device is not there, fall back to the CPU.

    Otherwise they raise InvalidArgumentError.
    """
    Placement.soft = bool(enabled)
