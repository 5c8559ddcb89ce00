"""Storage of a variable's value, with thread-safe reads and updates.

The value is a *version*: a tensor with its own uid. Changing the variable installs a new version,
so values that were read or saved by a tape stay unchanged. An update can still write in place: it
removes the version from the storage, and if the array then has no other reference, no other code
can see the old value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from gradtape.core.context import local, next_uid
from gradtape.core.device.array import HOST, Device, DeviceTensor, Remote, moved, tensor_of, wanted
from gradtape.core.device.switch import in_use, once_in_use
from gradtape.core.lock import ONCE, Lock
from gradtape.core.tensor import EagerTensor, Tensor, eager


def references_of_mine() -> int:
    """The `getrefcount` of an array with two references: a local variable and an attribute."""
    array = references_of_mine.kept = np.empty(1)  # type: ignore[attr-defined]
    return getrefcount(array)


# Without the GIL another thread may change a reference count at any time: never in place.
MINE = references_of_mine() if getattr(sys, "_is_gil_enabled", lambda: True)() else -1


class Cell:
    """The mutable part of a variable. Every change ends with an assignment to `_value`.

    `_value` is None during an update: the update holds `_lock` and has removed the version in one
    atomic step. A reader that finds None waits for the lock (`_version`). A value that another
    thread assigns during an update is the later one, so the update keeps it.
    """

    _value: Tensor | None
    _is_random = False  # whether it is the state of a random generator
    _work: Any = None  # the array that an update is working on
    _home: Device = HOST  # the device of the value, on whichever device the next one is computed

    def __init__(self, raw: Any) -> None:
        """Start with `raw`."""
        self._lock = Lock()
        self._raw_dtype = raw.dtype
        if in_use[0]:
            raw = wanted(raw)
            self._home = raw.device if type(raw) is Remote else HOST
        self._value = version(raw)

    def _version(self) -> Tensor:
        """The stored version, without the updates of a trace; recorders are not notified."""
        value = self._value
        if value is None:
            with self._lock:
                value = self._value
                if value is None:
                    # Called by a signal handler or destructor during this thread's own update.
                    return version(self._work.copy())
        return value

    def _current(self) -> Tensor:
        """The current version, inside a trace the trace's; recorders are not notified."""
        trace = tracing()
        return self._version() if trace is None else trace.state(self).newest

    def _read(self) -> Tensor:
        """The current value, for use in an op; recorders are notified.

        Without recorders the result is a new tensor, so that a tape which records later does not
        mistake it for the variable.
        """
        value = self._value
        if value is None:
            value = self._version()
        recorders = local.recorders
        if not recorders:
            return eager(value._array)
        if recorders[0].stages:
            tensor: Tensor = recorders[0].read(self)
            return tensor
        uid = value.uid
        for recorder in recorders:
            if uid not in recorder:
                recorder.touch(self, uid)
        return value

    def _install(self, raw: Any) -> None:
        """Make `raw` the value. The caller must not write to it any more."""
        self._value = version(raw)

    @once_in_use(_install)
    def _install_at_home(self, raw: Any) -> None:
        """`_install` when values may be on accelerators."""
        self._value = version(moved(raw, self._home))

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
                self._value = self._version()
            value, self._value = self._value, None
            fresh.uid = value.uid
            array = self._work = value._array
            try:
                del value  # other references to the version keep a reference to the array
                own = (
                    getrefcount(array) == MINE
                    and type(array) is np.ndarray
                    and array.base is None
                    and array.flags.writeable
                )
                array = function(array, own, *args)
                if in_use[0] and not own:
                    array = moved(array, self._home)
                fresh.uid = uid
            finally:
                fresh._array = array
                if (
                    in_use[0] and array.__class__ is Remote
                ):  # no call here: interrupts are delivered in calls
                    fresh.__class__ = DeviceTensor
                if self._value is None:
                    self._value = fresh
                self._work = None
        finally:
            if locked:
                self._lock.release()


class Taken:
    """Context manager that removes the versions of several variables for one common update.

    At its end, variables that did not get a new version get their old one back. An interrupt may
    arrive anywhere, so call `put_back` once more after the context.

    Attributes:
        arrays: the raw arrays, in the order of the variables.
        own: whether none of the arrays has other references, so that all may be written in place.
    """

    __slots__ = ("arrays", "own", "taken", "values", "variables")

    def __init__(self, variables: list[Cell]) -> None:
        """`variables` must be sorted by their keys: locks are acquired in this order."""
        self.variables = variables
        self.arrays: list[Any] = []
        self.values: list[Any] = []
        self.taken: list[Any] = []
        self.own = False

    def __enter__(self) -> Taken:
        """Lock the variables and remove their versions."""
        arrays, values, own = self.arrays, self.values, True
        try:
            for variable in self.variables:
                if variable._lock._is_owned():  # type: ignore[attr-defined]
                    return self  # this call interrupted an update in the same thread
                self.taken.append(variable)
                variable._lock.acquire()
                value: Any = variable._value
                values.append(value)
                array = variable._work = value._array
                variable._value = None
                arrays.append(array)
                if (
                    getrefcount(value) != VALUE
                    or getrefcount(array) != ARRAY
                    or type(array) is not np.ndarray
                    or array.base is not None
                    or not array.flags.carray
                ):
                    own = False
        except BaseException:
            self.put_back()
            raise
        self.own = own
        return self

    def __exit__(self, *error: Any) -> None:
        """Put back the versions that were not replaced."""
        self.put_back()

    def put_back(self) -> None:
        """Put back the versions that were not replaced, and unlock. Safe to call again."""
        while self.taken:
            i = len(self.taken) - 1
            variable = self.taken[i]
            if variable._lock._is_owned():
                if i < len(self.values):
                    if variable._value is None:
                        variable._value = self.values[i]
                    variable._work = None
                variable._lock.release()
            del self.taken[i]


def references_when_taken() -> tuple[int, int]:
    """The `getrefcount` in `Taken` of a version and an array without other references."""
    if MINE < 0:
        return -1, -1
    value = version(np.empty(1))
    held = [value]
    array = value._array
    work, listed = array, [array]
    counts = getrefcount(value), getrefcount(array)
    del held, work, listed
    return counts


def tracing() -> Any:
    """The active trace of this thread, or None."""
    recorders = local.recorders
    return recorders[0] if recorders and recorders[0].stages else None


def arrays_of(variables: list[Any]) -> list[Any]:
    """The current raw arrays of variables; recorders are not notified."""
    try:
        return [v._value._array for v in variables]
    except AttributeError:  # one of them is being updated
        return [v._version()._array for v in variables]


def version(raw: Any) -> EagerTensor:
    """Make a version: a tensor that is the value of a variable."""
    tensor = EagerTensor()
    tensor._array = raw
    tensor.uid = -next_uid()
    return tensor


@once_in_use(version)
def version_somewhere(raw: Any) -> EagerTensor:
    """`version` when the value may be on an accelerator."""
    tensor = tensor_of(raw)
    tensor.uid = -tensor.uid
    return tensor


VALUE, ARRAY = references_when_taken()
