"""Traces a function for saving: for each signature, and on placeholder values of several sizes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.context import local, use_recorders
from gradtape.core.errors import InvalidArgumentError, UnimplementedError
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.graph.guard import ValueRead
from gradtape.jit.concrete_function import describe_argument
from gradtape.jit.trace_path import TracedPath, convert_results
from gradtape.ops.raw_array import make_stand_in_array
from gradtape.state.random.stream import FunctionStreams
from gradtape.tf.saved_model.abstract_trace import SavingTrace
from gradtape.tf.saved_model.failure import CannotSave
from gradtape.tf.saved_model.graph_function import GraphFunction, Variant
from gradtape.tf.saved_model.path_merge import PathMerger
from gradtape.tf.saved_model.result_structure import encode_structure, leaves_of
from gradtape.tf.saved_model.size_fit import PLACEHOLDER_SIZES, TRACE_COUNT, NotGeneral

UNKNOWN_RANKS = range(5)  # ranks for which a function of unknown rank is saved
HOST_RESULT_SIZES = (12, 17, 14, 19)  # sizes of what host functions decode, in each trace
LARGER = 40  # added to the placeholder sizes if small ones are invalid

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
    graphs: dict[tuple[int, ...], GraphFunction] = {}
    returned: Any = None
    failure: Exception | None = None
    for shapes in iterate_ranks(specs):
        exporter = SignatureExporter(function, arguments, specs, shapes)
        try:
            graph, returned = exporter.export(register_table)
        except (InvalidArgumentError, ValueError, TypeError) as error:
            if all(spec.shape.rank is not None for spec in specs):
                raise
            failure = error  # other ranks may be valid
            continue
        graphs[tuple([len(shape) for shape in shapes])] = graph
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


class SignatureExporter:
    """Traces a function on placeholder values for arguments of known ranks.

    Attributes:
        integers_read: integers that Python read, in each trace.
        folds_constants: whether traces compute constants at once.
        depends_on_values: whether sizes depend on values.
    """

    def __init__(
        self, function: Any, arguments: Any, specs: list[TensorSpec], shapes: list[Any]
    ) -> None:
        """`shapes` are those of the `specs` among the `arguments`; sizes may be None."""
        self.function = function
        self.arguments = arguments
        self.specs = specs
        self.shapes = shapes
        self.streams = function.streams or FunctionStreams()
        self.integers_read: list[dict[int, int]] = []
        self.folds_constants = True
        self.depends_on_values = False

    def export(self, register_table: RegisterTable) -> tuple[GraphFunction, Any]:
        """The graph, and the structure of the function's result."""
        try:
            paths = self.find_traced_path() or self.trace_sizes()
            try:
                graph = PathMerger(paths, self.integers_read, register_table).merge()
            except NotGeneral:
                self.folds_constants = False  # constants may follow from sizes through their ops
                paths = self.trace_sizes()
                graph = PathMerger(paths, self.integers_read, register_table).merge()
            return graph, encode_structure(paths[0].structure, itertools.count())
        except (CannotSave, NotGeneral, ValueRead) as error:
            raise explain_failure(self.function.name, error) from None

    def find_traced_path(self) -> list[TracedPath]:
        """The path of an earlier call, if all sizes are known."""
        if any(None in shape for shape in self.shapes):
            return []
        path = self.function.path_for(*self.pack(self.make_placeholders(self.shapes, 0)))
        self.integers_read = [{}]
        return [path] if path is not None and not path.guards else []

    def trace_sizes(self) -> list[TracedPath]:
        """A path for each choice of sizes."""
        places = [(i, k) for i, s in enumerate(self.shapes) for k, n in enumerate(s) if n is None]
        self.integers_read = []
        if not places:
            path = self.trace(self.shapes, 0)
            others = range(1, TRACE_COUNT if self.depends_on_values else 1)
            return [path, *(self.trace(self.shapes, k) for k in others)]
        failure: Exception | None = None
        for more in (0, LARGER):
            for groups in iterate_groups(places):
                self.integers_read = []
                try:
                    return [
                        self.trace(self.choose_sizes(groups, k, more), k)
                        for k in range(TRACE_COUNT)
                    ]
                except (InvalidArgumentError, ValueError, TypeError) as error:
                    failure = error  # the function does not take these sizes together
        assert failure is not None
        raise failure

    def choose_sizes(
        self, groups: dict[tuple[int, int], int], k: int, more: int
    ) -> list[list[int]]:
        """The shapes with the sizes of the k-th trace."""
        return [
            [
                PLACEHOLDER_SIZES[groups[i, axis]][k] + more if n is None else n
                for axis, n in enumerate(shape)
            ]
            for i, shape in enumerate(self.shapes)
        ]

    def make_placeholders(self, shapes: list[list[int]], k: int) -> list[Any]:
        """Raw arrays for the tensors among the arguments, in the k-th trace."""
        raws = [
            make_stand_in_array(n, s.dtype.as_numpy_dtype)
            for s, n in zip(self.specs, shapes, strict=True)
        ]
        raws = [make_words(raw, k) if raw.dtype == object else raw for raw in raws]
        at = 0
        for leaf in nest.flatten(self.arguments):
            if isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec):
                if hasattr(leaf, "ragged_rank"):
                    fill_row_splits(raws[at : at + 1 + leaf.ragged_rank])
                at += len(leaf._component_specs)
            elif isinstance(leaf, TensorSpec):
                at += 1
        return raws

    def pack(self, tensors: list[Any]) -> Any:
        """The arguments with these tensors in place of the specs."""
        rest = iter(tensors)

        def fill_leaf(leaf: Any) -> Any:
            if isinstance(leaf, TensorSpec):
                return next(rest)
            if isinstance(leaf, TypeSpec):
                return leaf._from_components([next(rest) for _ in leaf._component_specs])
            return leaf

        return nest.map_structure(fill_leaf, self.arguments)

    def trace(self, shapes: list[list[int]], k: int) -> TracedPath:
        """The path on placeholders of these shapes, in the k-th trace."""
        function = self.function
        trace = SavingTrace(function, self.streams, self.folds_constants)
        raws = self.make_placeholders(shapes, k)
        inputs = [trace.add_input(raw) for raw in raws]
        args, kwargs = self.pack(inputs)
        try:
            local.probe_size = HOST_RESULT_SIZES[k]
            with use_recorders((trace,)):
                function.traces += 1
                result = function.traced_function()(*args, **kwargs)
                path = TracedPath(trace, convert_results(result, function.name), [])
                if not trace.versions.created:
                    if trace.give_up_reason:
                        raise CannotSave(trace.give_up_reason)
                    self.integers_read.append(trace.integers_read)
                    self.depends_on_values = (
                        self.depends_on_values
                        or trace.has_host_results
                        or bool(trace.integers_read)
                    )
                    return path
                function.note_created_variables(trace.versions)
        finally:
            local.probe_size = 0
            trace.close()
        self.streams.clear()
        return self.trace(shapes, k)  # the first run created variables; this one uses them


def explain_failure(name: str, error: Exception) -> UnimplementedError:
    """Why a function cannot be saved, and what to do."""
    if isinstance(error, ValueRead):
        return UnimplementedError(
            f"saved_model.save: {name} looks at the value of {error}, and its graph depends on "
            "that value. Use tf.cond, tf.while_loop or tf.where."
        )
    if isinstance(error, NotGeneral):
        return UnimplementedError(
            f"saved_model.save: the graph of {name} depends on the sizes of its arguments in a "
            f"way that cannot be told from examples: {error}. Give input_signature a shape "
            "without None."
        )
    return UnimplementedError(
        f"saved_model.save: {name} cannot be saved: {error}. Remove it from the function, or the "
        "function from the object."
    )


def make_words(raw: Any, k: int) -> Any:
    """An array of strings of one and more words, different in each trace."""
    flat = [" ".join("ab" * (1 + (i + k) % 4)).encode() for i in range(raw.size)]
    flat = [text + b" c" * (5 * k + 3) if not i else text for i, text in enumerate(flat)]
    made = np.empty(raw.size, object)
    made[:] = flat
    return made.reshape(raw.shape)


def fill_row_splits(parts: list[Any]) -> None:
    """Make the row splits of a ragged placeholder valid; rows share the values evenly."""
    flat, *splits = parts
    below = [*(len(s) - 1 for s in splits[1:]), len(flat)]
    for split, total in zip(splits, below, strict=True):
        split[:] = np.round(np.linspace(0, total, len(split)))


def iterate_groups(places: list[tuple[int, int]]) -> Iterator[dict[tuple[int, int], int]]:
    """Yield assumptions about which unknown sizes are equal: none; first axes; same axes."""
    if len(places) <= len(PLACEHOLDER_SIZES):
        yield {place: n for n, place in enumerate(places)}
    axes = sorted({axis for _, axis in places})
    inner = [place for place in places if place[1]]
    if len(inner) < len(PLACEHOLDER_SIZES):
        yield {place: 0 if not place[1] else 1 + inner.index(place) for place in places}
    yield {place: axes.index(place[1]) for place in places}
