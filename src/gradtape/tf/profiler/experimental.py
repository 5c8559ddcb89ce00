"""tf.profiler.experimental: accepted for compatibility; nothing is measured.

Use a Python profiler instead: gradtape runs graphs as Python code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.errors import AlreadyExistsError, UnavailableError, public
from gradtape.core.log import get_log


class ProfilerSession:
    """Whether the profiler has been started."""

    is_on = False


class ProfilerOptions(NamedTuple):
    """Options of the profiler; they have no effect."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Start the profiler: accepted for compatibility, but nothing is measured.

    Args:
        logdir: has no effect here.
        options: has no effect here.

    Returns:
        None.

    Raises:
        AlreadyExistsError: if it is already running.
    """
    if ProfilerSession.is_on:
        raise AlreadyExistsError("Another profiler is running.")
    ProfilerSession.is_on = True
    get_log().warning("tf.profiler: gradtape writes no profile. Use a Python profiler.")


def stop(save: bool = True) -> None:
    """Stop the profiler; nothing is written.

    Args:
        save: has no effect here.

    Returns:
        None.

    Raises:
        UnavailableError: if it was not started.
    """
    if not ProfilerSession.is_on:
        raise UnavailableError("Cannot export profiling results. No profiler is running.")
    ProfilerSession.is_on = False


class Profile:
    """Scope that is profiled: accepted for compatibility, but nothing is measured.

    Args:
        logdir: has no effect here.
        options: has no effect here.
    """

    @public
    def __init__(self, logdir: Any, options: ProfilerOptions | None = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        """Start the profiler."""
        start(self._logdir, self._options)

    def __exit__(self, typ: Any, value: Any, tb: Any) -> None:
        """Stop the profiler."""
        stop()


class Trace:
    """A named event of a profile; nothing is measured.

    Args:
        name: of the event.
        **kwargs: metadata of the event.
    """

    @public
    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name = name

    def __enter__(self) -> Trace:
        """Do nothing."""
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Accept metadata; it is not stored.

        Args:
            **kwargs: metadata.

        Returns:
            None.
        """

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        """Do nothing."""
