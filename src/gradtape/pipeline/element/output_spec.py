"""The specs of the results of a user's function, inferred by tracing it without values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.context import current_trace, no_recording
from gradtape.core.dims import UnknownSizeError
from gradtape.core.lazy_array import UnknownRankError
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.shape_rule import INT64
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.graph.branch_search import Answers, SearchTrace, search_branches
from gradtape.graph.guard import ValueRead
from gradtape.graph.size_tensor import make_size_tensor
from gradtape.graph.trace_options import TraceOptions
from gradtape.ops.size_array import make_size_array
from gradtape.pipeline.base import DatasetBase, make_spec_dataset
from gradtape.pipeline.element.element import call_user_function
from gradtape.pipeline.element.structure import (
    NoneTensorSpec,
    element_spec_of,
    flatten_element,
    map_element,
)
from gradtape.pipeline.iteration import NeedsPythonCall, current_iteration
from gradtape.pipeline.optional import Optional, OptionalSpec
from gradtape.state.random.seed import SEEDS
from gradtape.state.random.stream import FunctionStreams
from gradtape.tape.custom_gradient import RECOMPUTE_STATE


def infer_output(
    function: Callable[..., Any], spec: Any, describe: Callable[[Any], Any] = element_spec_of
) -> Any:
    """The spec of the results of a function for elements of `spec`.

    Args:
        function: takes an element; a tuple is unpacked into its parameters.
        spec: of the elements.
        describe: the spec of a result.

    Raises:
        NeedsPythonCall: if user functions may only be traced once, where a branch needs more.
        NotImplementedError: if the function reads a value, so that only an iteration can tell.
    """

    def run(trace: Any) -> Any:
        element = map_element(lambda leaf: make_placeholder(trace, leaf), spec)
        return describe(call_user_function(function, element))

    stage = current_trace()
    if stage and stage[0].is_abstract:
        return run(stage[0])
    if current_iteration.is_trace_only:
        raise NeedsPythonCall
    options = TraceOptions(getattr(function, "__name__", "function"))
    saved = [save() for save, _ in RECOMPUTE_STATE]

    def make_trace(answers: Answers) -> SearchTrace:
        return SearchTrace(answers, options, FunctionStreams((SEEDS.seed,)))

    try:
        with no_recording():
            return search_branches(run, join_specs, make_trace)
    except (ValueRead, UnknownSizeError, UnknownRankError) as error:
        raise NotImplementedError(
            f"element_spec: {options.name} needs a value or a size that only an iteration knows "
            f"({error}). Use functions of tf, or tf.ensure_shape."
        ) from None
    finally:
        for (_, restore), state in zip(RECOMPUTE_STATE, saved, strict=False):
            restore(state)


def join_specs(first: Any, *others: Any) -> Any:
    """The spec that covers several ones of the same structure."""
    return map_element(join_component_specs, first, *others)


def join_component_specs(first: Any, *others: Any) -> Any:
    """The most specific spec that describes all components."""
    return first.most_specific_common_supertype(others)


def make_placeholder(trace: Any, spec: Any) -> Any:
    """The symbolic value of a component in a trace without values."""
    if isinstance(spec, TensorSpec):
        return trace.make_value(trace.spec_of_result(spec))
    if isinstance(spec, RaggedTensorSpec):
        parts = spec._component_specs
        return spec._from_components([make_placeholder(trace, part) for part in parts])
    if isinstance(spec, SparseTensorSpec):
        return make_sparse_placeholder(trace, spec)
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, OptionalSpec):
        inner = spec._value_structure
        return Optional.from_value(map_element(lambda leaf: make_placeholder(trace, leaf), inner))
    if spec.value_type is DatasetBase.dataset_class:
        return make_spec_dataset(spec.element_spec)
    raise NotImplementedError(f"element_spec: a function of {spec!r} is not looked into.")


def make_sparse_placeholder(trace: Any, spec: SparseTensorSpec) -> Any:
    """The symbolic value of a sparse component; its indices and values are equally many."""
    indices, values, sizes = [make_placeholder(trace, part) for part in spec._component_specs]
    if spec.shape.rank is not None:
        trace.sizes.assume_equal(indices._array.shape[0], values._array.shape[0])
        known = trace.spec_of_result(TensorSpec(spec.shape, spec.dtype)).shape
        sizes = make_size_tensor(trace, make_size_array(known), INT64)
    return spec._from_components([indices, values, sizes])


def is_plain_spec(spec: Any) -> bool:
    """Whether all components are tensors of known rank."""
    leaves = flatten_element(spec)
    return all(isinstance(s, TensorSpec) and s.shape.rank is not None for s in leaves)
