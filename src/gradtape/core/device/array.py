"""Values on accelerators: devices and their names, `Remote` arrays, and the tensors around them.

The array of a `DeviceTensor` is a `Remote`: a value that belongs on a device. It keeps the copy
there, and the one on the host, once somebody has asked for them; neither ever changes. Operators
and NumPy's elementwise functions work on the device, so that rules of primitives do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.context import local, next_uid, staging
from gradtape.core.device.switch import use_accelerators
from gradtape.core.lazy_array import Reading, shown
from gradtape.core.tensor import EagerTensor, Handed

LOCALHOST = "/job:localhost/replica:0/task:0/device:"


class Device:
    """A place where values live.

    Attributes:
        kind: "CPU", "GPU" or "TPU".
        number: among those of its kind that may be used.
        place: among all of its kind.
        handle: JAX's device; None for the host.
    """

    __slots__ = ("handle", "kind", "number", "place")

    def __init__(self, kind: str, number: int, handle: Any = None) -> None:
        """The device of this kind and number."""
        self.kind = kind
        self.number = self.place = number
        self.handle = handle

    @property
    def name(self) -> str:
        """As TensorFlow prints it."""
        return f"{LOCALHOST}{self.kind}:{self.number}"

    def __repr__(self) -> str:
        """Kind and number."""
        return f"{self.kind}:{self.number}"


HOST = Device("CPU", 0)
ANYWHERE = Device("CPU", 0)  # no device is asked for, but ops shall not take a short cut


class Engine:
    """What the layer that knows JAX hands down.

    Attributes:
        put: a host value, or a copy elsewhere, as JAX's array on a device.
        fetch: JAX's array as a raw one.
        ufunc: apply a function of NumPy's name elementwise, to values on a device.
        find: the device of a kind and number, or None.
        default: the device of ops on values of accelerators where none is asked for.
    """

    put: Callable[[Any, Device], Any]
    fetch: Callable[[Any], Any]
    ufunc: Callable[[str, tuple[Any, ...], Device], Any]
    find: Callable[[str, int], Device | None]
    default: Callable[[], Device]


class Remote(Reading):
    """A value that belongs on a device.

    Attributes:
        device: where; of what only came to be elsewhere, the host.
        there: the copy in JAX's hands, with JAX's device that has it; or None.
        host: the copy on the host, or None.
    """

    __slots__ = ("__weakref__", "device", "host", "there")

    def __init__(self, device: Device, there: tuple[Any, Any] | None, host: Any = None) -> None:
        """Of one copy at least."""
        known = host if there is None else there[0]
        self.shape = tuple(known.shape)
        self.dtype = known.dtype
        self.device = device
        self.there = there
        self.host = host

    def seen(self) -> Any:
        """The copy on the host."""
        host = self.host
        if host is None:
            assert self.there is not None
            host = self.host = Engine.fetch(self.there[0])
        return host

    def on(self, device: Device) -> Any:
        """JAX's array on a device; the one on its own is kept."""
        there = self.there
        if there is not None and there[1] is device.handle:
            return there[0]
        array = Engine.put(self.host if there is None else there[0], device)
        if there is None or device is self.device:
            self.there = array, device.handle
        return array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply on the device; what JAX cannot do, to the values on the host."""
        device = target(inputs)
        if device is not HOST and method == "__call__" and not kwargs:
            result = Engine.ufunc(ufunc.__name__, inputs, device)
            if result is not None:
                return result
        if "out" in kwargs:
            kwargs["out"] = shown(kwargs["out"])
        return getattr(ufunc, method)(*map(shown, inputs), **kwargs)

    def __repr__(self) -> str:
        """That of the value."""
        return repr(self.seen())

    def __str__(self) -> str:
        """That of the value."""
        return str(self.seen())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the value."""
        return shown, (self.seen(),)


def target(raws: Any) -> Device:
    """Where an op on `raws` runs: where the program asked for, or an accelerator if one has them.

    So does TensorFlow; but there an op that nobody asked anything of runs on an accelerator, too.
    The run that a function is traced in is the host's: each of its ops would have to be compiled.
    """
    if staging():
        return HOST
    device = local.device
    if device is None or device is ANYWHERE:
        for raw in raws:
            if type(raw) is Remote and raw.device is not HOST:
                return Engine.default()
        return HOST
    return device


class DeviceTensor(EagerTensor):
    """A tensor whose value belongs on an accelerator."""

    __slots__ = ()

    @property
    def device(self) -> str:
        """Where the value lives."""
        return str(self._array.device.name)

    backing_device = device

    def numpy(self) -> Any:
        """A copy on the host, which may be written to; a scalar as a NumPy scalar."""
        raw = self._array.seen()
        return raw.copy() if isinstance(raw, np.ndarray) else raw

    def _numpy(self) -> Any:
        return self._array.seen()

    def cpu(self) -> EagerTensor:
        """The same value on the host."""
        return tensor_of(self._array.seen())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the value."""
        return tensor_of, (self._array.seen(),)


DeviceTensor.__name__ = DeviceTensor.__qualname__ = "EagerTensor"  # as TensorFlow calls it


def tensor_of(raw: Any) -> EagerTensor:
    """A tensor around a raw array, wherever that is."""
    tensor = DeviceTensor() if type(raw) is Remote else EagerTensor()
    tensor._array = raw
    tensor.uid = next_uid()
    return tensor


def is_movable(raw: Any) -> bool:
    """Whether a raw value can leave the host: strings and Python objects cannot."""
    dtype = getattr(raw, "dtype", None)
    return not (isinstance(dtype, np.dtype) and dtype.kind == "O")


def arrived(array: Any, device: Device) -> Remote:
    """What JAX has computed on a device."""
    return Remote(device, (array, device.handle))


def moved(raw: Any, device: Device) -> Any:
    """A raw array that belongs on `device`; it is copied there when it is first needed there."""
    if type(raw) is Remote:
        if raw.device is device:
            return raw
        if device is HOST:
            return raw.seen()
        return Remote(device, raw.there, raw.host)
    if device is HOST or not is_movable(raw):
        return raw
    use_accelerators()
    return Remote(device, None, raw)


def beside(raw: Any, other: Any) -> Any:
    """A raw array where another is."""
    return moved(raw, other.device) if type(other) is Remote else raw


def kept_at(raw: Any, device: Device) -> Any:
    """`moved`, but a copy elsewhere is kept beside the one on the host, which is made when needed.

    So a variable of the host that a function computes with on an accelerator travels once.
    """
    if device is HOST and type(raw) is Remote and raw.there is not None:
        return raw if raw.device is HOST else Remote(HOST, raw.there, raw.host)
    return moved(raw, device)


def wanted(raw: Any) -> Any:
    """A new value, where the program asks for it to be."""
    device = local.device
    if device is None or device is ANYWHERE or type(raw) is Remote or staging():
        return raw
    return moved(raw, device)


def placed(raw: Any) -> EagerTensor:
    """A tensor of a new value, where the program asks for it to be."""
    return tensor_of(wanted(raw))


def gpu(tensor: EagerTensor, number: int) -> EagerTensor:
    """A copy of a tensor on a GPU.

    Raises:
        RuntimeError: if there is none of that number.
    """
    device = Engine.find("GPU", number)
    if device is None:
        raise RuntimeError(f"GPU:{number} unknown device. See tf.config.list_logical_devices().")
    return tensor_of(moved(tensor._array, device))


Handed.placed = placed
