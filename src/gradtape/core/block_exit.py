"""BlockExit: an `__exit__` that an interrupt cannot prevent.

Python runs signal handlers before the first line of a function. A handler that raises there
replaces an `__exit__` written in Python: the block is left, and its state stays as it was. Here
`with` calls C code, which ignores its arguments and resumes a generator. A handler that runs as the
generator resumes raises inside its `try` statement, so the code of `finally` runs in any case.
"""

from __future__ import annotations

from _io import _IOBase
from collections.abc import Callable, Generator
from typing import Any

Steps = Callable[["BlockEnd", list["BlockEnd"]], Generator[None, None, None]]


class BlockEnd(_IOBase):
    """The end of one block: `_IOBase.__exit__` is C code that only calls `close`.

    Attributes:
        block: the context manager whose block is open.
        is_usable: whether the generator still runs; an interrupt ends it.
    """

    __slots__ = ("block", "close", "exit", "is_usable")
    closed = True  # the finalizer of `_IOBase` would call `close`

    def __init__(self, steps: Steps, unused: list[BlockEnd]) -> None:
        """Start the generator that `steps` makes; `unused` collects the ends to use again."""
        self.block: Any = None
        self.is_usable = False
        self.close = steps(self, unused).__next__  # type: ignore[method-assign]
        self.close()
        self.exit = self.__exit__


class BlockExit:
    """Descriptor for the name `__exit__` of a context manager.

    `steps` is a generator function of the form

        while True:
            try:
                end.is_usable = True
                yield
            except GeneratorExit:  # the end is not used any more
                end.block = None
                raise
            finally:
                end.is_usable = False
                ...  # leave end.block; before its state changes, call no Python function
            del ...  # the locals, which would keep the block alive
            unused.append(end)

    `with` reads `__exit__` before it calls `__enter__`, so an end exists before the block begins.
    """

    __slots__ = ("steps", "unused")

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.unused: list[BlockEnd] = []

    def __get__(self, block: Any, kind: type | None = None) -> Callable[..., None]:
        """The function that ends the block of `block`; of the class, one that is told the block."""
        if block is None:
            return self.exit_block
        try:
            end = self.unused.pop()
        except IndexError:
            end = BlockEnd(self.steps, self.unused)
        if not end.is_usable:
            end = BlockEnd(self.steps, self.unused)
        end.block = block
        return end.exit

    def exit_block(self, block: Any, *details: Any) -> None:
        """`type(block).__exit__`, as `contextlib.ExitStack` calls it."""
        self.__get__(block)(*details)
