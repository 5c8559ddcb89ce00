"""Settings of TensorFlow's runtime: soft placement, and settings that are stored without effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradtape.core.errors import public
from gradtape.devices.placement import PlacementSettings


@dataclass
class RuntimeSettings:
    """The settings as the user set them."""

    intra_op_threads: int = 0
    inter_op_threads: int = 0
    jit: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    tensor_float_32: bool = True
    synchronous: bool = True


RUNTIME_SETTINGS = RuntimeSettings()


def get_soft_device_placement() -> bool:
    """Whether ops that their device cannot run fall back to the CPU.

    Returns:
        A bool.
    """
    return PlacementSettings.soft


@public
def set_soft_device_placement(enabled: bool) -> None:
    """Choose whether ops fall back to the CPU when their device is missing or cannot run them.

    If disabled, such ops raise InvalidArgumentError.

    Args:
        enabled: a bool.

    Returns:
        None.
    """
    PlacementSettings.soft = bool(enabled)
