"""Tensors whose value belongs on an accelerator."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.context import next_uid
from gradtape.core.ports import JaxPort
from gradtape.core.tensor import EagerTensor
from gradtape.devices.array import DeviceArray, place_array, to_device


class DeviceTensor(EagerTensor):
    """A tensor whose value belongs on an accelerator."""

    __slots__ = ()

    @property
    def device(self) -> str:
        """The name of the device."""
        return str(self._array.device.name)

    backing_device = device

    def numpy(self) -> Any:
        """A writable copy on the host; a scalar as a NumPy scalar."""
        raw = self._array.value()
        return raw.copy() if isinstance(raw, np.ndarray) else raw

    def _numpy(self) -> Any:
        return self._array.value()

    def cpu(self) -> EagerTensor:
        """The same value on the host."""
        return tensor_from_array(self._array.value())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value."""
        return tensor_from_array, (self._array.value(),)


DeviceTensor.__name__ = DeviceTensor.__qualname__ = "EagerTensor"  # as TensorFlow calls it


def tensor_from_array(raw: Any) -> EagerTensor:
    """Make a tensor of a raw array on the host or of a device array."""
    tensor = DeviceTensor() if type(raw) is DeviceArray else EagerTensor()
    tensor._array = raw
    tensor.uid = next_uid()
    return tensor


def place_tensor(raw: Any) -> EagerTensor:
    """Make a tensor on the device that the program requests."""
    return tensor_from_array(place_array(raw))


def copy_to_gpu(tensor: EagerTensor, number: int) -> EagerTensor:
    """A copy of a tensor on a GPU.

    Raises:
        RuntimeError: if there is no GPU of that number.
    """
    device = JaxPort.find_device("GPU", number)
    if device is None:
        raise RuntimeError(f"GPU:{number} unknown device. See tf.config.list_logical_devices().")
    return tensor_from_array(to_device(tensor._array, device))
