"""tf.profiler.experimental: accepted, so that programs run; nothing is measured.

How fast gradtape's ops are is told by Python's own profilers: a graph runs as Python code.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from gradtape.core.errors import AlreadyExistsError, UnavailableError

log = logging.getLogger("gradtape")


class Session:
    """Whether somebody has started the profiler."""

    is_on = False


class ProfilerOptions(NamedTuple):
    """Options of the profiler, kept."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Start the profiler: accepted, but nothing is measured.

    Args:
        logdir: where a profile would go.
        options: kept.

    Raises:
        AlreadyExistsError: if it was started and not stopped.
    """
    if Session.is_on:
        raise AlreadyExistsError("Another profiler is running.")
    Session.is_on = True
    log.warning("tf.profiler: gradtape writes no profile. Use a profiler of Python.")


def stop(save: bool = True) -> None:
    """Stop the profiler; nothing is written.

    Raises:
        UnavailableError: if it was not started.
    """
    if not Session.is_on:
        raise UnavailableError("Cannot export profiling results. No profiler is running.")
    Session.is_on = False


class Profile:
    """A block to be profiled: accepted, but nothing is measured.

    Args:
        logdir: where a profile would go.
        options: kept.
    """

    def __init__(self, logdir: Any, options: ProfilerOptions | None = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        """Start."""
        start(self._logdir, self._options)

    def __exit__(self, typ: Any, value: Any, tb: Any) -> None:
        """Stop."""
        stop()


class Trace:
    """A named event of a profile; nothing is measured.

    Args:
        name: of the event.
        **kwargs: facts about it.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name = name

    def __enter__(self) -> Trace:
        """Begin."""
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Add facts."""

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        """End."""
