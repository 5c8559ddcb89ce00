"""A function called inside the trace of another: its graph is replayed there, or its Python runs."""

from __future__ import annotations

from typing import Any

from gradtape.core.tensor import Tensor
from gradtape.staging.path import returned_tensors
from gradtape.staging.signature import Call
from gradtape.trace.recorder import Trace


def inlined(function: Any, call: Call, trace: Trace) -> Any:
    """Call a function inside a trace."""
    autograph, trace.autograph = trace.autograph, function.autograph
    try:
        result = function.python_function(*call.args, **call.kwargs)
        return returned_tensors(result, function.name)
    finally:
        trace.autograph = autograph
