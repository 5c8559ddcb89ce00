"""Which exceptions of a reader are right, and what a run of the fuzzer measures."""

import linecache
import resource
import time
import traceback
from collections.abc import Callable
from typing import Any

MAX_SECONDS = 10  # of processor time, for one file
MAX_GROWTH = 1 << 30  # bytes of memory, for one file


def is_expected(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    """Whether an exception has one of these classes, and a `raise` of gradtape raised it.

    A ValueError is right where TensorFlow raises one; it must not come out of `int` or `reshape`.
    """
    if type(error) not in kinds and not (isinstance(error, kinds) and hasattr(error, "error_code")):
        return False
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(place.filename, place.lineno or 0).strip()
    return "gradtape" in place.filename and line.startswith(("raise", "yield", "return", "with"))


def attempt(call: Callable[[], Any], *kinds: type[BaseException]) -> None:
    """Call something that may raise one of `kinds`."""
    try:
        call()
    except kinds as error:
        if not is_expected(error, kinds):
            raise


def describe(error: BaseException) -> str:
    """An exception and the line that raised it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error!s:.150} ({place.filename}:{place.lineno})"


def measure_peak() -> int:
    """The largest amount of memory that the process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_case(read: Callable[[], Any], kinds: tuple[type[BaseException], ...]) -> tuple[str, str]:
    """Read one file; return its outcome, and what is wrong with it, or ""."""
    peak, start = measure_peak(), time.process_time()
    outcome, wrong = "read", ""
    try:
        read()
    except Exception as error:
        outcome = type(error).__name__
        wrong = "" if is_expected(error, kinds) else describe(error)
    seconds, growth = time.process_time() - start, measure_peak() - peak
    if seconds > MAX_SECONDS:
        wrong = f"{seconds:.1f} s of processor time"
    if growth > MAX_GROWTH:
        wrong = f"{growth >> 20} MB of memory"
    return outcome, wrong
