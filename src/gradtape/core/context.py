"""Per-thread state: the active recorders, and settings that hold for a scope."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Generator
from operator import attrgetter
from typing import Any

from gradtape.core.block_exit import BlockEnd, BlockExit
from gradtape.core.lock import Lock

# A tensor that a recorder may know (a version of a variable, the result of a recorded op) is
# *marked*: its uid is negative. An op on unmarked tensors therefore skips its recorders with one
# comparison. Tensors watched by `tape.watch` stay unmarked. `always[0]` counts the recorders in
# all threads that watch such a tensor; while it is not zero, every op asks its recorders.
next_uid = itertools.count(2).__next__  # the backward pass reserves 0 and -1


class ThreadState(threading.local):
    """State of one thread. `recorders` is replaced, never mutated, because ops iterate over it."""

    recorders: tuple[Any, ...] = ()
    name_scopes: tuple[str, ...] = ()
    device: Any = None  # the `devices.array.Device` that `tf.device` asks for
    origin: Any = None  # the location of the op that a replay or a backward step stands for
    scopes: tuple[Any, ...] = ()  # of the library, while the ledger is active
    moment: Any = None  # the `ledger.Moment` without recorders
    random_streams: Any = None  # random streams of a tf.function that runs eagerly


local = ThreadState()
scope_hook: list[Callable[[], None] | None] = [None]  # called by `use_recorders`: see `core.ledger`
is_unmarked = attrgetter("unmarked")
hand_watched_count = [0]
counts_by_thread: dict[
    int, int
] = {}  # those of `hand_watched_count`; threads without any have none
count_lock = Lock()


def set_recorders(recorders: tuple[Any, ...]) -> None:
    """Make `recorders` the recorders of this thread."""
    local.recorders = recorders
    update_hand_watched_count(local.__dict__)


def update_hand_watched_count(home: dict[str, Any]) -> None:
    """Update the count of recorders that watch unmarked tensors.

    Args:
        home: the `__dict__` of the thread's state.
    """
    now = sum(map(is_unmarked, home.get("recorders", ())))
    before = home.get("unmarked", 0)
    if now != before:
        with count_lock:
            home["unmarked"] = None  # the next update repeats one that is interrupted here
            counts_by_thread[id(home)] = now
            if not now:
                del counts_by_thread[id(home)]
            hand_watched_count[0] = sum(counts_by_thread.values())
            home["unmarked"] = now


def push_recorder(recorder: Any) -> None:
    """Make `recorder` the innermost one of this thread."""
    local.recorders = (*local.recorders, recorder)
    if recorder.unmarked:
        update_hand_watched_count(local.__dict__)


def pop_recorder(recorder: Any, home: dict[str, Any] | None = None) -> None:
    """Remove `recorder`, also if it is not the innermost one.

    Args:
        recorder: a recorder; nothing happens if it is not active.
        home: the `__dict__` of the state of the recorder's thread; None for this thread.
    """
    home = local.__dict__ if home is None else home
    home["recorders"] = tuple([r for r in home.get("recorders", ()) if r is not recorder])
    if recorder.unmarked:
        update_hand_watched_count(home)


def restore_state(end: BlockEnd, unused: list[BlockEnd]) -> Generator[None, None, None]:
    """Steps of `BlockExit`: give the thread back the `saved` part of its state."""
    while True:
        try:
            end.is_usable = True
            yield
        except GeneratorExit:  # the end is not used any more
            end.block = None
            raise
        finally:
            end.is_usable = False
            block, end.block = end.block, None
            if block is not None:
                home = block.home
                home.update(block.saved)
                try:
                    update_hand_watched_count(home)
                except BaseException:  # an interrupt, perhaps before the first line
                    update_hand_watched_count(home)
                    raise
        del block
        unused.append(end)


class use_recorders:  # noqa: N801  used like a function
    """Use exactly `recorders` within this scope."""

    def __init__(self, recorders: tuple[Any, ...]) -> None:
        self.recorders = recorders

    def __enter__(self) -> None:
        home = self.home = local.__dict__
        self.saved = {
            "recorders": home.get("recorders", ()),
            "scopes": home.get("scopes", ()),
            "moment": None,
        }
        try:
            recorders = self.recorders
            if scope_hook[0] is not None:
                scope_hook[0]()
                recorders = (*recorders,)  # a tuple of its own: the ledger tells scopes by it
            set_recorders(recorders)
        except BaseException:
            home.update(self.saved)
            update_hand_watched_count(home)
            raise

    __exit__ = BlockExit(restore_state)


def current_trace() -> tuple[Any, ...]:
    """The trace of this thread as a tuple of one, or (); a trace is the outermost recorder."""
    recorders = local.recorders
    is_traced = recorders and recorders[0].is_trace and not recorders[0].is_batch
    return recorders[:1] if is_traced else ()


def trace_around_batches() -> tuple[Any, ...]:
    """The trace of this thread as a tuple of one, also inside `func.vmap`, or ()."""
    recorders = local.recorders
    while recorders and recorders[0].is_trace and recorders[0].is_batch:
        recorders = recorders[0].outer
    return recorders[:1] if recorders and recorders[0].is_trace else ()


def current_stage() -> tuple[Any, ...]:
    """The trace or the stage of `func.vmap` that takes over ops, as a tuple of one, or ()."""
    recorders = local.recorders
    return recorders[:1] if recorders and recorders[0].is_trace else ()


def current_batch() -> Any:
    """The stage of `func.vmap` that runs in this thread, or None."""
    recorders = local.recorders
    return recorders[0] if recorders and recorders[0].is_trace and recorders[0].is_batch else None


def no_recording() -> contextlib.AbstractContextManager[None]:
    """Use no recorders within this scope."""
    return use_recorders(())
