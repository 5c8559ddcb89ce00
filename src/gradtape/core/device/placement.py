"""Placement of primitives on the host or on a device.

`dispatch.evaluate` and the generated functions use it once accelerators are in use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from gradtape.core.device.array import HOST, Device, Remote, is_movable, target
from gradtape.core.dispatch import Handed, evaluate_somewhere
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lazy_array import shown
from gradtape.core.primitive import REGISTRY, Primitive

on_numpy = evaluate_somewhere.plain


class Inexpressible(Exception):  # noqa: N818 - it names the reason
    """A kernel cannot run on a device."""


class Placement:
    """Settings of the user, and functions of the layer that knows JAX.

    Attributes:
        soft: whether ops that a device cannot run fall back to the host.
        logs: whether to log the device of every op.
        run: runs the kernel of a primitive on a device; raises Inexpressible.
        call: runs a function of raw arrays on a device; raises Inexpressible.
    """

    soft = True
    logs = False
    run: Callable[[Primitive, tuple[Any, ...], dict[str, Any], Device], Any]
    call: Callable[[Callable[..., Any], list[Any], Device], Any]


def evaluate(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Choose the device of an op and run the kernel there."""
    device = target(raws)
    if device is HOST:
        return on_host(op, raws, static)
    return on_device(op, raws, static, device)


def evaluate_raw(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Run the kernel on raw arrays, on a device only if an operand is there."""
    for raw in raws:
        if type(raw) is Remote:
            return evaluate(op, raws, static)
    return op.kernel(*raws, **static)


def on_host(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Run the kernel on NumPy."""
    if Placement.logs:
        said(op, HOST)
    return on_numpy(op, shown(raws), static)


def on_device(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any], device: Device) -> Any:
    """Run the kernel on a device, or on the host if the device cannot run it.

    Raises:
        InvalidArgumentError: if the device cannot run it and soft placement is off.
    """
    if REGISTRY.get(op.name) is not op:
        return on_host(op, raws, static)  # made by a trace, which is compiled as a whole later
    try:
        if op.host or not all(map(is_movable, raws)):
            raise Inexpressible(op.host or "strings stay on the host")
        result = Placement.run(op, raws, static, device)
    except Inexpressible as error:
        result = on_host(op, raws, static)  # raises a better error if the arguments are wrong
        if not Placement.soft:
            raise refusal(op.name, device, error) from None
        return result
    if Placement.logs:
        said(op, device)
    return result


def said(op: Primitive, device: Device) -> None:
    """Log the device of an op."""
    sys.stderr.write(f"Executing op {op.name} in device {device.name}\n")


def call(function: Callable[..., Any], raws: list[Any]) -> Any:
    """Choose a device for a function that is not a primitive, and call it there.

    Raises:
        InvalidArgumentError: if the device cannot run it and soft placement is off.
    """
    device = target(raws)
    if device is HOST:
        return function(*shown(raws))
    try:
        if not all(map(is_movable, raws)):
            raise Inexpressible("strings stay on the host")
        return Placement.call(function, raws, device)
    except Inexpressible as error:
        result = function(*shown(raws))
        if not Placement.soft:
            raise refusal(public_name() or function.__name__, device, error) from None
        return result


def public_name() -> str:
    """The name of the public function that the program has called."""
    frame: Any = sys._getframe(1)
    name = ""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gradtape."):
        if frame.f_globals["__name__"].startswith("gradtape.tf"):
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


def refusal(name: str, device: Device, why: Any) -> InvalidArgumentError:
    """TensorFlow's error for an op that the requested device cannot run."""
    return InvalidArgumentError(
        f"{name}: Could not satisfy device specification {device.name!r}. "
        f"enable_soft_placement=0. Supported device types [CPU]: {why}. Run it under "
        "tf.device('/CPU:0'), or call tf.config.set_soft_device_placement(True)."
    )


Handed.evaluate = evaluate
Handed.evaluate_raw = evaluate_raw
