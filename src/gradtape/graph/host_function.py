"""Functions of tensors that are no ops: every run of a graph calls them on the host.

A host function has a result rule: a function of its arguments that describes its results without
computing them. So a trace without values can call it, and unknown sizes stay unknown in a call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

from gradtape.core import nest
from gradtape.core.context import current_trace, no_recording
from gradtape.core.convert import convert, is_tensor_like
from gradtape.core.dtypes import as_dtype, int64
from gradtape.core.open_shape import assume_same_shape, hide_dims
from gradtape.core.primitive import Spec
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FRESH, INT64, numpy_dtype_of
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.graph import Effect
from gradtape.graph.side_effect import split_call

F = TypeVar("F", bound=Callable[..., Any])
HOST_FUNCTIONS: dict[str, Any] = {}
"""All host functions by their qualified names; each has its rule as `result_rule`."""


def call_on_host(result: Callable[..., Any], draws: bool = False) -> Callable[[F], F]:
    """Decorate a function of tensors that is no op, so that it is called at every run of a graph.

    Args:
        result: the result rule. It takes the arguments of the function and returns the structure of
            its results, with a `Spec` or a `TensorSpec` for each tensor and a `CompositeResult` for
            each ragged or sparse tensor.
        draws: whether it is called at every run even if its arguments are constants, because it
            draws random numbers or reads a table.
    """

    def decorate(function: F) -> F:
        host = HostFunction(function, result, draws)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            stage = current_trace()
            return (
                host.trace_call(stage[0], call, args, kwargs)
                if stage
                else function(*args, **kwargs)
            )

        call.result_rule = result  # type: ignore[attr-defined]
        HOST_FUNCTIONS[f"{function.__module__}.{function.__qualname__}"] = call
        return call  # type: ignore[return-value]

    return decorate


class HostFunction:
    """A function that runs on the host, and how a trace records its calls."""

    def __init__(
        self, function: Callable[..., Any], result: Callable[..., Any], draws: bool
    ) -> None:
        """Wrap `function`, which has this result rule."""
        self.function, self.result, self.draws = function, result, draws
        self.structures: dict[Any, Any] = {}  # results of calls, for their structure

    def trace_call(self, trace: Any, caller: Any, args: Any, kwargs: Any) -> Any:
        """Call the function in a trace, and record the call."""
        for leaf in nest.flatten((args, kwargs)):
            if isinstance(leaf, RaggedTensor):
                convert(leaf)  # raises, so that dispatch can try the function for ragged tensors
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        places = [i for i, leaf in enumerate(leaves) if is_tensor_like(leaf)]
        tensors = [convert(leaves[i]) for i in places]
        lifted = [trace.as_traced(t) for t in tensors]
        if not self.draws and not any(isinstance(t, SymbolicTensor) for t in lifted):
            with no_recording():
                return self.function(*args, **kwargs)
        rest = [repr(leaf) for leaf in leaves if not is_tensor_like(leaf)]
        key = (self.function, tuple(places), tuple(rest))

        def kernel(*raws: Any) -> tuple[Any, ...]:
            given = list(leaves)
            for i, raw in zip(places, raws, strict=True):
                given[i] = make_tensor(raw)
            again, named = nest.pack_sequence_as((args, kwargs), given, expand_composites=True)
            with no_recording():
                result = self.function(*again, **named)
            self.structures[key] = result
            return tuple(t._array for t in nest.flatten(result, expand_composites=True))

        kernel.parts = split_call(caller, (args, kwargs), leaves, places, True)  # type: ignore[attr-defined]
        effect = Effect(self.function.__name__, kernel, key=key)
        if trace.sizes is None:
            outs = trace.run_effect(effect, tensors)
            return nest.pack_sequence_as(self.structures[key], list(outs), expand_composites=True)
        described = self.result(*args, **kwargs)
        return pack_results(
            described, iter(trace.run_effect(effect, tensors, leaf_specs(described)))
        )


class CompositeResult:
    """A ragged or sparse tensor among the results of a host function.

    Attributes:
        spec: its type.
        components: the specs of its components.
    """

    def __init__(self, spec: Any, components: list[Spec]) -> None:
        """Describe a composite tensor."""
        self.spec, self.components = spec, components


def leaf_specs(described: Any) -> list[Any]:
    """The specs of all tensors in the results of a host function, in the order of its results."""
    if isinstance(described, CompositeResult):
        return list(described.components)
    if isinstance(described, (Spec, TensorSpec)):
        return [described]
    if isinstance(described, dict):
        described = [described[key] for key in sorted(described)]
    return [spec for part in described for spec in leaf_specs(part)]


def pack_results(described: Any, tensors: Any) -> Any:
    """The results of a host function, made of their tensors."""
    if isinstance(described, CompositeResult):
        parts = [next(tensors) for _ in described.components]
        if isinstance(described.spec, SparseTensorSpec):
            assume_same_shape(parts[0]._array.shape[:1], parts[1]._array.shape)
        return described.spec._from_components(parts)
    if isinstance(described, (Spec, TensorSpec)):
        return next(tensors)
    if isinstance(described, dict):
        packed = {key: pack_results(described[key], tensors) for key in sorted(described)}
        return {key: packed[key] for key in described}
    parts = [pack_results(part, tensors) for part in described]
    return type(described)(*parts) if hasattr(described, "_fields") else type(described)(parts)


# Parts of result rules


def shape_of_argument(value: Any) -> tuple[Any, ...]:
    """The shape of a tensor, or of what converts to one; sizes may be unknown."""
    tensor = value if isinstance(value, Tensor) else convert(value)
    shape: tuple[Any, ...] = tensor._array.shape
    return shape


def describe_like(dtype: Any = None) -> Callable[..., Spec]:
    """The rule of a function whose result has the shape of its first argument."""

    def rule(value: Any, *_: Any, **__: Any) -> Spec:
        tensor = convert(value)
        return Spec((tensor._array.shape, tensor._array.dtype if dtype is None else dtype))

    return rule


def describe_as(*shape: Any, dtype: Any) -> Callable[..., Spec]:
    """The rule of a function whose result always has this shape."""
    return lambda *_, **__: Spec((shape, dtype))


def describe_sparse(shape: Any, dtype: Any) -> CompositeResult:
    """A sparse tensor of a shape, whose values only the data determines."""
    known = TensorShape(shape)
    return CompositeResult(
        SparseTensorSpec(known, as_dtype(dtype)),
        [
            Spec(((FRESH, known.rank), INT64)),
            Spec(((FRESH,), numpy_dtype_of(dtype))),
            Spec(((known.rank,), INT64)),
        ],
    )


def describe_ragged(shape: tuple[Any, ...], dtype: Any) -> Any:
    """Rows of unknown lengths in axes of a shape; a vector if the shape is ()."""
    flat = Spec(((FRESH,), numpy_dtype_of(dtype)))
    if not shape:
        return flat
    spec = RaggedTensorSpec((*hide_dims(shape), None), dtype, len(shape), int64)
    counts = [math.prod(shape[: axis + 1]) for axis in range(len(shape))]
    return CompositeResult(spec, [flat, *(Spec(((n + 1,), INT64)) for n in counts)])
