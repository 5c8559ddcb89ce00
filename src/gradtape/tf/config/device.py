"""Device names and lists of devices: the CPU (NumPy) and the accelerators that JAX finds."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.compile.xla import device as accelerator
from gradtape.core.argument import check_instance, check_text
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.devices.array import HOST, LOCALHOST, Device
from gradtape.devices.placement import PlacementSettings


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as ops see it."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """One of the logical devices that a physical device is divided into."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


PHYSICAL_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
LOGICAL_CPU = LogicalDevice("/device:CPU:0", "CPU")
DEVICE_KINDS = ("CPU", "GPU", "TPU")


class DeviceSpec(NamedTuple):
    """The parts of a device name; None where the name leaves one out."""

    job: str | None
    task: int
    kind: str | None
    number: int | None


def parse_device_spec(name: str) -> DeviceSpec:
    """Parse a name such as "/job:localhost/device:GPU:1", "/CPU:0" or "gpu".

    Raises:
        ValueError: if it is not the name of a device.
    """
    check_text(name, "The name of a device")
    job, task, kind, number = None, 0, None, None
    for part in filter(None, name.split("/")):
        key, *rest = part.split(":")
        if key == "job" and len(rest) == 1:
            job = rest[0]
        elif key in ("replica", "task") and len(rest) == 1:
            task = int(rest[0]) if key == "task" and rest[0] != "*" else task
        elif key == "device" and len(rest) == 2:
            kind, number = rest[0].upper(), parse_device_number(rest[1])
        elif key.upper() in DEVICE_KINDS and len(rest) < 2:
            kind, number = key.upper(), parse_device_number(rest[0]) if rest else None
        else:
            raise ValueError(
                f"Unknown attribute {key!r} is encountered while parsing the device spec: "
                f'{name!r}. Write it like "/CPU:0".'
            )
    return DeviceSpec(job, task, kind, number)


def parse_device_number(text: str) -> int | None:
    """Parse the number of a device; None for "*"."""
    return None if text == "*" else int(text)


def parse_kind_and_number(name: str) -> tuple[str, int]:
    """Parse kind and number of a device name; the defaults are those of the CPU.

    Raises:
        ValueError: if it is not the name of a device.
    """
    spec = parse_device_spec(name)
    return spec.kind or "CPU", spec.number or 0


def find_device(name: str) -> Device | None:
    """Find the device of a name; None if the name has no device kind.

    With soft placement, the host replaces a missing device.

    Raises:
        ValueError: if it is not the name of a device.
        InvalidArgumentError: if the device is missing and soft placement is off.
    """
    spec = parse_device_spec(name)
    if spec.job not in (None, "localhost") or spec.task:
        raise InvalidArgumentError(
            f"/job:{spec.job or 'localhost'}/replica:0/task:{spec.task}/device:CPU:0 unknown "
            "device. There is one process: /job:localhost/replica:0/task:0."
        )
    if spec.kind is None:
        return None
    cpus = len(DEVICE_CONFIGURATIONS.get(PHYSICAL_CPU) or (LOGICAL_CPU,))
    if spec.kind == "CPU" and (spec.number or 0) < cpus:
        return HOST
    device = (
        accelerator.find_device(spec.kind, spec.number or 0) if spec.kind in DEVICE_KINDS else None
    )
    if device is None and not PlacementSettings.soft:
        available = ", ".join(d.name for d in (HOST, *accelerator.fix_visible_accelerators()))
        raise InvalidArgumentError(
            f"Could not satisfy device specification '{LOCALHOST}{spec.kind}:{spec.number or 0}'. "
            f"enable_soft_placement=0. All available devices [{available}]."
        )
    return device or HOST


def as_physical_device(device: Device) -> PhysicalDevice:
    """The PhysicalDevice that describes a device."""
    return PhysicalDevice(f"/physical_device:{device.kind}:{device.physical_number}", device.kind)


@public
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine: the CPU, and the GPUs and TPUs that JAX finds.

    Args:
        device_type: such as "CPU" or "GPU"; all if None.

    Returns:
        A list of PhysicalDevice.

    Example:
        >>> [device.device_type for device in tf.config.list_physical_devices("CPU")]
        ['CPU']
    """
    here = [PHYSICAL_CPU] if device_type in (None, "CPU") else []
    if device_type == "CPU":
        return here
    return here + [
        as_physical_device(d) for d in accelerator.accelerators() if device_type in (None, d.kind)
    ]


@public
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can use: the CPU and the visible accelerators.

    Args:
        device_type: such as "CPU" or "GPU"; all if None.

    Returns:
        A list of LogicalDevice.

    Example:
        >>> tf.config.list_logical_devices("CPU")[0].name
        '/device:CPU:0'
    """
    cpus = len(DEVICE_CONFIGURATIONS.get(PHYSICAL_CPU) or (LOGICAL_CPU,))
    here = [LogicalDevice(f"/device:CPU:{i}", "CPU") for i in range(cpus)]
    if device_type == "CPU":
        return here
    return [one for one in here if device_type in (None, "CPU")] + [
        LogicalDevice(f"/device:{device!r}", device.kind)
        for device in accelerator.fix_visible_accelerators()
        if device_type in (None, device.kind)
    ]


@public
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that ops may use.

    Args:
        device_type: such as "CPU" or "GPU"; all if None.

    Returns:
        A list of PhysicalDevice.
    """
    here = [PHYSICAL_CPU] if device_type in (None, "CPU") else []
    if device_type == "CPU":
        return here
    chosen = accelerator.visible_accelerators()
    return here + [as_physical_device(d) for d in chosen if device_type in (None, d.kind)]


@public
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Choose which devices ops may use, before any is used. The CPU always stays visible.

    Args:
        devices: one, or a list of them, as `list_physical_devices` returns them.
        device_type: the choice applies to devices of this kind; to all if None.

    Returns:
        None.

    Raises:
        ValueError: if a device does not exist, or the CPU is left out.
        RuntimeError: if accelerators are in use already and the choice differs.
    """
    chosen = list(devices) if isinstance(devices, list) else [devices] if devices else []
    available = list_physical_devices(device_type)
    for one in chosen:
        if one not in available:
            raise ValueError(f"Unrecognized device: {one!r}. Available devices: {available}.")
    if PHYSICAL_CPU not in chosen and device_type in (None, "CPU"):
        raise ValueError("set_visible_devices: the CPU cannot be made invisible. Add it.")
    if device_type != "CPU":
        before = accelerator.visible_accelerators()
        accelerator.set_visible_accelerators(
            [
                d
                for d in accelerator.accelerators()
                if (
                    as_physical_device(d) in chosen
                    if device_type in (None, d.kind)
                    else d in before
                )
            ]
        )


@public
def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """The configuration that was set for a device; None if there is none.

    Args:
        device: a PhysicalDevice.

    Returns:
        A list of LogicalDeviceConfiguration, or None.
    """
    find_physical_device(device)
    return DEVICE_CONFIGURATIONS.get(device)


DEVICE_CONFIGURATIONS: dict[PhysicalDevice, list[LogicalDeviceConfiguration] | None] = {}


@public
def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Divide the CPU into logical devices, or store the configuration of a GPU.

    The logical CPUs are places for the replicas of a strategy; all of them are this process. A
    memory limit has no effect; XLA_PYTHON_CLIENT_MEM_FRACTION limits JAX's memory.

    Args:
        device: as `list_physical_devices` returns it.
        logical_devices: a list of `LogicalDeviceConfiguration`, or None for one device.

    Returns:
        None.

    Raises:
        ValueError: if a GPU is divided, or a memory limit is set for the CPU.

    Example:
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> two = [tf.config.LogicalDeviceConfiguration()] * 2
        >>> tf.config.set_logical_device_configuration(cpu, two)
        >>> len(tf.config.list_logical_devices("CPU"))
        2
        >>> tf.config.set_logical_device_configuration(cpu, None)
    """
    find_physical_device(device)
    if device == PHYSICAL_CPU:
        if any(one.memory_limit is not None for one in logical_devices or ()):
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
    elif logical_devices is not None and len(logical_devices) != 1:
        raise ValueError(
            f"set_logical_device_configuration: {device.name} must be one logical device. Received "
            f"{len(logical_devices)}."
        )
    DEVICE_CONFIGURATIONS[device] = list(logical_devices or ()) or None


def find_physical_device(device: Any) -> Device:
    """Find the device that a PhysicalDevice describes.

    Raises:
        ValueError: if it does not exist.
    """
    check_instance(device, PhysicalDevice, "device")
    if device == PHYSICAL_CPU:
        return HOST
    for one in accelerator.accelerators():
        if device == as_physical_device(one):
            return one
    raise ValueError(
        f"Unrecognized device: {device!r}. Available devices: {list_physical_devices()}."
    )
