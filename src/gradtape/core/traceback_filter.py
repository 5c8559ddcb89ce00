"""Tracebacks that end at the user's line: which frames belong to this library, and hiding them."""

import contextlib
import os
import threading
from collections.abc import Iterator
from types import TracebackType

# Generated code has no file; it is compiled under a name with this prefix.
GENERATED_PREFIX = "<gradtape"
_LIBRARY_PREFIXES = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    GENERATED_PREFIX,
)
_filtering = threading.local()


def enable_traceback_filtering() -> None:
    """Hide this library's frames from tracebacks in this thread, which is the default.

    Returns:
        None.
    """
    _filtering.enabled = True


def disable_traceback_filtering() -> None:
    """Show this library's frames in tracebacks in this thread.

    Returns:
        None.
    """
    _filtering.enabled = False


def is_traceback_filtering_enabled() -> bool:
    """Whether this library's frames are hidden from tracebacks in this thread.

    Returns:
        A bool.
    """
    return getattr(_filtering, "enabled", True)


def user_frames(traceback: TracebackType | None) -> TracebackType | None:
    """`traceback` without the frames of this library and what it calls; None if none remains."""
    from gradtape.core.call_error import is_library_code

    kept = []
    inside = False
    while traceback is not None:
        frame = traceback.tb_frame
        own = frame.f_code.co_filename.startswith(_LIBRARY_PREFIXES)
        inside = own or (inside and is_library_code(frame))
        if not inside:
            kept.append(traceback)
        traceback = traceback.tb_next
    rest = None
    for entry in reversed(kept):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def is_user_error(error: BaseException) -> bool:
    """Whether the user's code raised `error`; its traceback must be unfiltered."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    where = traceback.tb_frame.f_globals.get("__name__", "") if traceback is not None else ""
    return where.partition(".")[0] not in ("gradtape", "numpy", "scipy")


@contextlib.contextmanager
def show_full_tracebacks() -> Iterator[None]:
    """Show this library's frames in tracebacks within this scope."""
    before = is_traceback_filtering_enabled()
    _filtering.enabled = False
    try:
        yield
    finally:
        _filtering.enabled = before


def hide_library_frames(error: BaseException) -> None:
    """Drop this library's frames from the traceback of `error`, if filtering is enabled.

    Call it in the outermost library frame, followed by a bare `raise`. A bare `raise` adds no
    entry for its own frame, so the traceback ends at the user's line.
    """
    if "_raised_at" in error.__dict__:  # without the frames that handled the error
        error.__traceback__ = error.__dict__.pop("_raised_at")
    if is_traceback_filtering_enabled():
        if isinstance(error, Exception):
            note_origin(error)
        error.__traceback__ = user_frames(error.__traceback__)


def note_origin(error: Exception) -> None:
    """Remember who raised `error`, which its traceback says only as long as it is whole."""
    from gradtape.core.call_error import has_user_frames, hide_internal_cause, origin_of

    if not has_user_frames(error.__traceback__) and origin_of(error).deliberate:
        hide_internal_cause(error)
