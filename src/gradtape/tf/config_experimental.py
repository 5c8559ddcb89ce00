"""tf.config.experimental."""

from typing import Any

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.tf.device import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from gradtape.tf.device import PhysicalDevice, known
from gradtape.tf.device import get_logical_device_configuration as get_virtual_device_configuration
from gradtape.tf.device import get_visible_devices as get_visible_devices
from gradtape.tf.device import list_logical_devices as list_logical_devices
from gradtape.tf.device import list_physical_devices as list_physical_devices
from gradtape.tf.device import set_logical_device_configuration as set_virtual_device_configuration
from gradtape.tf.device import set_visible_devices as set_visible_devices
from gradtape.tf.setting import SETTINGS

__all__ = [
    "VirtualDeviceConfiguration",
    "enable_op_determinism",
    "enable_tensor_float_32_execution",
    "get_device_details",
    "get_memory_growth",
    "get_memory_info",
    "get_synchronous_execution",
    "get_virtual_device_configuration",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "set_memory_growth",
    "set_synchronous_execution",
    "set_virtual_device_configuration",
    "set_visible_devices",
    "tensor_float_32_execution_enabled",
]


@public
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Refuse: there is no GPU whose memory could grow."""
    known(device)
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether the memory of `device` grows on demand: it is no GPU, so no."""
    return False


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known about `device`: nothing."""
    return {}


@public
def get_memory_info(device: str) -> dict[str, int]:
    """Refuse: memory of the CPU is not counted."""
    raise InvalidArgumentError(f"get_memory_info: no allocator statistics for device {device!r}.")


def enable_op_determinism() -> None:
    """Remember the wish; ops are deterministic anyway."""
    SETTINGS.determinism = True


def set_synchronous_execution(enable: bool) -> None:
    """Remember the setting; ops are finished when they return."""
    SETTINGS.synchronous = enable


def get_synchronous_execution() -> bool:
    """The setting as it was given."""
    return SETTINGS.synchronous


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Remember the setting; products are computed in full precision."""
    SETTINGS.tensor_float_32 = enabled


def tensor_float_32_execution_enabled() -> bool:
    """The setting as it was given."""
    return SETTINGS.tensor_float_32
