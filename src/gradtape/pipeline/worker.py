"""Threads behind a pipeline: elements made ahead of time, functions applied side by side.

What a thread works on never refers to the iterator that is drawn from. So the iterator is freed
when nobody holds it, and its threads end.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from time import perf_counter
from typing import Any

from gradtape.core.errors import FailedPreconditionError
from gradtape.pipeline.current_pass import Pass, ongoing
from gradtape.pipeline.element.element import END

AUTOMATIC = 8  # elements ahead where the number is left to us
TRIED = 8  # calls after which it is decided whether threads pay
SHORT = 2e-4  # seconds in which an item is made that no thread makes sooner
WORTH = 1e-3  # seconds that a call must take for that


class Failure:
    """An error on its way to whoever draws."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Buffer:
    """What a thread and the iterator it works for have in common.

    One thread appends and one takes away; a deque needs no lock for that. The lock is for waiting.
    """

    def __init__(self, size: int) -> None:
        """Room for `size` elements."""
        self.size = size
        self.items: deque[Any] = deque()
        self.made = self.taken = 0
        self.closed = self.full = self.starving = False
        self.changed = threading.Condition()

    def close(self) -> None:
        """Let the thread end."""
        self.closed = True
        with self.changed:
            self.changed.notify_all()

    def fill(self, source: Iterator[Any], work: Pass | None) -> None:
        """Append what `source` gives, until it ends or nobody wants it any more."""
        ongoing.now = work
        while not self.closed:
            try:
                item = next(source, END)
            except BaseException as error:
                item = Failure(error)
            self.items.append(item)
            self.made += 1
            if self.starving:
                with self.changed:
                    self.changed.notify_all()
            if item is END:
                return
            self.full = True  # before looking, so that whoever takes one then knows
            if self.made - self.taken >= self.size:
                with self.changed:
                    while self.made - self.taken >= self.size and not self.closed:
                        self.changed.wait()
            self.full = False

    def take(self) -> Any:
        """The oldest item."""
        items = self.items
        if not items:
            with self.changed:
                self.starving = True
                while not items:
                    self.changed.wait()
                self.starving = False
        item = items.popleft()
        self.taken += 1
        if self.full and 2 * len(items) <= self.size:
            with self.changed:
                self.changed.notify_all()
        return item


class Ahead(Iterator[Any]):
    """The items of `source`, up to `size` of them made ahead of time by a thread."""

    def __init__(self, source: Iterator[Any], size: int) -> None:
        """The thread starts with the first item that is asked for."""
        self.buffer = Buffer(size)
        self.source: Iterator[Any] | None = source
        self.process = os.getpid()
        self.ended = False

    def __next__(self) -> Any:
        """The next item."""
        if self.ended:
            raise StopIteration
        if self.source is not None:
            source, self.source, self.process = self.source, None, os.getpid()
            weakref.finalize(self, self.buffer.close)
            work = threading.Thread(
                target=self.buffer.fill,
                args=(source, ongoing.now),
                name="gradtape-prefetch",
                daemon=True,
            )
            del source
            work.start()
        elif self.process != os.getpid():
            raise forked("prefetch")
        item = self.buffer.take()
        if type(item) is Failure:
            raise item.error
        if item is END:
            self.ended = True
            raise StopIteration
        return item


class Prompt(Iterator[Any]):
    """The items of `source`, made when they are asked for; ahead of time once that takes its time.

    A thread costs more than a small batch. This is for items of which nobody can tell when they
    were made.
    """

    def __init__(self, source: Iterator[Any], size: int) -> None:
        """Up to `size` ahead."""
        self.source, self.size = source, size
        self.late = 0  # how many more took long than did not
        self.draw: Callable[[], Any] = self.try_one

    def __next__(self) -> Any:
        """The next item."""
        return self.draw()

    def try_one(self) -> Any:
        """Make one here and look at the clock."""
        start = perf_counter()
        try:
            return next(self.source)
        finally:
            took_long = perf_counter() - start > SHORT
            self.late = max(self.late + (1 if took_long else -1), 0)
            if self.late == TRIED:
                self.draw = Ahead(self.source, self.size).__next__


class SideBySide(Iterator[Any]):
    """`function` of the items of `source`, up to `count` calls at a time, each in a thread."""

    def __init__(
        self, function: Callable[[Any], Any], source: Iterator[Any], count: int, ordered: bool
    ) -> None:
        """In the order of the items if `ordered`, otherwise in the order of completion."""
        self.function, self.source = function, source
        self.count, self.ordered = count, ordered
        self.running: list[Future[Any]] = []
        self.threads: ThreadPoolExecutor | None = None
        self.process = os.getpid()

    def __next__(self) -> Any:
        """The next result."""
        if self.threads is None:
            self.process = os.getpid()
            self.threads = ThreadPoolExecutor(self.count, "gradtape-map")
            weakref.finalize(self, stop, self.threads)
        elif self.process != os.getpid():
            raise forked("map")
        while len(self.running) < self.count and (item := next(self.source, END)) is not END:
            self.running.append(self.threads.submit(self.function, item))
        if not self.running:
            stop(self.threads)
            raise StopIteration
        if self.ordered:
            return self.running.pop(0).result()
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        first = next(f for f in self.running if f in done)
        self.running.remove(first)
        return first.result()


class WhenItPays(Iterator[Any]):
    """`function` of the items of `source`: in threads once it has proved to take its time.

    A thread costs more than a short call, and Python's lock lets only one of them compute anyway.
    """

    def __init__(
        self, function: Callable[[Any], Any], source: Iterator[Any], ordered: bool
    ) -> None:
        """Begin without threads."""
        self.function, self.source, self.ordered = function, source, ordered
        self.calls, self.spent = 0, 0.0
        self.draw: Callable[[], Any] = self.try_one

    def __next__(self) -> Any:
        """The next result."""
        return self.draw()

    def try_one(self) -> Any:
        """Call here and look at the clock."""
        item = next(self.source)
        start = perf_counter()
        try:
            return self.function(item)
        finally:
            self.calls += 1
            self.spent += perf_counter() - start
            if self.calls == TRIED:
                count = os.cpu_count() or 1
                rest: Iterator[Any] = map(self.function, self.source)
                if self.spent > WORTH * TRIED and count > 1:
                    rest = SideBySide(self.function, self.source, count, self.ordered)
                self.draw = rest.__next__


def stop(threads: ThreadPoolExecutor) -> None:
    """Let threads end after what they are doing."""
    threads.shutdown(wait=False, cancel_futures=True)


def forked(what: str) -> FailedPreconditionError:
    """The threads of an iterator stay behind in the parent process."""
    return FailedPreconditionError(
        f"Dataset.{what}: this iterator was begun before the process forked, and its threads are "
        "not here. Make another iterator in the child."
    )
