"""The devices there are: one CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.errors import public


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as ops see it."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How a physical device would be divided."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
LOGICAL_CPU = LogicalDevice("/device:CPU:0", "CPU")
KINDS = ("CPU", "GPU", "TPU")


def parse_device(name: str) -> tuple[str, int]:
    """Kind and number of a device name such as "/job:localhost/device:GPU:1", "/CPU:0" or "gpu".

    Raises:
        ValueError: if it is not one.
    """
    kind, number = "CPU", 0
    for part in filter(None, name.split("/")):
        key, *rest = part.split(":")
        if key in ("job", "replica", "task"):
            continue
        if key == "device" and rest:
            key, *rest = rest
        if (
            key.upper() not in KINDS
            or len(rest) > 1
            or not all(r.isdigit() or r == "*" for r in rest)
        ):
            raise ValueError(
                f"Unknown attribute {key!r} is encountered while parsing the device spec {name!r}. "
                'Write it like "/CPU:0".'
            )
        kind, number = key.upper(), int(rest[0]) if rest and rest[0].isdigit() else 0
    return kind, number


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine; there is one, the CPU.

    Args:
        device_type: such as "CPU" or "GPU"; all if None.
    """
    return [CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can use; there is one, the CPU.

    Args:
        device_type: such as "CPU" or "GPU"; all if None.
    """
    return [LOGICAL_CPU] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that may be used; there is one, the CPU."""
    return list_physical_devices(device_type)


@public
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Choose devices. Only what changes nothing is possible: the CPU stays.

    Raises:
        ValueError: if a device is not there, or the CPU would go.
    """
    chosen = list(devices) if isinstance(devices, list) else [devices] if devices else []
    if any(one != CPU for one in chosen):
        raise ValueError(f"set_visible_devices: unknown devices in {chosen}. There is only {CPU}.")
    if not chosen and device_type in (None, "CPU"):
        raise ValueError("set_visible_devices: the CPU cannot be made invisible.")


@public
def get_logical_device_configuration(device: PhysicalDevice) -> None:
    """How `device` is divided: it is not."""
    known(device)


@public
def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Refuse more than one logical device: the CPU is not divided."""
    known(device)
    if logical_devices is not None and len(logical_devices) != 1:
        raise ValueError(
            "set_logical_device_configuration: the CPU is one logical device. Received "
            f"{len(logical_devices)}."
        )


def known(device: Any) -> None:
    """Check that `device` is the one there is."""
    if device != CPU:
        raise ValueError(f"Unrecognized device: {device!r}. There is only {CPU}.")
