"""tf.config: the devices (one CPU), and switches; those without a meaning only remember."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.staging.function import functions_run_eagerly as functions_run_eagerly
from gradtape.staging.function import run_functions_eagerly as run_functions_eagerly


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

_switches: dict[str, Any] = {
    "soft_placement": True,
    "intra_op_threads": 0,
    "inter_op_threads": 0,
    "jit": "",
    "options": {},
    "determinism": False,
    "tensor_float_32": True,
    "synchronous": True,
}


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


def get_soft_device_placement() -> bool:
    """Whether ops fall back to the CPU; here they always do."""
    return bool(_switches["soft_placement"])


def set_soft_device_placement(enabled: bool) -> None:
    """Remember the wish; ops run on the CPU in any case."""
    _switches["soft_placement"] = bool(enabled)


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


def setting(key: str) -> Callable[[], Any]:
    """A function that returns a setting."""

    def get() -> Any:
        """The setting as it was given."""
        return _switches[key]

    return get


def _set_intra(num_threads: int) -> None:
    """Remember the setting; NumPy's own decides how many threads an op has."""
    _switches["intra_op_threads"] = num_threads


def _set_inter(num_threads: int) -> None:
    """Remember the setting; ops run one after the other."""
    _switches["inter_op_threads"] = num_threads


threading = types.SimpleNamespace(
    set_intra_op_parallelism_threads=_set_intra,
    get_intra_op_parallelism_threads=setting("intra_op_threads"),
    set_inter_op_parallelism_threads=_set_inter,
    get_inter_op_parallelism_threads=setting("inter_op_threads"),
)


def _set_jit(enabled: Any) -> None:
    """Remember whether functions would be compiled by XLA by default; they are not."""
    _switches["jit"] = enabled if isinstance(enabled, str) else "autoclustering" if enabled else ""


def _set_options(options: dict[str, Any]) -> None:
    """Remember options of a graph optimizer that is not there."""
    _switches["options"] = {**_switches["options"], **options}


def _get_options() -> dict[str, Any]:
    """The options as they were given."""
    usual = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    return usual | _switches["options"]


optimizer = types.SimpleNamespace(
    get_jit=setting("jit"),
    set_jit=_set_jit,
    get_experimental_options=_get_options,
    set_experimental_options=_set_options,
)


def _set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Refuse: there is no GPU whose memory could grow."""
    known(device)
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def _get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether the memory of `device` grows on demand: it is no GPU, so no."""
    return False


def _get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known about `device`: nothing."""
    return {}


def _get_memory_info(device: str) -> dict[str, int]:
    """Refuse: memory of the CPU is not counted."""
    raise InvalidArgumentError(f"get_memory_info: no allocator statistics for device {device!r}.")


def _enable_op_determinism() -> None:
    """Remember the wish; ops are deterministic anyway."""
    _switches["determinism"] = True


def _set_synchronous(enable: bool) -> None:
    """Remember the setting; ops are finished when they return."""
    _switches["synchronous"] = enable


def _enable_float_32(enabled: bool) -> None:
    """Remember the setting; products are computed in full precision."""
    _switches["tensor_float_32"] = enabled


experimental = types.SimpleNamespace(
    list_physical_devices=list_physical_devices,
    list_logical_devices=list_logical_devices,
    get_visible_devices=get_visible_devices,
    set_visible_devices=set_visible_devices,
    get_virtual_device_configuration=get_logical_device_configuration,
    set_virtual_device_configuration=set_logical_device_configuration,
    VirtualDeviceConfiguration=LogicalDeviceConfiguration,
    get_device_details=_get_device_details,
    set_memory_growth=public(_set_memory_growth),
    get_memory_growth=_get_memory_growth,
    get_memory_info=public(_get_memory_info),
    enable_op_determinism=_enable_op_determinism,
    enable_tensor_float_32_execution=_enable_float_32,
    tensor_float_32_execution_enabled=setting("tensor_float_32"),
    set_synchronous_execution=_set_synchronous,
    get_synchronous_execution=setting("synchronous"),
)
experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
