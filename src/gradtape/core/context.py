"""Who is listening: the recorders active in each thread, and switches that hold for a scope."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from typing import Any

next_uid = itertools.count(1).__next__


class Local(threading.local):
    """What belongs to one thread; `recorders` is replaced, never mutated: ops iterate over it."""

    recorders: tuple[Any, ...] = ()
    name_scopes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


local = Local()


def push(recorder: Any) -> None:
    """Make `recorder` the innermost one of this thread."""
    local.recorders = (*local.recorders, recorder)


def pop(recorder: Any) -> None:
    """Take `recorder` away, wherever it stands."""
    local.recorders = tuple(r for r in local.recorders if r is not recorder)


@contextlib.contextmanager
def listening(recorders: tuple[Any, ...]) -> Iterator[None]:
    """Within this scope exactly `recorders` are told about ops."""
    before = local.recorders
    local.recorders = recorders
    try:
        yield
    finally:
        local.recorders = before


def unheard() -> contextlib.AbstractContextManager[None]:
    """Within this scope nobody records."""
    return listening(())
