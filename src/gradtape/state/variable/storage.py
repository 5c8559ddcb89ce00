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
from gradtape.core.lock import ONCE, Lock
from gradtape.core.ownership import (
    ARRAY_REFERENCES,
    UPDATE_REFERENCES,
    VERSION_REFERENCES,
    count_references,
    is_exclusive,
)
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


class VariableStorage:
    """The mutable part of a variable. Every change ends with an assignment to `_value`.

    `_value` is None during an update: the update holds `_lock` and has removed the version in one
    atomic step. A reader that finds None waits for the lock (`_stored_version`). A value that
    another thread assigns during an update is the later one, so the update keeps it.
    """

    _value: Tensor | None
    _is_random = False  # whether it is the state of a random generator
    _array_in_update: Any = None  # the array that an update is working on
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
                    return make_version(self._array_in_update.copy())
        return value

    def _current_version(self) -> Tensor:
        """The current version, inside a trace the trace's; recorders are not notified."""
        trace = active_trace()
        return self._stored_version() if trace is None else trace.variable_state(self).newest

    def _read(self) -> Tensor:
        """The current value, for use in an op; recorders are notified.

        Without recorders the result is a new tensor, so that a tape which records later does not
        mistake it for the variable.
        """
        value = self._value
        if value is None:
            value = self._stored_version()
        recorders = local.recorders
        if not recorders:
            return make_tensor(value._array)
        if recorders[0].is_trace:
            tensor: Tensor = recorders[0].read_variable(self)
            return tensor
        uid = value.uid
        for recorder in recorders:
            if uid not in recorder:
                recorder.on_variable_read(self, uid)
        return value

    def _install(self, raw: Any) -> None:
        """Make `raw` the value. The caller must not write to it any more."""
        if devices.active:
            self._value = make_version_on_device(to_device(raw, self._home_device))
            return
        version = EagerTensor()  # as `make_version`, without a second test of `devices.active`
        version._array = raw
        version.uid = -next_uid()
        self._value = version

    def _update(self, function: Callable[..., Any], *args: Any) -> None:
        """Install the result of `function(array, own, *args)`, where `array` is the current value.

        If `own` is true, `array` has no other reference, and `function` may write into it. It must
        do all checks first and then write in a single NumPy call, so that an interrupt finds the
        update either complete or not started.
        """
        fresh, uid = EagerTensor(), -next_uid()
        locked: list[bool] = []
        try:  # as `with self._lock:`, without a call: see `Lock`
            locked.extend(map(self._lock.acquire, ONCE))
            if self._value is None:  # this call interrupted an update in the same thread
                self._value = self._stored_version()
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
        finally:
            if locked:
                self._lock.release()


class ExclusiveUpdate:
    """Context manager that removes the versions of several variables for one common update.

    At its end, variables that did not get a new version get their old one back. An interrupt may
    arrive anywhere, so call `put_back` once more after the context.

    Attributes:
        arrays: the raw arrays, in the order of the variables.
        own: whether none of the arrays has other references, so that all may be written in place.
    """

    __slots__ = ("arrays", "is_exclusive", "locked", "variables", "versions")

    def __init__(self, variables: list[VariableStorage]) -> None:
        """`variables` must be sorted by their keys: locks are acquired in this order."""
        self.variables = variables
        self.arrays: list[Any] = []
        self.versions: list[Any] = []
        self.locked: list[Any] = []
        self.is_exclusive = False

    def __enter__(self) -> ExclusiveUpdate:
        """Lock the variables and remove their versions."""
        arrays, values, own = self.arrays, self.versions, True
        try:
            for variable in self.variables:
                if variable._lock._is_owned():  # type: ignore[attr-defined]
                    return self  # this call interrupted an update in the same thread
                self.locked.append(variable)
                variable._lock.acquire()
                value: Any = variable._value
                values.append(value)
                array = variable._array_in_update = value._array
                variable._value = None
                arrays.append(array)
                if (
                    count_references(value) != VERSION_REFERENCES
                    or not is_exclusive(array, ARRAY_REFERENCES)
                    or not array.flags.carray
                ):
                    own = False
        except BaseException:
            self.restore_versions()
            raise
        self.is_exclusive = own
        return self

    def __exit__(self, *error: Any) -> None:
        """Put back the versions that were not replaced."""
        self.restore_versions()

    def restore_versions(self) -> None:
        """Put back the versions that were not replaced, and unlock. Safe to call again."""
        while self.locked:
            i = len(self.locked) - 1
            variable = self.locked[i]
            if variable._lock._is_owned():
                if i < len(self.versions):
                    if variable._value is None:
                        variable._value = self.versions[i]
                    variable._array_in_update = None
                variable._lock.release()
            del self.locked[i]


def active_trace() -> Any:
    """The active trace of this thread, or None."""
    recorders = local.recorders
    return recorders[0] if recorders and recorders[0].is_trace else None


def current_arrays(variables: list[Any]) -> list[Any]:
    """The current raw arrays of variables; recorders are not notified."""
    try:
        return [v._value._array for v in variables]
    except AttributeError:  # one of them is being updated
        return [v._stored_version()._array for v in variables]


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
