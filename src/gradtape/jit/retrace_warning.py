"""The warning about frequent retracing, which names the argument that causes it."""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from typing import Any

from gradtape.core.lock import Lock
from gradtape.jit.signature import Call, described

log = logging.getLogger("gradtape")

WINDOW = 10  # calls that are counted
MANY = 5  # traces among them that cause a warning

recent: OrderedDict[Any, deque[bool]] = OrderedDict()
lock = Lock()


def place_of(function: Any) -> Any:
    """A key of a function; functions made by the same `def` in a loop share it."""
    code = getattr(function.python_function, "__code__", None)
    return (function.name, code) if code is not None else id(function)


def window_of(function: Any) -> deque[bool]:
    """For each of the latest calls of a function, whether it was traced."""
    place = place_of(function)
    calls = recent.get(place)
    if calls is None:
        calls = recent[place] = deque(maxlen=WINDOW)
        while len(recent) > 1000:
            recent.popitem(last=False)
    return calls


def traced(function: Any, call: Call, before: Any) -> None:
    """Count a trace, and warn if there are many; `before` is the previous specialization."""
    with lock:
        calls = window_of(function)
        calls.extend([False] * min(function.quiet, WINDOW))
        function.quiet = 0
        calls.append(True)
        count = sum(calls)
        if count < MANY:
            return
        total = len(calls)
        calls.clear()
    if before is None:
        why = "the function is created anew for each call; define it outside of the loop"
    else:
        why = described(before.parts, call.parts)
    log.warning(
        "%d out of the last %d calls to %s triggered tf.function retracing: %s. Tracing is "
        "expensive. Pass tensors instead of Python values, and tensors of one shape.",
        count,
        total,
        function.name,
        why,
    )
