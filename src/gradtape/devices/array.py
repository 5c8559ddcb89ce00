"""Devices and their names, and device arrays.

The array of a `DeviceTensor` is a `DeviceArray`. It makes the copy on the device and the copy on
the host on first use and keeps both; they never change. Operators and NumPy's elementwise functions
run on the device, and so do the rules of primitives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.context import current_trace, local
from gradtape.core.lazy_array import LazyArray, materialize
from gradtape.core.ports import JaxPort, devices

LOCALHOST = "/job:localhost/replica:0/task:0/device:"


class Device:
    """The host or an accelerator.

    Attributes:
        kind: "CPU", "GPU" or "TPU".
        number: its number among the visible devices of its kind.
        place: its number among all devices of its kind.
        handle: JAX's device; None for the host.
    """

    __slots__ = ("handle", "kind", "number", "physical_number")

    def __init__(self, kind: str, number: int, handle: Any = None) -> None:
        """Describe the device of this kind and number."""
        self.kind = kind
        self.number = self.physical_number = number
        self.handle = handle

    @property
    def name(self) -> str:
        """The full name, as TensorFlow prints it."""
        return f"{LOCALHOST}{self.kind}:{self.number}"

    def __repr__(self) -> str:
        """Kind and number."""
        return f"{self.kind}:{self.number}"


HOST = Device("CPU", 0)
NO_FAST_PATH = Device("CPU", 0)  # no device is requested, but the fast path is disabled


class DeviceArray(LazyArray):
    """A value that belongs on a device.

    Attributes:
        device: the device. A host value that has only been computed elsewhere has the host.
        there: the JAX array and the JAX device it is on, or None.
        host: the copy on the host, or None.
    """

    __slots__ = ("__weakref__", "device", "device_copy", "host_copy")

    def __init__(self, device: Device, there: tuple[Any, Any] | None, host: Any = None) -> None:
        """Hold at least one copy."""
        known = host if there is None else there[0]
        self.shape = tuple(known.shape)
        self.dtype = known.dtype
        self.device = device
        self.device_copy = there
        self.host_copy = host

    def value(self) -> Any:
        """The copy on the host."""
        host = self.host_copy
        if host is None:
            assert self.device_copy is not None
            host = self.host_copy = JaxPort.fetch(self.device_copy[0])
        return host

    def jax_array_on(self, device: Device) -> Any:
        """The JAX array on `device`; the array on the value's own device is kept."""
        there = self.device_copy
        if there is not None and there[1] is device.handle:
            return there[0]
        array = JaxPort.put(self.host_copy if there is None else there[0], device)
        if there is None or device is self.device:
            self.device_copy = array, device.handle
        return array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a ufunc on the device, or on the host if JAX lacks it."""
        device = choose_device(inputs)
        if device is not HOST and method == "__call__" and not kwargs:
            result = JaxPort.apply_ufunc(ufunc.__name__, inputs, device)
            if result is not None:
                return result
        if "out" in kwargs:
            kwargs["out"] = materialize(kwargs["out"])
        return getattr(ufunc, method)(*map(materialize, inputs), **kwargs)

    def __repr__(self) -> str:
        """The repr of the value."""
        return repr(self.value())

    def __str__(self) -> str:
        """The str of the value."""
        return str(self.value())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value."""
        return materialize, (self.value(),)


def choose_device(raws: Any) -> Device:
    """The device for an op on `raws`: that of `tf.device`, or an accelerator that has an operand.

    TensorFlow uses an accelerator also if neither applies; gradtape uses the host. The run that
    traces a function is on the host, because JAX would have to compile each of its ops.
    """
    if current_trace():
        return HOST
    device = local.device
    if device is None or device is NO_FAST_PATH:
        for raw in raws:
            if type(raw) is DeviceArray and raw.device is not HOST:
                return JaxPort.default_device()
        return HOST
    return device


def is_movable(raw: Any) -> bool:
    """Whether a raw value can be copied to a device; strings and Python objects cannot."""
    dtype = getattr(raw, "dtype", None)
    return not (isinstance(dtype, np.dtype) and dtype.kind == "O")


def from_jax_array(array: Any, device: Device) -> DeviceArray:
    """The device array of a JAX array that was computed on `device`."""
    return DeviceArray(device, (array, device.handle))


def to_device(raw: Any, device: Device) -> Any:
    """A raw array that belongs on `device`; the copy is made on first use."""
    if type(raw) is DeviceArray:
        if raw.device is device:
            return raw
        if device is HOST:
            return raw.value()
        return DeviceArray(device, raw.device_copy, raw.host_copy)
    if device is HOST or not is_movable(raw):
        return raw
    devices.activate()
    return DeviceArray(device, None, raw)


def to_device_of(raw: Any, other: Any) -> Any:
    """A raw array on the device of another."""
    return to_device(raw, other.device) if type(other) is DeviceArray else raw


def to_device_with_cache(raw: Any, device: Device) -> Any:
    """`to_device`, but a value that goes to the host keeps its device copy as a cache.

    A host variable that a function uses on an accelerator is thus copied only once.
    """
    if device is HOST and type(raw) is DeviceArray and raw.device_copy is not None:
        return raw if raw.device is HOST else DeviceArray(HOST, raw.device_copy, raw.host_copy)
    return to_device(raw, device)


def place_array(raw: Any) -> Any:
    """A new raw array on the device that the program requests."""
    device = local.device
    if device is None or device is NO_FAST_PATH or type(raw) is DeviceArray or current_trace():
        return raw
    return to_device(raw, device)
