"""Placement of primitives on the host or on a device.

`dispatch.run_kernel` and the generated functions use it once accelerators are in use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from gradtape.core.dispatch import run_kernel_on_host
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lazy_array import materialize
from gradtape.core.ports import DevicePort, JaxPort
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.devices.array import (
    HOST,
    Device,
    DeviceArray,
    choose_device,
    is_movable,
)
from gradtape.devices.tensor import copy_to_gpu, place_tensor


class NotPlaceable(Exception):  # noqa: N818 - it names the reason
    """A kernel cannot run on a device."""


class PlacementSettings:
    """Settings of the user.

    Attributes:
        soft: whether ops that a device cannot run fall back to the host.
        should_log: whether to log the device of every op.
    """

    soft = True
    should_log = False


def place_and_run(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Choose the device of an op and run the kernel there."""
    device = choose_device(raws)
    if device is HOST:
        return run_on_host(op, raws, static)
    return run_on_device(op, raws, static, device)


def place_and_run_raw(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Run the kernel on raw arrays, on a device only if an operand is there."""
    for raw in raws:
        if type(raw) is DeviceArray:
            return place_and_run(op, raws, static)
    return op.kernel(*raws, **static)


def run_on_host(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Run the kernel on NumPy."""
    if PlacementSettings.should_log:
        log_placement(op, HOST)
    return run_kernel_on_host(op, materialize(raws), static)


def run_on_device(
    op: Primitive, raws: tuple[Any, ...], static: dict[str, Any], device: Device
) -> Any:
    """Run the kernel on a device, or on the host if the device cannot run it.

    Raises:
        InvalidArgumentError: if the device cannot run it and soft placement is off.
    """
    if REGISTRY.get(op.name) is not op:
        return run_on_host(op, raws, static)  # made by a trace, which is compiled as a whole later
    try:
        if op.host_reason or not all(map(is_movable, raws)):
            raise NotPlaceable(op.host_reason or "strings stay on the host")
        result = JaxPort.run_kernel(op, raws, static, device)
    except NotPlaceable as error:
        result = run_on_host(op, raws, static)  # raises a better error if the arguments are wrong
        if not PlacementSettings.soft:
            raise placement_error(op.name, device, error) from None
        return result
    if PlacementSettings.should_log:
        log_placement(op, device)
    return result


def log_placement(op: Primitive, device: Device) -> None:
    """Log the device of an op."""
    sys.stderr.write(f"Executing op {op.name} in device {device.name}\n")


def place_and_call(function: Callable[..., Any], raws: list[Any]) -> Any:
    """Choose a device for a function that is not a primitive, and call it there.

    Raises:
        InvalidArgumentError: if the device cannot run it and soft placement is off.
    """
    device = choose_device(raws)
    if device is HOST:
        return function(*materialize(raws))
    try:
        if not all(map(is_movable, raws)):
            raise NotPlaceable("strings stay on the host")
        return JaxPort.call_function(function, raws, device)
    except NotPlaceable as error:
        result = function(*materialize(raws))
        if not PlacementSettings.soft:
            raise placement_error(
                public_caller_name() or function.__name__, device, error
            ) from None
        return result


def public_caller_name() -> str:
    """The name of the public function that the program has called."""
    frame: Any = sys._getframe(1)
    name = ""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gradtape."):
        if frame.f_globals["__name__"].startswith("gradtape.tf"):
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


def placement_error(name: str, device: Device, why: Any) -> InvalidArgumentError:
    """TensorFlow's error for an op that the requested device cannot run."""
    return InvalidArgumentError(
        f"{name}: Could not satisfy device specification {device.name!r}. "
        f"enable_soft_placement=0. Supported device types [CPU]: {why}. Run it under "
        "tf.device('/CPU:0'), or call tf.config.set_soft_device_placement(True)."
    )


DevicePort.supply(
    make_tensor=place_tensor,
    copy_to_gpu=copy_to_gpu,
    run_kernel=place_and_run,
    run_kernel_raw=place_and_run_raw,
)
