"""Tracing a function on specs, without values: its path and the specs of its results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gradtape.core import nest
from gradtape.core.context import use_recorders
from gradtape.core.dims import SizeSource, UnknownSizeError
from gradtape.core.lazy_array import UnknownRankError
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.size_atom import Unknown
from gradtape.core.size_context import SizeContext
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.graph.abstract_trace import AbstractTrace
from gradtape.graph.branch_search import Answers, SearchTrace, search_branches
from gradtape.graph.guard import ValueRead
from gradtape.jit.trace_path import TracedPath, convert_results
from gradtape.state.random.stream import FunctionStreams
from gradtape.tape.source import variable_of


class AbstractPath(NamedTuple):
    """A path that was traced without values.

    Attributes:
        path: the path; sizes in its graph may be unknown.
        returned: the specs of the results.
        sizes: the unknown sizes, and the assumptions about them.
        size_sources: where each unknown size is found.
        is_runnable: whether a graph for known sizes follows from the sizes of the arguments.
    """

    path: TracedPath
    returned: Any
    sizes: SizeContext
    size_sources: dict[Unknown, SizeSource]
    is_runnable: bool

    def is_pure(self) -> bool:
        """Whether the path has no side effects and no variable arguments."""
        return not self.path.effects and all(type(s) is not int for s in self.path.states)


def trace_abstractly(
    function: Any,
    specs: list[TensorSpec],
    pack_arguments: Callable[[list[Any]], tuple[Any, Any]],
    streams: FunctionStreams,
    trace_class: type[AbstractTrace] = AbstractTrace,
    examples: list[tuple[int, ...]] | None = None,
) -> AbstractPath | None:
    """Trace a function on specs; None if its graph is too large.

    Args:
        function: a `tf.function`.
        specs: specs of the tensors among the arguments.
        pack_arguments: makes the arguments from tensors for the specs.
        streams: the streams of the function's random ops.
        trace_class: the class of the trace.
        examples: shapes by which comparisons of unknown sizes are decided.

    Raises:
        ValueRead, UnknownSizeError: if the function needs a value or a size.
    """
    for _ in range(2):  # the second run uses the variables that the first one created
        function.traces += 1
        trace = trace_class(function.trace_options, streams)
        given: Any = examples or [None] * len(specs)
        inputs = [
            trace.add_spec(spec, spec.name or "", shape)
            for spec, shape in zip(specs, given, strict=True)
        ]
        args, kwargs = pack_arguments(inputs)
        variables = [variable_of(v) for v in nest.flatten((args, kwargs))]
        variables = [v for v in variables if v is not None]
        try:
            with use_recorders((trace,)):
                result = function.traced_function()(*args, **kwargs)
                returned = convert_results(result, function.name)
                path = TracedPath(trace, returned, variables)
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
    is_ranked = all(spec.shape.rank is not None for spec in specs)
    is_runnable = is_ranked and not trace.has_found_sizes() and not path.effects and not variables
    return AbstractPath(path, found, trace.sizes, trace.size_sources, is_runnable)


def spec_of_result(value: Any) -> Any:
    """The spec of a tensor, ragged or sparse tensor; any other value unchanged."""
    if isinstance(value, (RaggedTensor, SparseTensor)):
        return value._type_spec
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def trace_with_examples(
    function: Any,
    specs: list[TensorSpec],
    pack_arguments: Callable[[list[Any]], tuple[Any, Any]],
    streams: FunctionStreams,
) -> AbstractPath | None:
    """As `trace_abstractly`; if the function fails for large sizes, other examples decide.

    Raises:
        Exception: what the function raises for large sizes, if it fails for all examples.
    """
    try:
        return trace_abstractly(function, specs, pack_arguments, streams)
    except (ValueRead, UnknownSizeError, UnknownRankError):
        raise
    except Exception as error:
        is_open = any(not spec.shape.is_fully_defined() for spec in specs)
        if not is_open or any(spec.shape.rank is None for spec in specs):
            raise
        failure = error
    for examples in make_examples(specs):
        streams.clear()
        with contextlib.suppress(Exception):
            return trace_abstractly(function, specs, pack_arguments, streams, examples=examples)
    raise failure


def search_abstractly(
    function: Any,
    specs: list[TensorSpec],
    pack_arguments: Callable[[list[Any]], tuple[Any, Any]],
    streams: FunctionStreams,
) -> tuple[TracedPath, Any]:
    """A path of a function that branches on values, and the specs of its results on all paths.

    Raises:
        ValueRead, UnknownSizeError, UnknownRankError: if the function needs another value.
    """
    paths: list[TracedPath] = []

    def run(trace: AbstractTrace) -> Any:
        inputs = [trace.add_spec(spec, spec.name or "") for spec in specs]
        args, kwargs = pack_arguments(inputs)
        returned = convert_results(function.traced_function()(*args, **kwargs), function.name)
        if trace.versions.created:
            function.note_created_variables(trace.versions)
        paths.append(TracedPath(trace, returned, []))
        return nest.map_structure(spec_of_result, returned)

    def make_trace(answers: Answers) -> SearchTrace:
        return SearchTrace(answers, function.trace_options, streams)

    function.traces += 1
    returned = search_branches(run, join_results, make_trace)
    return paths[0], returned


def join_results(first: Any, *others: Any) -> Any:
    """The specs that describe the results of all paths."""
    return nest.map_structure(join_specs, first, *others)


def join_specs(first: Any, *others: Any) -> Any:
    """The most specific spec that covers all; any other value unchanged."""
    if not isinstance(first, TypeSpec):
        return first
    return first.most_specific_common_supertype(others)


def make_examples(specs: list[TensorSpec]) -> Iterator[list[tuple[int, ...]]]:
    """Yield shapes of arguments, for which a function may need other graphs than for large sizes.

    Arguments of one batch, of a batch of one, equal sizes, small and decreasing ones, ones.
    """
    choices: list[Callable[[int, int], int]] = [
        lambda i, axis: 1009 + 1000 * axis,
        lambda i, axis: 1009 + 1000 * axis if axis else 1,
        lambda i, axis: 1009,
        lambda i, axis: 3 + 2 * axis,
        lambda i, axis: 3 + 2 * axis + 7 * i,
        lambda i, axis: max(20 - 3 * axis, 2),
        lambda i, axis: 1,
    ]
    for choose in choices:
        yield [
            tuple([choose(i, k) if n is None else n for k, n in enumerate(spec.shape.as_list())])
            for i, spec in enumerate(specs)
        ]
