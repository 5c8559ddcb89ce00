"""Cell: where a variable's value lives, how it is read, and how it is changed safely.

The value is a *version*: a tensor with a uid of its own. Changing the variable installs another
version, so what was read, or saved by a tape, stays as it was. An update may still write into the
array it starts from: it takes the version out of the cell, and if afterwards nobody refers to the
array but the update itself, nobody can ever look at the old value.
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
    """What `getrefcount` says of an array that a local variable and one attribute refer to."""
    array = references_of_mine.kept = np.empty(1)  # type: ignore[attr-defined]
    return getrefcount(array)


# Without a lock around the interpreter a count says nothing about the next moment.
MINE = references_of_mine() if getattr(sys, "_is_gil_enabled", lambda: True)() else -1


class Cell:
    """The mutable part of a variable. Every change ends in an assignment to `_value`.

    `_value` is None while an update is at work: under `_lock`, and in one step that no other thread
    can divide, it took the version out. Who finds None waits for the lock (`_version`). A value
    that somebody else put there meanwhile is the later one, and stays.
    """

    _value: Tensor | None
    _is_random = False  # whether it is the state of a generator
    _work: Any = None  # the array an update is at work on
    _home: Device = HOST  # where the value stays, whatever computes the next

    def __init__(self, raw: Any) -> None:
        """Start with `raw`."""
        self._lock = Lock()
        self._raw_dtype = raw.dtype
        if in_use[0]:
            raw = wanted(raw)
            self._home = raw.device if type(raw) is Remote else HOST
        self._value = version(raw)

    def _version(self) -> Tensor:
        """The current version; recorders are not told."""
        value = self._value
        if value is None:
            with self._lock:
                value = self._value
                if value is None:
                    # A signal handler or destructor, in the midst of this thread's own update.
                    return version(self._work.copy())
        return value

    def _current(self) -> Tensor:
        """The current version, without telling anybody: inside a trace, the trace's."""
        trace = tracing()
        return self._version() if trace is None else trace.state(self).newest

    def _read(self) -> Tensor:
        """The current value, for an op; recorders are told.

        Where nobody records it comes as a tensor of its own: one that is kept must not count as
        the variable later.
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
        for known in recorders:
            if uid not in known:
                known.touch(self, uid)
        return value

    def _install(self, raw: Any) -> None:
        """Make `raw`, which must not be written to from now on, the value."""
        self._value = version(raw)

    @once_in_use(_install)
    def _install_at_home(self, raw: Any) -> None:
        """The same where values may be on accelerators."""
        self._value = version(moved(raw, self._home))

    def _update(self, function: Callable[..., Any], *args: Any) -> None:
        """Install what `function(array, own, *args)` makes of the current raw array.

        Where `own` is true nobody else sees `array`, and `function` may write into it: in a single
        call into NumPy after all that can fail, so that an interrupt finds it done or not begun.
        """
        fresh, uid = EagerTensor(), -next_uid()
        locked: list[bool] = []
        try:  # as `with self._lock:`, without a call: see `Lock`
            locked.extend(map(self._lock.acquire, ONCE))
            if self._value is None:  # this thread's own update was interrupted by this one
                self._value = self._version()
            value, self._value = self._value, None
            fresh.uid = value.uid
            array = self._work = value._array
            try:
                del value  # if others hold it, it holds the array for them
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
                if in_use[0] and array.__class__ is Remote:  # no call: an interrupt lands in one
                    fresh.__class__ = DeviceTensor
                if self._value is None:
                    self._value = fresh
                self._work = None
        finally:
            if locked:
                self._lock.release()


class Taken:
    """Versions of several variables, taken out of their cells for one update of all of them.

    A context manager. Whoever puts a new version into a cell meanwhile is done with it; the others
    get their old one back. An interrupt may land anywhere: call `put_back` once more afterwards.

    Attributes:
        arrays: the raw arrays, in the order of the variables.
        own: whether nobody else can see any of them, so that they may be written to.
    """

    __slots__ = ("arrays", "own", "taken", "values", "variables")

    def __init__(self, variables: list[Cell]) -> None:
        """For these variables, in the order of their keys."""
        self.variables = variables
        self.arrays: list[Any] = []
        self.values: list[Any] = []
        self.taken: list[Any] = []
        self.own = False

    def __enter__(self) -> Taken:
        """Take the versions out."""
        arrays, values, own = self.arrays, self.values, True
        try:
            for variable in self.variables:
                if variable._lock._is_owned():  # type: ignore[attr-defined]
                    return self  # this thread's own update was interrupted by this one
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
        """Put back what nobody replaced."""
        self.put_back()

    def put_back(self) -> None:
        """Put back what nobody replaced, and let go; what is done already is not done again."""
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
    """What `getrefcount` says, in `Taken`, of a version and of an array that nobody else holds."""
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
    """The trace that this thread is in, or None."""
    recorders = local.recorders
    return recorders[0] if recorders and recorders[0].stages else None


def arrays_of(variables: list[Any]) -> list[Any]:
    """The raw arrays that variables hold now, without telling anybody."""
    try:
        return [v._value._array for v in variables]
    except AttributeError:  # one of them is being updated
        return [v._version()._array for v in variables]


def version(raw: Any) -> EagerTensor:
    """A tensor that is the value of a variable; recorders may know it."""
    tensor = EagerTensor()
    tensor._array = raw
    tensor.uid = -next_uid()
    return tensor


@once_in_use(version)
def version_somewhere(raw: Any) -> EagerTensor:
    """The same of a value that may be on an accelerator."""
    tensor = tensor_of(raw)
    tensor.uid = -tensor.uid
    return tensor


VALUE, ARRAY = references_when_taken()
