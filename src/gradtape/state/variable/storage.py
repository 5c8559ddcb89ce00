"""Storage of a variable's value, with thread-safe reads and updates.

The value is a *version*: a tensor with its own uid. Changing the variable installs a new version,
so values that were read or saved by a tape stay unchanged. An update can still write in place: it
removes the version from the storage, and if the array then has no other reference, no other code
can see the old value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.context import local, next_uid
from gradtape.core.convert import try_conversions
from gradtape.core.ledger import ledger, note_read
from gradtape.core.lock import Lock
from gradtape.core.ownership import HAS_GIL, UPDATE_REFERENCES, is_exclusive
from gradtape.core.ports import devices
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.devices.array import (
    HOST,
    Device,
    DeviceArray,
    place_array,
    to_device,
)
from gradtape.devices.tensor import DeviceTensor, tensor_from_array

COMMIT_LOCK = Lock()  # makes single steps atomic where there is no GIL


class VariableStorage:
    """The mutable part of a variable. Every change ends with an assignment to `_value`.

    `_value` is None during an update: the update holds `_lock` and has removed the version in one
    atomic step. Readers and writers in other threads that find None wait for the lock. A value that
    a signal handler or a destructor assigns during an update of the same thread stays.
    """

    _value: Tensor | None
    _is_random = False  # whether it is the state of a random generator
    _key: int
    _array_in_update: Any = (
        None  # the array that an update writes to, or the version that it replaces
    )
    _home_device: Device = (
        HOST  # the device of the value, on whichever device the next one is computed
    )

    def __init__(self, raw: Any) -> None:
        """Start with `raw`."""
        self._lock = Lock()
        self._raw_dtype = raw.dtype
        if devices.active:
            raw = place_array(raw)
            self._home_device = raw.device if type(raw) is DeviceArray else HOST
        self._value = make_version(raw)

    def _stored_version(self) -> Tensor:
        """The stored version, without the updates of a trace; recorders are not notified."""
        value = self._value
        if value is None:
            with self._lock:
                value = self._value
                if value is None:
                    # Called by a signal handler or destructor during this thread's own update.
                    work = self._array_in_update
                    return work if isinstance(work, Tensor) else make_version(work.copy())
        return value

    def _current_version(self) -> Tensor:
        """The current version, inside a trace the trace's; recorders are not notified."""
        recorders = local.recorders
        if recorders and recorders[0].is_trace:
            traced: Tensor = recorders[0].variable_state(self).newest
            return traced
        value = self._value
        return self._stored_version() if value is None else value

    def _read(self) -> Tensor:
        """The current value, for use in an op; recorders are notified.

        Without recorders the result is a new tensor, so that a tape which records later does not
        mistake it for the variable.
        """
        try:
            value = self._value
        except AttributeError:
            return self._convert_subclass()
        if value is None:
            value = self._stored_version()
        recorders = local.recorders
        if not recorders:
            tensor: Tensor = make_tensor(value._array)
            if ledger.active:
                note_read(value, tensor)
            return tensor
        if recorders[0].is_trace:
            traced: Tensor = recorders[0].read_variable(self)
            return traced
        uid = value.uid
        for recorder in recorders:
            if uid not in recorder:
                recorder.on_variable_read(self, uid)
        return value

    def _convert_subclass(self) -> Tensor:
        """The value of a subclass that has its own storage and a registered conversion."""
        value = try_conversions(self, None, None, None)
        if value is None:
            raise AttributeError(
                f"{type(self).__name__}: a subclass of Variable must call Variable's constructor, "
                "or register a conversion with tf.register_tensor_conversion_function."
            )
        return value

    def _install(self, raw: Any) -> None:
        """Make `raw` the value. The caller must not write to it any more."""
        if devices.active:
            self._wait_and_store(make_version_on_device(to_device(raw, self._home_device)))
            return
        version = EagerTensor()  # as `make_version`, without a second test of `devices.active`
        version._array = raw
        version.uid = -next_uid()
        if HAS_GIL and self._value is not None:
            self._value = version  # no call since the test: no update can begin between them
        else:
            self._wait_and_store(version)

    def _wait_and_store(self, version: Tensor) -> None:
        """Make `version` the value after updates of other threads."""
        with self._lock, COMMIT_LOCK:
            self._value = version

    def _update(self, function: Callable[..., Any], *args: Any) -> None:
        """Install the result of `function(array, own, *args)`, where `array` is the current value.

        If `own` is true, `array` has no other reference, and `function` may write into it. It must
        do all checks first and then write in a single NumPy call, so that an interrupt finds the
        update either complete or not started.
        """
        fresh, uid = EagerTensor(), -next_uid()
        with self._lock:
            if self._value is None:  # this call interrupted an update in the same thread
                self._value = self._stored_version()
            if HAS_GIL:
                value, self._value = self._value, None  # no call: atomic
            else:
                with COMMIT_LOCK:
                    value, self._value = self._value, None
            fresh.uid = value.uid
            array = self._array_in_update = value._array
            try:
                del value  # other references to the version keep a reference to the array
                own = is_exclusive(array, UPDATE_REFERENCES)
                array = function(array, own, *args)
                if devices.active and not own:
                    array = to_device(array, self._home_device)
                fresh.uid = uid
            finally:
                fresh._array = array
                if (
                    devices.active and array.__class__ is DeviceArray
                ):  # no call here: interrupts are delivered in calls
                    fresh.__class__ = DeviceTensor
                if self._value is None:
                    self._value = fresh
                self._array_in_update = None


def active_trace() -> Any:
    """The active trace of this thread, or None."""
    recorders = local.recorders
    return recorders[0] if recorders and recorders[0].is_trace else None


def make_version(raw: Any) -> EagerTensor:
    """Make a version: a tensor that is the value of a variable."""
    if devices.active:
        return make_version_on_device(raw)
    tensor = EagerTensor()
    tensor._array = raw
    tensor.uid = -next_uid()
    return tensor


def make_version_on_device(raw: Any) -> EagerTensor:
    """`make_version` when the value may be on an accelerator."""
    tensor = tensor_from_array(raw)
    tensor.uid = -tensor.uid
    return tensor
