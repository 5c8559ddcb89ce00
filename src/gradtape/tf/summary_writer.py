"""Writers of summaries, and which writer and step a thread uses by default."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class SummaryState(threading.local):
    """The default writer, default step and recording condition of a thread."""

    writer: SummaryWriter | None = None
    step: Any = None
    condition: Any = True


summary_state = SummaryState()


class SummaryWriter:
    """A writer of summaries; this base class drops them."""

    def set_as_default(self, step: Any = None) -> None:
        """Make this the default writer of this thread; `step`, if given, the default step.

        Args:
            step: the default step, or None.

        Returns:
            None.
        """
        summary_state.writer = self
        if step is not None:
            summary_state.step = step

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """Scope in which this is the default writer, and `step`, if given, the default step.

        Args:
            step: the default step, or None.

        Yields:
            the writer.
        """
        self._require_open()
        before = summary_state.writer, summary_state.step
        self.set_as_default(step)
        try:
            yield self
            self.flush()
        finally:
            summary_state.writer = before[0]
            if step is not None:
                summary_state.step = before[1]

    def init(self) -> None:
        """Do nothing: the constructor creates the file.

        Returns:
            None.
        """

    def flush(self) -> None:
        """Write all queued summaries to the file.

        Returns:
            None.
        """

    def close(self) -> None:
        """Write all queued summaries and close the file.

        Returns:
            None.
        """

    def _require_open(self) -> None:
        """Raise if the writer is closed."""

    def _add(self, tag: str, raw: Any, step: int, metadata: Any) -> bool:
        """Record a value; return whether it was recorded."""
        return False


class FileWriter(SummaryWriter):
    """A writer to an event file."""

    def __init__(self, logdir: Any, max_queue: int, flush_millis: int, suffix: str) -> None:
        from gradtape.files.event import EventWriter

        self._events: EventWriter | None
        self._events = EventWriter(logdir, suffix, max_queue, flush_millis / 1000)

    def flush(self) -> None:
        """Write all queued summaries to the file."""
        if self._events is not None:
            self._events.flush()

    def close(self) -> None:
        """Write all queued summaries and close the file."""
        if self._events is not None:
            self._events.close()
        self._events = None

    def _require_open(self) -> None:
        if self._events is None:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def _add(self, tag: str, raw: Any, step: int, metadata: Any) -> bool:
        self._require_open()
        assert self._events is not None
        self._events.add(tag, raw, step, metadata)
        return True
