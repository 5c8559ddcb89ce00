"""Switches of TensorFlow's runtime that are remembered; ops run the same either way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Settings:
    """What users have set, as it was given."""

    soft_placement: bool = True
    intra_op_threads: int = 0
    inter_op_threads: int = 0
    jit: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    determinism: bool = False
    tensor_float_32: bool = True
    synchronous: bool = True


SETTINGS = Settings()


def get_soft_device_placement() -> bool:
    """Whether ops fall back to the CPU; here they always do."""
    return SETTINGS.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Remember the wish; ops run on the CPU in any case."""
    SETTINGS.soft_placement = bool(enabled)
