"""Threads of a pipeline: prefetching elements and calling functions in parallel.

The data of a thread has no reference to the iterator that it works for. So dropping the iterator
frees it, and its threads end.
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
from gradtape.pipeline.element.element import END
from gradtape.pipeline.iteration import Iteration, current_iteration

AUTOTUNE_BUFFER_SIZE = 8  # buffer size for AUTOTUNE
TRIAL_CALLS = 8  # number of calls measured before threads are used
SLOW_ITEM_SECONDS = 2e-4  # seconds; below this a thread does not pay for an item
SLOW_CALL_SECONDS = 1e-3  # mean seconds; above this threads pay for calls


class WorkerFailure:
    """An error of a thread, to be raised by the consumer."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class PrefetchBuffer:
    """The buffer between a thread and the iterator it works for.

    One thread appends and one removes, which a deque supports without a lock. The condition is
    only used to wait.
    """

    def __init__(self, size: int) -> None:
        """Make a buffer for `size` elements."""
        self.size = size
        self.items: deque[Any] = deque()
        self.produced_count = self.consumed_count = 0
        self.is_closed = self.is_full = self.is_starving = False
        self.condition = threading.Condition()

    def close(self) -> None:
        """Make the thread end."""
        self.is_closed = True
        with self.condition:
            self.condition.notify_all()

    def fill(self, source: Iterator[Any], work: Iteration | None) -> None:
        """Append the items of `source` until it ends or the buffer is closed."""
        current_iteration.active = work
        while not self.is_closed:
            try:
                item = next(source, END)
            except BaseException as error:
                item = WorkerFailure(error)
            self.items.append(item)
            self.produced_count += 1
            if self.is_starving:
                with self.condition:
                    self.condition.notify_all()
            if item is END:
                return
            self.is_full = True  # set before the check, so that a concurrent `take` notifies
            if self.produced_count - self.consumed_count >= self.size:
                with self.condition:
                    while (
                        self.produced_count - self.consumed_count >= self.size
                        and not self.is_closed
                    ):
                        self.condition.wait()
            self.is_full = False

    def take(self) -> Any:
        """Remove and return the oldest item; wait for one if necessary."""
        items = self.items
        if not items:
            with self.condition:
                self.is_starving = True
                while not items:
                    self.condition.wait()
                self.is_starving = False
        item = items.popleft()
        self.consumed_count += 1
        if self.is_full and 2 * len(items) <= self.size:
            with self.condition:
                self.condition.notify_all()
        return item


class Prefetcher(Iterator[Any]):
    """The items of `source`; a thread computes up to `size` of them in advance."""

    def __init__(self, source: Iterator[Any], size: int) -> None:
        """The thread starts with the first call of `next`."""
        self.buffer = PrefetchBuffer(size)
        self.source: Iterator[Any] | None = source
        self.process = os.getpid()
        self.has_ended = False

    def __next__(self) -> Any:
        """The next item."""
        if self.has_ended:
            raise StopIteration
        if self.source is not None:
            source, self.source, self.process = self.source, None, os.getpid()
            weakref.finalize(self, self.buffer.close)
            work = threading.Thread(
                target=self.buffer.fill,
                args=(source, current_iteration.active),
                name="gradtape-prefetch",
                daemon=True,
            )
            del source
            work.start()
        elif self.process != os.getpid():
            raise make_fork_error("prefetch")
        item = self.buffer.take()
        if type(item) is WorkerFailure:
            raise item.error
        if item is END:
            self.has_ended = True
            raise StopIteration
        return item


class AdaptivePrefetcher(Iterator[Any]):
    """The items of `source`; prefetched by a thread once they prove to be slow.

    A thread costs more than a small batch. Only for items without side effects, so that the time
    of computation does not matter.
    """

    def __init__(self, source: Iterator[Any], size: int) -> None:
        """Prefetch up to `size` items, once that pays."""
        self.source, self.size = source, size
        self.slow_balance = 0  # number of slow items minus number of fast items
        self.read: Callable[[], Any] = self.measure_next

    def __next__(self) -> Any:
        """The next item."""
        return self.read()

    def measure_next(self) -> Any:
        """Compute an item in this thread and measure the time."""
        start = perf_counter()
        try:
            return next(self.source)
        finally:
            took_long = perf_counter() - start > SLOW_ITEM_SECONDS
            self.slow_balance = max(self.slow_balance + (1 if took_long else -1), 0)
            if self.slow_balance == TRIAL_CALLS:
                self.read = Prefetcher(self.source, self.size).__next__


class ParallelMap(Iterator[Any]):
    """`function` of the items of `source`; up to `count` calls run at a time in threads."""

    def __init__(
        self, function: Callable[[Any], Any], source: Iterator[Any], count: int, ordered: bool
    ) -> None:
        """Results come in the order of the items if `ordered`, else in order of completion."""
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
            weakref.finalize(self, shut_down, self.threads)
        elif self.process != os.getpid():
            raise make_fork_error("map")
        while len(self.running) < self.count and (item := next(self.source, END)) is not END:
            self.running.append(self.threads.submit(self.function, item))
        if not self.running:
            shut_down(self.threads)
            raise StopIteration
        if self.ordered:
            return self.running.pop(0).result()
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        first = next(f for f in self.running if f in done)
        self.running.remove(first)
        return first.result()


class AdaptiveParallelMap(Iterator[Any]):
    """`function` of the items of `source`; called in threads once it proves to be slow.

    A thread costs more than a short call, and the GIL lets only one thread run Python code.
    """

    def __init__(
        self, function: Callable[[Any], Any], source: Iterator[Any], ordered: bool
    ) -> None:
        """Start without threads."""
        self.function, self.source, self.ordered = function, source, ordered
        self.calls, self.seconds = 0, 0.0
        self.read: Callable[[], Any] = self.measure_next

    def __next__(self) -> Any:
        """The next result."""
        return self.read()

    def measure_next(self) -> Any:
        """Call the function in this thread and measure the time."""
        item = next(self.source)
        start = perf_counter()
        try:
            return self.function(item)
        finally:
            self.calls += 1
            self.seconds += perf_counter() - start
            if self.calls == TRIAL_CALLS:
                count = os.cpu_count() or 1
                rest: Iterator[Any] = map(self.function, self.source)
                if self.seconds > SLOW_CALL_SECONDS * TRIAL_CALLS and count > 1:
                    rest = ParallelMap(self.function, self.source, count, self.ordered)
                self.read = rest.__next__


def shut_down(threads: ThreadPoolExecutor) -> None:
    """Make threads end after their current call."""
    threads.shutdown(wait=False, cancel_futures=True)


def make_fork_error(what: str) -> FailedPreconditionError:
    """The error for an iterator whose threads were lost in a fork."""
    return FailedPreconditionError(
        f"Dataset.{what}: an iterator must be used in the process that started it. The threads of "
        "this one do not exist after the fork. Create a new iterator in the child process."
    )
