"""tf.config.experimental: memory of devices, and older names of tf.config."""

from typing import Any

from gradtape.compile.xla.device import AcceleratorState, find_device
from gradtape.core.errors import public
from gradtape.devices.array import HOST
from gradtape.state.random.seed import SEEDS
from gradtape.tf.config.device import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from gradtape.tf.config.device import PhysicalDevice, find_physical_device, parse_kind_and_number
from gradtape.tf.config.device import (
    get_logical_device_configuration as get_virtual_device_configuration,
)
from gradtape.tf.config.device import get_visible_devices as get_visible_devices
from gradtape.tf.config.device import list_logical_devices as list_logical_devices
from gradtape.tf.config.device import list_physical_devices as list_physical_devices
from gradtape.tf.config.device import (
    set_logical_device_configuration as set_virtual_device_configuration,
)
from gradtape.tf.config.device import set_visible_devices as set_visible_devices
from gradtape.tf.config.runtime_setting import RUNTIME_SETTINGS

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


MEMORY_GROWTH: dict[PhysicalDevice, bool] = {}


@public
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Store the setting of a GPU; it has no effect.

    JAX reads the environment variable XLA_PYTHON_CLIENT_PREALLOCATE when it starts.

    Args:
        device: a PhysicalDevice, or the name of a device.
        enable: a bool.

    Returns:
        None.

    Raises:
        ValueError: if the device does not exist, or is the CPU.
        RuntimeError: if accelerators are in use already and the setting differs.
    """
    if find_physical_device(device).kind == "CPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    if AcceleratorState.is_fixed and MEMORY_GROWTH.get(device) != enable:
        raise RuntimeError("Physical devices cannot be modified after being initialized")
    MEMORY_GROWTH[device] = enable


@public
def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """The setting of a GPU; None if it was not set.

    Args:
        device: a PhysicalDevice, or the name of a device.

    Returns:
        A bool or None.

    Raises:
        ValueError: if the device does not exist.
        KeyError: if it is the CPU.
    """
    if find_physical_device(device).kind == "CPU":
        raise KeyError(device)
    return MEMORY_GROWTH.get(device)


@public
def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """The name and compute capability of an accelerator; empty for the CPU.

    Args:
        device: a PhysicalDevice, or the name of a device.

    Returns:
        A dict.

    Raises:
        ValueError: if `device` is not a PhysicalDevice, or does not exist.
    """
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device}")
    try:
        handle = find_physical_device(device).handle
    except ValueError:
        raise ValueError(
            "The PhysicalDevice must be one obtained from calling "
            f"`tf.config.list_physical_devices`, but got: {device}"
        ) from None
    details = {} if handle is None else {"device_name": handle.device_kind}
    capability = getattr(handle, "compute_capability", None)
    if capability:
        details["compute_capability"] = tuple(map(int, str(capability).split(".")))
    return details


@public
def get_memory_info(device: str) -> dict[str, int]:
    """Memory in use on a device in bytes: "current" and "peak".

    Args:
        device: a PhysicalDevice, or the name of a device.

    Returns:
        A dict with the keys "current" and "peak".

    Raises:
        ValueError: if the device does not exist, or does not report its memory.
    """
    try:
        kind, number = parse_kind_and_number(device)
    except ValueError:
        raise ValueError(
            f"Failed parsing device name: {device!r}. Note a valid device string should at least "
            'contain a device type and a device index, like "GPU:0".'
        ) from None
    found = HOST if (kind, number) == ("CPU", 0) else find_device(kind, number)
    if found is None:
        raise ValueError(f"No matching devices found for {device!r}")
    stats = found.handle.memory_stats() if found.handle is not None else None
    if not stats or "bytes_in_use" not in stats:
        raise ValueError(f"Allocator stats not available for device {device!r}")
    current = int(stats["bytes_in_use"])
    return {"current": current, "peak": int(stats.get("peak_bytes_in_use", current))}


def enable_op_determinism() -> None:
    """Require a seed for random ops; other ops are always deterministic.

    Returns:
        None.
    """
    SEEDS.are_required = True


def disable_op_determinism() -> None:
    """Allow random ops without a seed again."""
    SEEDS.are_required = False


def is_op_determinism_enabled() -> bool:
    """Whether random ops require a seed."""
    return SEEDS.are_required


@public
def set_synchronous_execution(enable: bool) -> None:
    """Store the setting; ops have always finished when they return.

    Args:
        enable: a bool.

    Returns:
        None.
    """
    RUNTIME_SETTINGS.synchronous = enable


def get_synchronous_execution() -> bool:
    """The stored setting.

    Returns:
        A bool.
    """
    return RUNTIME_SETTINGS.synchronous


@public
def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Store the setting; matrix products always have full precision.

    Args:
        enabled: a bool.

    Returns:
        None.
    """
    RUNTIME_SETTINGS.tensor_float_32 = enabled


def tensor_float_32_execution_enabled() -> bool:
    """The stored setting.

    Returns:
        A bool.
    """
    return RUNTIME_SETTINGS.tensor_float_32
