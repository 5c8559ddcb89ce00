"""Who is listening: the recorders active in each thread, and switches that hold for a scope."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from typing import Any

from gradtape.core.lock import Lock

# A tensor that a recorder may know (the version of a variable, the result of a recorded op) is
# *marked*: its uid is negative, so that an op on others sees at a glance that it has nobody to
# tell. What is watched by hand stays unmarked; `always[0]` counts the recorders, in all threads,
# that know such a one, and while there are any, ops ask their recorders every time.
next_uid = itertools.count(2).__next__  # 0 and -1 have a meaning of their own in a sweep


class Local(threading.local):
    """What belongs to one thread; `recorders` is replaced, never mutated: ops iterate over it."""

    recorders: tuple[Any, ...] = ()
    name_scopes: tuple[str, ...] = ()
    device: Any = None  # where ops shall run, if `tf.device` said so: a `device.array.Device`
    scratch: bool = False  # whether tensors of unknown size may be about: see `shape_inference`
    lane: int | None = None  # which of the two is being run
    depends_on_data: bool = False  # whether it has used the data of a placeholder
    draws: Any = None  # of a function that runs eagerly: where its random ops draw from
    stand_in: int = 0
    """While only shapes and dtypes are wanted, a size for what the contents of strings decide."""


local = Local()
always = [0]
counting = Lock()


def listen(recorders: tuple[Any, ...]) -> None:
    """From now on exactly `recorders` are told about ops of this thread."""
    local.recorders = recorders
    recount(local.__dict__)


def recount(home: dict[str, Any]) -> None:
    """Count a thread's recorders that know unmarked tensors; `home` is what belongs to it."""
    now = sum(recorder.unmarked for recorder in home.get("recorders", ()))
    before = home.get("unmarked", 0)
    if now != before:
        with counting:  # no call within: an interrupt finds both numbers changed, or none
            always[0] += now - before
            home["unmarked"] = now


def push(recorder: Any) -> None:
    """Make `recorder` the innermost one of this thread."""
    local.recorders = (*local.recorders, recorder)
    if recorder.unmarked:
        recount(local.__dict__)


def pop(recorder: Any) -> None:
    """Take `recorder` away, wherever it stands."""
    recorders = local.recorders
    if recorders and recorders[-1] is recorder:
        local.recorders = recorders[:-1]
    else:
        local.recorders = tuple([r for r in recorders if r is not recorder])
    if recorder.unmarked:
        recount(local.__dict__)


@contextlib.contextmanager
def listening(recorders: tuple[Any, ...]) -> Iterator[None]:
    """Within this scope exactly `recorders` are told about ops."""
    before = local.recorders
    try:
        listen(recorders)
        yield
    finally:
        local.recorders = before  # at once: an interrupt lands in calls
        recount(local.__dict__)


def staging() -> tuple[Any, ...]:
    """The trace that takes over the ops of this thread, if there is one; it is the outermost."""
    recorders = local.recorders
    return recorders[:1] if recorders and recorders[0].stages else ()


def unheard() -> contextlib.AbstractContextManager[None]:
    """Within this scope nobody records."""
    return listening(())
