"""Graphs of a function for all sizes: traced on several, and merged."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.context import local, use_recorders
from gradtape.core.dtypes import as_dtype
from gradtape.core.errors import InvalidArgumentError, UnimplementedError
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Graph, Node
from gradtape.graph.guard import ValueRead
from gradtape.jit.concrete_function import describe_argument
from gradtape.jit.trace_path import TracedPath, convert_results
from gradtape.ops.raw_array import make_stand_in_array
from gradtape.state.random.stream import FunctionStreams
from gradtape.tf.saved_model.abstract_trace import SavingTrace
from gradtape.tf.saved_model.graph_function import Program, Variant, leaves_of, structure_of
from gradtape.tf.saved_model.node_encoder import CannotSave, Encoder
from gradtape.tf.saved_model.trace_merge import SIZES, TRACES, NotGeneral, Scope, merged

RANKS = range(5)  # what is saved where a rank is unknown
FOUND = (12, 17, 14, 19)  # sizes of what is read from files, in each trace
LARGER = 40  # added to unknown sizes where small ones will not do


def variants_of(function: Any, tables: Callable[[Any], Any]) -> list[Variant]:
    """What a `tf.function` is saved as: one variant for each signature it is known for.

    Args:
        function: the function.
        tables: called with what a table holds: how it is referred to.
    """
    if function.input_signature is not None:
        return [variant_of(function, tuple(function.input_signature), {}, tables)]
    variants: list[Variant] = []
    for args, kwargs in function.list_call_specs():
        arguments = arguments_of(function, args, kwargs)
        if all(known.arguments != arguments for known in variants):
            variants.append(variant_of(function, args, kwargs, tables))
    return variants


def variant_of(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], tables: Callable[[Any], Any]
) -> Variant:
    """A function for one signature.

    Raises:
        UnimplementedError: if its graph cannot be saved.
    """
    arguments = arguments_of(function, args, kwargs)
    specs = [leaf for leaf in leaves_of(arguments) if isinstance(leaf, TensorSpec)]
    programs: dict[tuple[int, ...], Program] = {}
    returned: Any = None
    trouble: Exception | None = None
    for shapes in ranked(specs):
        tracer = Tracer(function, arguments, specs, shapes)
        try:
            program, returned = tracer.program(tables)
        except (InvalidArgumentError, ValueError, TypeError) as error:
            if all(spec.shape.rank is not None for spec in specs):
                raise
            trouble = error  # there are other ranks
            continue
        programs[tuple([len(shape) for shape in shapes])] = program
    if trouble is not None and not programs:
        raise trouble
    return Variant(arguments, programs, returned, function.name)


def arguments_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """(args, kwargs) of a call, defaults filled in and specs named."""
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


def ranked(specs: list[TensorSpec]) -> Iterator[list[list[int | None]]]:
    """Shapes of known rank for all specs; those without a rank have each the same."""
    if all(spec.shape.rank is not None for spec in specs):
        yield [spec.shape.as_list() for spec in specs]
        return
    for rank in RANKS:
        unknown: list[int | None] = [None] * rank
        yield [unknown if s.shape.rank is None else s.shape.as_list() for s in specs]


class Tracer:
    """Traces a function on stand-ins for arguments of these shapes."""

    def __init__(
        self, function: Any, arguments: Any, specs: list[TensorSpec], shapes: list[Any]
    ) -> None:
        """`shapes` are those of the `specs` among the `arguments`; sizes may be None."""
        self.function = function
        self.arguments = arguments
        self.specs = specs
        self.shapes = shapes
        self.streams = function.streams or FunctionStreams()
        self.looked: list[dict[int, int]] = []  # integers that Python looked at, in each trace
        self.folds = True
        self.varies = False  # whether sizes follow from values

    def program(self, tables: Callable[[Any], Any]) -> tuple[Program, Any]:
        """The graph, and the structure of what is returned."""
        try:
            paths = self.known() or self.paths()
            try:
                program = Joined(paths, self.looked, tables).program()
            except NotGeneral:
                self.folds = False  # constants may follow from sizes by the ops that made them
                paths = self.paths()
                program = Joined(paths, self.looked, tables).program()
            return program, structure_of(paths[0].structure, itertools.count())
        except (CannotSave, NotGeneral, ValueRead) as error:
            raise self.explained(error) from None

    def explained(self, error: Exception) -> UnimplementedError:
        """Why a function cannot be saved, and what to do."""
        name = self.function.name
        if isinstance(error, ValueRead):
            return UnimplementedError(
                f"saved_model.save: {name} looks at the value of {error}, and its graph depends on "
                "what it sees. Use tf.cond, tf.while_loop or tf.where for what depends on values."
            )
        if isinstance(error, NotGeneral):
            return UnimplementedError(
                f"saved_model.save: the graph of {name} depends on the sizes of its arguments in a "
                f"way that cannot be told from examples: {error}. Give input_signature a shape "
                "without None."
            )
        return UnimplementedError(
            f"saved_model.save: {name} cannot be saved for the sake of {error}. Leave it out of "
            "the function, or the function out of the object."
        )

    def known(self) -> list[TracedPath]:
        """The path that a call has left, if all sizes are known."""
        if any(None in shape for shape in self.shapes):
            return []
        path = self.function.path_for(*self.packed(self.stand_ins(self.shapes, 0)))
        self.looked = [{}]
        return [path] if path is not None and not path.guards else []

    def paths(self) -> list[TracedPath]:
        """A path for each choice of sizes."""
        places = [(i, k) for i, s in enumerate(self.shapes) for k, n in enumerate(s) if n is None]
        self.looked = []
        if not places:
            path = self.traced(self.shapes, 0)
            others = range(1, TRACES if self.varies else 1)
            return [path, *(self.traced(self.shapes, k) for k in others)]
        trouble: Exception | None = None
        for more in (0, LARGER):
            for groups in grouped(places):
                self.looked = []
                try:
                    return [self.traced(self.sized(groups, k, more), k) for k in range(TRACES)]
                except (InvalidArgumentError, ValueError, TypeError) as error:
                    trouble = error  # these sizes do not go together
        assert trouble is not None
        raise trouble

    def sized(self, groups: dict[tuple[int, int], int], k: int, more: int) -> list[list[int]]:
        """The shapes with the sizes of the k-th trace."""
        return [
            [SIZES[groups[i, axis]][k] + more if n is None else n for axis, n in enumerate(shape)]
            for i, shape in enumerate(self.shapes)
        ]

    def stand_ins(self, shapes: list[list[int]], k: int) -> list[Any]:
        """Raw arrays for the tensors among the arguments, in the k-th trace."""
        raws = [
            make_stand_in_array(n, s.dtype.as_numpy_dtype)
            for s, n in zip(self.specs, shapes, strict=True)
        ]
        raws = [words(raw, k) if raw.dtype == object else raw for raw in raws]
        at = 0
        for leaf in nest.flatten(self.arguments):
            if isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec):
                if hasattr(leaf, "ragged_rank"):
                    fill_splits(raws[at : at + 1 + leaf.ragged_rank])
                at += len(leaf._component_specs)
            elif isinstance(leaf, TensorSpec):
                at += 1
        return raws

    def packed(self, tensors: list[Any]) -> Any:
        """The arguments with these tensors in place of the specs."""
        rest = iter(tensors)

        def leaf(one: Any) -> Any:
            if isinstance(one, TensorSpec):
                return next(rest)
            if isinstance(one, TypeSpec):
                return one._from_components([next(rest) for _ in one._component_specs])
            return one

        return nest.map_structure(leaf, self.arguments)

    def traced(self, shapes: list[list[int]], k: int) -> TracedPath:
        """The path on stand-ins of these shapes, in the k-th trace."""
        function = self.function
        trace = SavingTrace(function, self.folds)
        trace.streams = self.streams
        raws = self.stand_ins(shapes, k)
        inputs = [trace.add_input(raw) for raw in raws]
        args, kwargs = self.packed(inputs)
        try:
            local.probe_size = FOUND[k]
            with use_recorders((trace,)):
                function.traces += 1
                result = function.python_function(*args, **kwargs)
                path = TracedPath(trace, convert_results(result, function.name), [])
                if not trace.created_variables:
                    if trace.give_up_reason:
                        raise CannotSave(trace.give_up_reason)
                    self.looked.append(trace.looked)
                    self.varies = self.varies or trace.gives or bool(trace.looked)
                    return path
                function.note_created_variables(trace.created_variables)
        finally:
            local.probe_size = 0
            trace.close()
        self.streams.clear()
        return self.traced(shapes, k)  # that run made variables; this one uses them


def words(raw: Any, k: int) -> Any:
    """Strings of one word and more, other ones in each trace."""
    flat = [" ".join("ab" * (1 + (i + k) % 4)).encode() for i in range(raw.size)]
    flat = [text + b" c" * (5 * k + 3) if not i else text for i, text in enumerate(flat)]
    made = np.empty(raw.size, object)
    made[:] = flat
    return made.reshape(raw.shape)


def fill_splits(parts: list[Any]) -> None:
    """Make the row splits of a ragged stand-in valid: rows share the values of the next level."""
    flat, *splits = parts
    below = [*(len(s) - 1 for s in splits[1:]), len(flat)]
    for split, total in zip(splits, below, strict=True):
        split[:] = np.round(np.linspace(0, total, len(split)))


def grouped(places: list[tuple[int, int]]) -> Iterator[dict[tuple[int, int], int]]:
    """Which unknown sizes are taken to be one: none; the first axes; all with the same axis."""
    if len(places) <= len(SIZES):
        yield {place: n for n, place in enumerate(places)}
    axes = sorted({axis for _, axis in places})
    inner = [place for place in places if place[1]]
    if len(inner) < len(SIZES):
        yield {place: 0 if not place[1] else 1 + inner.index(place) for place in places}
    yield {place: axes.index(place[1]) for place in places}


class Joined:
    """Paths of one function that differ by sizes, on their way to one program."""

    def __init__(
        self, paths: list[TracedPath], looked: list[dict[int, int]], tables: Callable[[Any], Any]
    ) -> None:
        """Start with these paths, and the integers that Python looked at in each."""
        self.paths = paths
        self.looked = looked
        self.first = paths[0]
        self.tables = tables
        self.held: list[Any] = []
        self.scope = Scope()
        self.encoders = [Encoder(path.keys, self.table) for path in paths]

    def table(self, entries: Any) -> Any:
        """How what a table holds is referred to."""
        self.tables(entries)  # refuses what is no table
        if not any(known is entries for known in self.held):
            self.held.append(entries)
        return {"$table": next(i for i, known in enumerate(self.held) if known is entries)}

    def shapes(self, number: int) -> list[tuple[int, ...]]:
        """The shape of a value in each trace."""
        return [tuple(path.graph.specs[number].shape) for path in self.paths]

    def needed(self, graph: Graph) -> list[Node]:
        """Nodes that a result, a supplied gradient, or an integer that Python saw depends on."""
        outputs = [*graph.outputs, *self.looked[0]]
        while True:
            nodes = Graph(graph.inputs, graph.nodes, outputs, graph.specs).live_nodes()
            supplied = [node.static["custom"] for node in nodes if node.op is CUSTOM]
            more = {n for custom in supplied for n in custom.reads()}.difference(outputs)
            if not more:
                return nodes
            outputs += sorted(more)

    def merged(self, trees: list[Any]) -> Any:
        """One tree for that of each path."""
        return merged(trees, self.scope) if len(trees) > 1 else trees[0]

    def node(self, group: tuple[Any, ...]) -> Any:
        """One application for that of each path."""
        op, outputs = group[0].op, group[0].outputs
        trees = [encoder.node(node) for encoder, node in zip(self.encoders, group, strict=True)]
        read = list(group[0].reads())
        self.scope.look_at([self.shapes(n) for n in read])
        self.scope.first = (read[0], self.shapes(read[0])) if read else None
        try:
            if any(node.outputs != outputs for node in group):
                raise NotGeneral("other numbers")
            tree = self.merged(trees)
        except NotGeneral as error:
            raise NotGeneral(f"{op.name} has {error}") from None
        for number in outputs:
            self.scope.add(number, self.shapes(number))
            if number in self.looked[0]:
                self.scope.count(number, [one.get(number, 0) for one in self.looked])
        return tree

    def check_alike(self, lists: list[list[Node]]) -> None:
        """Check that the paths have as many nodes, and read the same from outside."""
        if any(len(nodes) != len(lists[0]) for nodes in lists):
            counts = sorted({len(nodes) for nodes in lists})
            raise NotGeneral(
                f"it has {counts} ops, as of a loop that Python runs (a body that looks at values "
                "or calls Python, or one that decodes files)"
            )
        first = self.first
        for path in self.paths:
            same = path.graph.inputs == first.graph.inputs and path.keys == first.keys
            if not same or [t.uid for t in path.captures] != [t.uid for t in first.captures]:
                raise NotGeneral("other tensors and variables from outside are used")

    def program(self) -> Program:
        """One program for all sizes."""
        first, numbers = self.first, self.first.graph.inputs
        if any(type(v) is int for v in first.states):
            raise CannotSave("a variable among its arguments")
        lists = [self.needed(path.graph) for path in self.paths]
        self.check_alike(lists)
        for number in numbers:
            self.scope.add(number, self.shapes(number))
        nodes = [self.node(group) for group in zip(*lists, strict=True)]
        self.scope.look_at([])
        pairs = zip(self.encoders, self.paths, strict=True)
        outputs = self.merged([[e.operand(o) for o in p.graph.outputs] for e, p in pairs])
        start = len(numbers) - len(first.captures) - len(first.states)
        end = start + len(first.captures)
        specs = [spec_of([path.specs[i] for path in self.paths]) for i in range(first.result_count)]
        tree = {
            "inputs": numbers[:start],
            "captures": numbers[start:end],
            "states": numbers[end:],
            "nodes": nodes,
            "outputs": outputs[: first.result_count],
            "specs": specs,
        }
        return Program(tree, list(first.captures), list(first.states), self.held)


def spec_of(specs: list[Any]) -> list[Any]:
    """Shape, with None where traces differ, and dtype of an output."""
    shapes = [shape for shape, _ in specs]
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        raise NotGeneral(f"a result with the shapes {shapes}")
    sizes = [column[0] if len(set(column)) == 1 else None for column in zip(*shapes, strict=True)]
    return [sizes, as_dtype(specs[0][1]).name]
