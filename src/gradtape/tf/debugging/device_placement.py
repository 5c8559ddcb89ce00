"""tf.debugging: whether the placement of ops on devices is logged."""

from __future__ import annotations

from gradtape.core.context import local
from gradtape.core.errors import (
    public,
)
from gradtape.core.ports import devices
from gradtape.devices.array import NO_FAST_PATH
from gradtape.devices.placement import PlacementSettings


def get_log_device_placement() -> bool:
    """Whether eager ops log the device they run on.

    Returns:
        A bool.
    """
    return PlacementSettings.should_log


@public
def set_log_device_placement(enabled: bool) -> None:
    """Choose whether every eager op logs its device to standard error.

    Args:
        enabled: a bool.

    Returns:
        None.
    """
    PlacementSettings.should_log = bool(enabled)
    if enabled:
        devices.activate()
    type(local).device = NO_FAST_PATH if enabled else None
