"""The warning about frequent retracing, which names the argument that causes it."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

from gradtape.core.lock import Lock
from gradtape.core.log import get_log
from gradtape.jit.signature import Call, describe_difference

WINDOW_CALLS = 10  # calls that are counted
MIN_RETRACES = 5  # traces among them that cause a warning

recent_calls: OrderedDict[Any, deque[bool]] = OrderedDict()
window_lock = Lock()


def function_identity(function: Any) -> Any:
    """A key of a function; functions made by the same `def` in a loop share it."""
    code = getattr(function.python_function, "__code__", None)
    return (function.name, code) if code is not None else id(function)


def recent_calls_of(function: Any) -> deque[bool]:
    """For each of the latest calls of a function, whether it was traced."""
    place = function_identity(function)
    calls = recent_calls.get(place)
    if calls is None:
        calls = recent_calls[place] = deque(maxlen=WINDOW_CALLS)
        while len(recent_calls) > 1000:
            recent_calls.popitem(last=False)
    return calls


def warn_if_retracing(function: Any, call: Call, before: Any) -> None:
    """Count a trace, and warn if there are many; `before` is the previous specialization."""
    with window_lock:
        calls = recent_calls_of(function)
        calls.extend([False] * min(function.hits_since_trace, WINDOW_CALLS))
        function.hits_since_trace = 0
        calls.append(True)
        count = sum(calls)
        if count < MIN_RETRACES:
            return
        total = len(calls)
        calls.clear()
    if before is None:
        why = "the function is created anew for each call; define it outside of the loop"
    else:
        why = describe_difference(before.leaf_keys, call.leaf_keys)
    get_log().warning(
        "%d out of the last %d calls to %s triggered tf.function retracing: %s. Tracing is "
        "expensive. Pass tensors instead of Python values, and tensors of one shape.",
        count,
        total,
        function.name,
        why,
    )
