"""Commit: how compiled calls read and write variables that other threads use at the same time.

A call reads a snapshot of its variables, computes without a lock, and commits. The commit stores
all new versions, or none if a variable that the call read and wrote has another version by now.
Then the call runs again as an `ExclusiveUpdate`, which locks the variables in the order of their
keys.

The functions that touch several variables are generated as straight lines of attribute reads and
writes. CPython switches threads and runs signal handlers only at calls, at function entries and at
backward jumps, so such a line is atomic. No object is created or deleted within it, because that
may run the destructors of other objects. Free-threaded builds take a lock around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, starmap
from operator import attrgetter, call
from typing import Any

from gradtape.core.context import next_uid
from gradtape.core.float_errors import IGNORE_ALL, reset_float_errors, set_float_errors
from gradtape.core.generated_code import execute_source
from gradtape.core.lock import Lock
from gradtape.core.ownership import HAS_GIL, are_versions_exclusive
from gradtape.core.ports import devices
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.devices.array import to_device_with_cache
from gradtape.state.variable.storage import COMMIT_LOCK, make_version

CHECKS_PER_LINE = 64
get_lock = attrgetter("_lock")


def compile_atomic(name: str, parameters: Iterable[str], lines: list[str]) -> Callable[..., Any]:
    """Make a function of straight lines, which no other thread and no signal handler divides."""
    source = "\n    ".join([f"def {name}({', '.join(parameters)}):", *lines])
    namespace: dict[str, Any] = {"EagerTensor": EagerTensor, "next_uid": next_uid}
    execute_source("commit", source, namespace)
    function: Callable[..., Any] = namespace[name]
    if HAS_GIL:
        return function

    def run_locked(*args: Any) -> Any:
        with COMMIT_LOCK:
            return function(*args)

    return run_locked


@cache
def snapshot_function(count: int) -> Callable[..., tuple[Any, ...]]:
    """Make a function that reads the versions of `count` variables at one moment."""
    variables = [f"v{i}" for i in range(count)]
    versions = "".join([f"{v}._value, " for v in variables])
    return compile_atomic("read_snapshot", variables, [f"return ({versions})"])


@cache
def read_function(count: int) -> Callable[..., tuple[Any, Any]]:
    """Make a function that reads versions at one moment, and returns them and their raw arrays.

    It raises AttributeError if an exclusive update has removed a version.
    """
    variables = [f"v{i}" for i in range(count)]
    versions = [f"t{i}" for i in range(count)]
    lines = [f"{t} = {v}._value" for t, v in zip(versions, variables, strict=True)]
    arrays = ", ".join([f"{t}._array" for t in versions])
    lines.append(f"return ({''.join([f'{t}, ' for t in versions])}), [{arrays}]")
    return compile_atomic("read_versions_and_arrays", variables, lines)


@cache
def commit_function(written: int, checked: int, blind: int) -> Callable[..., bool]:
    """Make a function that checks and stores versions.

    Its arguments are the written variables, their new versions, the checked variables and the
    versions they must have, and the variables that are written without a check: these must not be
    locked by an exclusive update.
    """
    w, f, c, b, u = (
        [f"{kind}{i}" for i in range(count)]
        for kind, count in zip("wfcbu", (written, written, checked, checked, blind), strict=True)
    )
    tests = [f"{c[i]}._value is {b[i]}" for i in range(checked)]
    tests += [f"{u[i]}._value is not None" for i in range(blind)]
    lines = []
    for start in range(0, len(tests), CHECKS_PER_LINE):
        lines.append(f"if not ({' and '.join(tests[start : start + CHECKS_PER_LINE])}):")
        lines.append("    return False")
    # The replaced versions stay alive: their destructors must not run between stores.
    lines += [f"old_{v} = {v}._value" for v in u]
    lines += [f"{w[i]}._value = {f[i]}" for i in range(written)]
    return compile_atomic("commit", [*w, *f, *c, *b, *u], [*lines, "return True"])


@cache
def update_function(count: int) -> Callable[..., bool]:
    """Make a function that commits new raw values of `count` variables that a call has read.

    Its arguments are the variables, the versions that they must have, and the new values. All
    objects are made before the first check.
    """
    w, b, raws = ([f"{kind}{i}" for i in range(count)] for kind in "wbr")
    lines = []
    for i in range(count):
        lines += [f"f{i} = EagerTensor()", f"f{i}._array = {raws[i]}", f"f{i}.uid = -next_uid()"]
    for start in range(0, count, CHECKS_PER_LINE):
        stop = min(start + CHECKS_PER_LINE, count)
        tests = [f"{w[i]}._value is {b[i]}" for i in range(start, stop)]
        lines += [f"if not ({' and '.join(tests)}):", "    return False"]
    lines += [f"{w[i]}._value = f{i}" for i in range(count)]
    return compile_atomic("update", [*w, *b, *raws], [*lines, "return True"])


@cache
def store_function(count: int) -> Callable[..., None]:
    """Make a function that stores versions in variables whose versions were removed.

    Its arguments are the variables and the new versions. A value that a signal handler has assigned
    meanwhile stays.
    """
    w = [f"w{i}" for i in range(count)]
    lines = []
    for name in w:
        lines += [f"if {name}._value is None:", f"    {name}._value = new_{name}"]
    return compile_atomic("store", [*w, *[f"new_{name}" for name in w]], [*lines, "return None"])


@cache
def take_out_function(count: int, taken: int) -> Callable[..., None]:
    """Make a function that reads the versions of variables and removes some of them.

    Its arguments are a list that gets the versions, all variables, and those whose versions it
    removes.
    """
    v = [f"v{i}" for i in range(count)]
    t = [f"t{i}" for i in range(taken)]
    lines = [f"versions[{i}] = {name}._value" for i, name in enumerate(v)]
    for name in t:
        lines += [f"{name}._array_in_update = {name}._value", f"{name}._value = None"]
    return compile_atomic("take_out", ["versions", *v, *t], [*lines, "return None"])


def read_versions(variables: Sequence[Any]) -> Sequence[Tensor]:
    """The versions of variables at one moment; waits for exclusive updates of other threads."""
    read = snapshot_function(len(variables))
    while True:
        versions: Sequence[Any] = read(*variables)
        busy = [v for v, version in zip(variables, versions, strict=True) if version is None]
        if not busy:
            return versions
        copies = {v._key: v._stored_version() for v in busy}  # waits for the other thread
        if all(v._lock._is_owned() for v in busy):
            # This call interrupted an update of the same thread.
            pairs = zip(variables, versions, strict=True)
            return [copies[v._key] if version is None else version for v, version in pairs]


def store_exclusively(written: Sequence[Any], versions: Sequence[Tensor]) -> None:
    """Store new versions at one moment, inside an `ExclusiveUpdate` of the variables."""
    store_function(len(written))(*written, *versions)


def make_versions(variables: Sequence[Any], raws: Sequence[Any]) -> list[Tensor]:
    """Versions with the raw values that `variables` are to get."""
    if devices.active:
        pairs = zip(raws, variables, strict=True)
        return [make_version(to_device_with_cache(raw, v._home_device)) for raw, v in pairs]
    versions: list[Tensor] = []
    for raw in raws:
        version = EagerTensor()
        version._array = raw
        version.uid = -next_uid()
        versions.append(version)
    return versions


def commit(
    written: Sequence[Any],
    versions: Sequence[Tensor],
    checked: Sequence[Any] = (),
    before: Sequence[Any] = (),
    blind: Sequence[Any] = (),
) -> bool:
    """Store `versions` in the variables `written` at one moment, if no other call came between.

    Args:
        written: variables.
        versions: their new versions.
        checked: variables that must still have the versions `before`.
        before: the versions that the call read of them.
        blind: the written variables that are not checked.

    Returns:
        Whether the versions were stored; if not, nothing has changed.
    """
    store = commit_function(len(written), len(checked), len(blind))
    return store(*written, *versions, *checked, *before, *blind)


class ExclusiveUpdate:
    """Context manager that locks variables and removes their versions for one common update.

    Other threads that read or write the variables wait until its end. Variables that did not get a
    new version get their old one back. An interrupt may arrive anywhere, so call `restore_versions`
    once more after the context.

    Attributes:
        versions: the versions of all variables when those at `places` were removed.
        is_owned: whether the arrays at `owned` have no other references: they may be written to.
    """

    __slots__ = ("is_owned", "locked", "owned", "places", "variables", "versions")

    def __init__(
        self,
        variables: Sequence[Any],
        places: Sequence[int] | None = None,
        owned: Sequence[int] = (),
    ) -> None:
        """Update the `variables` at `places` (see `sort_places`), by default all of them.

        Those at `owned` are to be updated in their own arrays.
        """
        self.variables = variables
        self.places = sort_places(range(len(variables)), variables) if places is None else places
        self.owned = owned
        self.versions: list[Any] = [None] * len(variables)
        self.locked: list[bool] = []
        self.is_owned = False

    def __enter__(self) -> ExclusiveUpdate:
        """Lock the variables and remove their versions."""
        variables, versions = self.variables, self.versions
        try:
            while True:
                taken = list(map(variables.__getitem__, self.places))
                self.locked.extend(
                    map(Lock.acquire, map(get_lock, taken))
                )  # one C call: see `Lock`
                for variable in taken:
                    if variable._value is None:  # this call interrupted an update of this thread
                        variable._value = variable._stored_version()
                take_out_function(len(variables), len(taken))(versions, *variables, *taken)
                if len(taken) == len(variables) or type(None) not in map(type, versions):
                    break
                self.restore_versions()  # another thread updates a variable that is only read
                versions[:] = [None] * len(variables)
                read_versions(variables)  # waits
            if self.owned:
                for i in self.owned:
                    variables[i]._array_in_update = versions[i]._array
                self.is_owned = are_versions_exclusive(versions, self.owned)
        except BaseException:
            self.restore_versions()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        """Put back the versions that were not replaced."""
        self.restore_versions()

    def restore_versions(self) -> None:
        """Put back the versions that were not replaced, and unlock. Safe to call again."""
        while self.locked:
            i = len(self.locked) - 1
            variable = self.variables[self.places[i]]
            if variable._lock._is_owned():
                version = self.versions[self.places[i]]
                if version is not None:
                    if variable._value is None:
                        variable._value = version
                    variable._array_in_update = None
                variable._lock.release()
            del self.locked[i]


def run_exclusively(
    variables: Sequence[Any], places: Sequence[int], action: Callable[[Any], Any]
) -> Any:
    """The result of `action(versions)` while other threads wait for the variables at `places`."""
    update = ExclusiveUpdate(variables, sort_places(places, variables))
    try:
        with update:
            return action(update.versions)
    finally:
        update.restore_versions()


def sort_places(places: Iterable[int], variables: Sequence[Any]) -> list[int]:
    """Positions of variables in the order in which their locks are acquired."""
    keys = [variable._key for variable in variables]
    return sorted(places, key=keys.__getitem__)


def run_commit_calls(calls: Iterable[tuple[Any, ...]], *more: Iterable[Any]) -> None:
    """Run the calls that `run_for_commit` returned, then exhaust the iterators in `more`.

    All of this is one loop in C without Python code, so no interrupt can divide it.
    """
    token = set_float_errors(IGNORE_ALL)
    try:
        deque(chain(starmap(call, calls), *more), maxlen=0)
    finally:
        reset_float_errors(token)
