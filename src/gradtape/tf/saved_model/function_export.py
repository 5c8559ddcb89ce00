"""Traces a function for saving, on the specs of each signature, without values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from gradtape.core import nest
from gradtape.core.dims import UnknownSizeError
from gradtape.core.errors import InvalidArgumentError, UnimplementedError
from gradtape.core.open_shape import bind_shape
from gradtape.core.size_function import Env
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import make_tensor
from gradtape.graph.guard import ValueRead
from gradtape.jit.abstract_path import AbstractPath, make_examples, trace_abstractly
from gradtape.jit.argument_match import fill_specs, leaves_of
from gradtape.jit.concrete_function import describe_argument
from gradtape.jit.trace_path import TracedPath
from gradtape.ops.raw_array import make_virtual_array
from gradtape.state.random.stream import FunctionStreams
from gradtape.tf.saved_model.failure import CannotSave
from gradtape.tf.saved_model.graph_function import GraphFunction
from gradtape.tf.saved_model.path_encoder import PathEncoder
from gradtape.tf.saved_model.result_structure import encode_structure
from gradtape.tf.saved_model.saving_trace import SavingTrace
from gradtape.tf.saved_model.variant import Variant

UNKNOWN_RANKS = range(5)  # ranks for which a function of unknown rank is saved

RegisterTable = Callable[[Any], Any]  # called with the entries of a table


def export_function(function: Any, register_table: RegisterTable) -> list[Variant]:
    """The variants as which a `tf.function` is saved: one for each signature.

    Args:
        function: the function.
        register_table: called with the entries of every table that the function uses.
    """
    if function.input_signature is not None:
        return [export_signature(function, tuple(function.input_signature), {}, register_table)]
    variants: list[Variant] = []
    for args, kwargs in function.list_call_specs():
        arguments = describe_arguments(function, args, kwargs)
        if all(known.arguments != arguments for known in variants):
            variants.append(export_signature(function, args, kwargs, register_table))
    return variants


def export_signature(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], register_table: RegisterTable
) -> Variant:
    """A function for one signature.

    Raises:
        UnimplementedError: if its graph cannot be saved.
    """
    arguments = describe_arguments(function, args, kwargs)
    specs = [leaf for leaf in leaves_of(arguments) if isinstance(leaf, TensorSpec)]
    graphs: dict[tuple[int, ...], list[GraphFunction]] = {}
    returned: Any = None
    failure: Exception | None = None
    for shapes in iterate_ranks(specs):
        exporter = SignatureExporter(function, arguments, specs, shapes)
        try:
            found, returned = exporter.export(register_table)
        except (InvalidArgumentError, ValueError, TypeError) as error:
            if all(spec.shape.rank is not None for spec in specs):
                raise
            failure = error  # other ranks may be valid
            continue
        graphs[tuple([len(shape) for shape in shapes])] = found
    if failure is not None and not graphs:
        raise failure
    return Variant(arguments, graphs, returned, function.name)


def describe_arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """(args, kwargs) of a call, with defaults, and with named specs in place of tensors."""
    bound = function._signature.parameters.bind(*args, **kwargs)
    bound.apply_defaults()
    names = [*function.parameters, *itertools.repeat("args", len(bound.args))]
    return (
        tuple([as_specs(v, n) for v, n in zip(bound.args, names, strict=False)]),
        {k: as_specs(v, k) for k, v in bound.kwargs.items()},
    )


def as_specs(value: Any, name: str) -> Any:
    """An argument as specs and Python values."""
    composite = any(
        isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec)
        for leaf in nest.flatten(value)
    )
    return value if composite else describe_argument(value, name)


def iterate_ranks(specs: list[TensorSpec]) -> Iterator[list[list[int | None]]]:
    """Yield shapes of known rank for all specs; all specs of unknown rank get the same rank."""
    if all(spec.shape.rank is not None for spec in specs):
        yield [spec.shape.as_list() for spec in specs]
        return
    for rank in UNKNOWN_RANKS:
        unknown: list[int | None] = [None] * rank
        yield [unknown if s.shape.rank is None else s.shape.as_list() for s in specs]


def encode_paths(encoders: list[PathEncoder], names: list[str]) -> tuple[list[GraphFunction], Any]:
    """The graphs of all paths, and the structure of the function's result."""
    structure = encode_structure(encoders[0].path.structure, itertools.count())
    return [one.encode(names) for one in encoders], structure


class SignatureExporter:
    """Encodes a function for arguments of known ranks; sizes may be unknown."""

    def __init__(
        self, function: Any, arguments: Any, specs: list[TensorSpec], shapes: list[Any]
    ) -> None:
        """`shapes` are those of the `specs` among the `arguments`; sizes may be None."""
        self.function = function
        self.arguments = arguments
        pairs = zip(specs, shapes, strict=True)
        self.specs = [TensorSpec(shape, spec.dtype, spec.name) for spec, shape in pairs]

    def export(self, register_table: RegisterTable) -> tuple[list[GraphFunction], Any]:
        """The graphs, and the structure of the function's result."""
        names = [spec.name or "an argument" for spec in self.specs]
        try:
            path = self.find_traced_path()
            if path is not None:
                with suppress(CannotSave):  # a trace for saving may do without such ops
                    return encode_paths([PathEncoder(path, None, {}, register_table)], names)
            return encode_paths(self.trace_examples(register_table), names)
        except (CannotSave, ValueRead, UnknownSizeError) as error:
            raise explain_failure(self.function.name, error) from None

    def find_traced_path(self) -> TracedPath | None:
        """The path of an earlier call, if all sizes are known."""
        if not all(spec.shape.is_fully_defined() for spec in self.specs):
            return None
        raws = [make_virtual_array(s.shape.as_list(), s.dtype.as_numpy_dtype) for s in self.specs]
        path: TracedPath | None = self.function.path_for(*self.pack([make_tensor(r) for r in raws]))
        return path if path is not None and not path.guards else None

    def trace_examples(self, register_table: RegisterTable) -> list[PathEncoder]:
        """The encoders of paths that are traced now: one, and others for sizes it does not serve.

        Most functions assume nothing about sizes, so one trace is for all.
        """
        traced = [self.trace(None)]
        if traced[0].sizes.assumptions:
            for examples in make_examples(self.specs):
                if any(serves(one, examples) for one in traced):
                    continue
                try:
                    traced.append(self.trace(examples))
                except Exception:
                    continue  # the function does not take these sizes
        return [PathEncoder(t.path, t.sizes, t.size_sources, register_table) for t in traced]

    def trace(self, examples: list[tuple[int, ...]] | None) -> AbstractPath:
        """Trace the function; `examples` decide comparisons of sizes."""
        streams = self.function.streams or FunctionStreams()
        traced = trace_abstractly(
            self.function, self.specs, self.pack, streams, SavingTrace, examples
        )
        if traced is None:
            raise CannotSave("its graph is too large")
        return traced

    def pack(self, tensors: list[Any]) -> Any:
        """The arguments with these tensors in place of the specs."""
        return fill_specs(self.arguments, tensors)


def serves(traced: AbstractPath, shapes: list[tuple[int, ...]]) -> bool:
    """Whether the assumptions of a trace hold for arguments of these shapes."""
    env: Env = {}
    graph = traced.path.graph
    for number, shape in zip(graph.inputs, shapes, strict=False):
        bind_shape(graph.specs[number].shape, shape, env)
    return traced.sizes.holds(env)


def explain_failure(name: str, error: Exception) -> UnimplementedError:
    """Why a function cannot be saved, and what to do."""
    if isinstance(error, ValueRead):
        return UnimplementedError(
            f"saved_model.save: {name} looks at the value of {error}, and its graph depends on "
            "that value. Use tf.cond, tf.while_loop or tf.where."
        )
    if isinstance(error, UnknownSizeError):
        return UnimplementedError(
            f"saved_model.save: {name} cannot be saved for any size: {error} Give input_signature "
            "a shape without None."
        )
    return UnimplementedError(
        f"saved_model.save: {name} cannot be saved: {error}. Remove it from the function, or the "
        "function from the object."
    )
