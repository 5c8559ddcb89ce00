"""Lock: the one kind of lock that the library uses, which an interrupt cannot leave locked."""

from __future__ import annotations

import sys
from _thread import RLock  # the class behind the function `threading.RLock`


class Lock(RLock):  # type: ignore[misc]  # the stubs call it final; CPython does not
    """A re-entrant lock for `with` that is never left locked by an exception of a signal handler.

    Python runs signal handlers between two instructions of Python code, never inside a function
    written in C. Up to Python 3.13 it runs none between `__enter__` of a lock written in C and the
    beginning of the `with` block. From Python 3.14 on it may: an exception there leaves the lock
    locked for ever. So `__enter__` is Python code there, after whose return no handler runs before
    the block begins. Inside it, one C call takes the lock and notes that it did. `__exit__` stays
    C code: no handler runs between the end of the block and the release.
    """

    __slots__ = ()

    if sys.version_info >= (3, 14):

        def __enter__(self) -> bool:  # type: ignore[override]
            """Take the lock."""
            taken: list[bool] = []
            try:
                taken.extend(map(self.acquire, (True,)))
            except BaseException:
                if taken:
                    self.release()
                raise
            return True
