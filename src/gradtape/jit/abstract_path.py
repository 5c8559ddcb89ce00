"""Tracing a function on specs, without values: its path and the specs of its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gradtape.core import nest
from gradtape.core.context import use_recorders
from gradtape.core.size_context import SizeContext
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor
from gradtape.graph.abstract_trace import AbstractTrace
from gradtape.jit.trace_path import TracedPath, convert_results
from gradtape.state.random.stream import FunctionStreams
from gradtape.tape.source import variable_of


class AbstractPath(NamedTuple):
    """A path that was traced without values.

    Attributes:
        path: the path; sizes in its graph may be unknown.
        returned: the specs of the results.
        sizes: the unknown sizes, and the assumptions about them.
        is_runnable: whether a graph for known sizes follows from the sizes of the arguments.
    """

    path: TracedPath
    returned: Any
    sizes: SizeContext
    is_runnable: bool


def trace_abstractly(
    function: Any,
    specs: list[TensorSpec],
    pack_arguments: Callable[[list[Any]], tuple[Any, Any]],
    streams: FunctionStreams,
) -> AbstractPath | None:
    """Trace a function on specs of known ranks; None if its graph is too large.

    Args:
        function: a `tf.function`.
        specs: specs of the tensors among the arguments.
        pack_arguments: makes the arguments from tensors for the specs.
        streams: the streams of the function's random ops.

    Raises:
        ValueRead, UnknownSizeError: if the function needs a value or a size.
    """
    for _ in range(2):  # the second run uses the variables that the first one created
        function.traces += 1
        trace = AbstractTrace(function.trace_options, streams)
        inputs = [trace.add_spec(spec, spec.name or "") for spec in specs]
        args, kwargs = pack_arguments(inputs)
        variables = [variable_of(v) for v in nest.flatten((args, kwargs))]
        given = [v for v in variables if v is not None]
        try:
            with use_recorders((trace,)):
                result = function.traced_function()(*args, **kwargs)
                returned = convert_results(result, function.name)
                path = TracedPath(trace, returned, given)
                found = nest.map_structure(spec_of_result, returned)
            if trace.versions.created:
                function.note_created_variables(trace.versions)
        finally:
            has_created = bool(trace.versions.created)
            trace.close()
        if not has_created:
            break
        streams.clear()
    assert trace.sizes is not None
    if trace.give_up_reason:
        return None
    is_runnable = not trace.has_found_sizes() and not path.effects and not given
    return AbstractPath(path, found, trace.sizes, is_runnable)


def spec_of_result(value: Any) -> Any:
    """The spec of a tensor; any other value unchanged."""
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value
