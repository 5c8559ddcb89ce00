"""Interruptions: exceptions that signal handlers, trace functions and other threads raise.

Python runs a signal handler between two instructions of any code. What the handler raises, a
timeout for example, says nothing about the code that it interrupts. So code that translates errors,
ignores them or tries again lets interruptions pass unchanged.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any


def is_interruption(error: BaseException) -> bool:
    """Whether `error` interrupted library code that calls no code of the user.

    A handler leaves its frame in the traceback. An exception from another thread has no frame of
    its own, but usually a class of the user's.
    """
    from gradtape.core.call_error import CALLED_PACKAGES, has_user_frames

    module = type(error).__module__.partition(".")[0]
    is_known = module in CALLED_PACKAGES or module in sys.stdlib_module_names
    return not is_known or has_user_frames(error.__traceback__)


def is_from_signal_handler(error: BaseException) -> bool:
    """Whether a signal handler raised `error`; for library code that calls the user's code."""
    codes = set(signal_handler_codes())
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in codes:
            return True
        traceback = traceback.tb_next
    return False


def signal_handler_codes() -> Iterator[CodeType]:
    """The code of the signal handlers that are written in Python."""
    import signal

    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        for function in (
            handler,
            getattr(handler, "__func__", None),
            getattr(handler, "func", None),
        ):
            code = getattr(function, "__code__", None)
            if code is not None:
                yield code
