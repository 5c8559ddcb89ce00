"""AbstractTrace: a trace without values. Shape rules give the shapes and dtypes of all results.

The raw value of a tensor is its `Spec`, so nothing is computed and nothing is allocated, except
for ops on constants. Python must not read values. An unknown size is an unknown of the trace; a
size that only the data determines is a new unknown.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradtape.core.context import local
from gradtape.core.dims import SizeSource, UnknownSizeError
from gradtape.core.dispatch import record_op, run_kernel
from gradtape.core.lazy_array import (
    TracedArray,
    UnknownRankError,
    UnrankedArray,
    materialize,
)
from gradtape.core.open_shape import as_unknown
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.shape_rule import FRESH, infer_specs
from gradtape.core.shapes import TensorShape
from gradtape.core.size_atom import Unknown
from gradtape.core.size_context import SizeContext
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import SymbolicTensor, check_scope, make_symbolic
from gradtape.core.tensor import Tensor
from gradtape.graph.graph import Constant, Effect, Graph
from gradtape.graph.guard import ValueRead
from gradtape.graph.open_size import has_open_sizes, map_traced
from gradtape.graph.size_pinning import LEAST_INTEGER
from gradtape.graph.size_tensor import fold_size_tensors
from gradtape.graph.trace import Trace
from gradtape.ops.raw_array import make_stand_in_array
from gradtape.ops.size_array import make_size_array, size_array

MAX_CONSTANT_BYTES = 1 << 20  # of a constant that a trace without values computes
MAX_SIZES = 16  # of a vector of integers that may be sizes
RANKS = range(5)  # tried where a function needs a rank that is not known


class AbstractTrace(Trace):
    """Records a function on specs.

    Attributes:
        size_sources: where each unknown size is found.
    """

    is_abstract = True
    reads_unknown_sizes = True
    most_constant_bytes = MAX_CONSTANT_BYTES

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Start empty."""
        super().__init__(*args, **kwargs)
        self.sizes = SizeContext(with_hints=False)
        self.size_sources: dict[Unknown, SizeSource] = {}
        self.settled_assumptions = 0  # how many assumptions were made before the last node

    def record_node(
        self,
        op: Primitive | Effect,
        lifted: Iterable[Any],
        static: dict[str, Any],
        outs: tuple[Tensor, ...],
    ) -> None:
        """Record an application; assumptions that were made for it are settled."""
        assert self.sizes is not None
        self.settled_assumptions = len(self.sizes.assumptions)
        super().record_node(op, lifted, static, outs)

    def make_value(self, raw: Any, name: str = "", shape: Any = None) -> SymbolicTensor:
        """A new tensor of this trace; an unknown size that it is the first to have is its own."""
        tensor = super().make_value(raw, name, shape)
        held = tensor._array
        if type(held) is not UnrankedArray:
            for axis, size in enumerate(held.shape):
                unknown = as_unknown(size)
                if unknown is not None:
                    self.size_sources.setdefault(unknown, (held.number, axis))
        return tensor

    def add_spec(
        self, spec: TensorSpec, name: str = "", examples: tuple[int, ...] | None = None
    ) -> SymbolicTensor:
        """A new tensor of this trace for an argument.

        Comparisons of unknown sizes are decided by `examples`, a size for each axis.
        """
        assert self.sizes is not None
        if spec.shape.rank is None:
            return self.add_input(self.spec_of_result(spec), name)
        given = examples or [None] * len(spec.shape.as_list())
        shape = [
            self.sizes.make_unknown(f"{name}.shape[{axis}]", example) if size is None else size
            for axis, (size, example) in enumerate(zip(spec.shape.as_list(), given, strict=True))
        ]
        dtype = make_stand_in_array([0], spec.dtype.as_numpy_dtype).dtype
        return self.add_input(Spec((tuple(shape), dtype)), name)

    def bind(self, op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Infer the results of `op`, record it, and tell the tapes inside this trace."""
        lifted = [self.as_traced(a) for a in args]
        is_live = SymbolicTensor in map(type, lifted)
        is_constant = not is_live and not has_open_sizes(op, lifted, static)
        if is_constant and not has_large_result(op, lifted, static):
            return super().bind(op, args, static)
        return self.bind_lifted(op, lifted, static)

    def bind_open(self, op: Primitive, static: dict[str, Any]) -> Any:
        """Apply an op without inputs, whose result depends on unknown sizes."""
        return self.bind_lifted(op, [], static)

    def bind_lifted(self, op: Primitive, lifted: list[Any], static: dict[str, Any]) -> Any:
        """Infer the results of `op` on lifted arguments, and record it.

        Raises:
            ValueRead: if the op has no shape rule.
        """
        if TracedArray in map(type, static.values()):
            static = materialize(static)  # raises, because Python must not read values
        views = tuple([a._array if isinstance(a, Tensor) else a for a in lifted])
        if UnrankedArray in map(type, views):
            return self.bind_unranked(op, lifted, static)
        folded = fold_size_tensors(self, op, views, static)
        if folded is not None:
            return folded
        try:
            specs = infer_specs(op, views, static)
        except NotImplementedError:
            raise ValueRead(op.name) from None
        outs = tuple([self.make_value(self.settle(spec)) for spec in specs])
        self.record_node(op, lifted, static, outs)
        out: Any = outs if op.outputs else outs[0]
        seen = tuple([o._array for o in outs])
        result = seen if op.outputs else seen[0]
        for record in local.recorders[1:]:
            record_op(record, op, tuple(lifted), views, static, out, result)
        return out

    def settle(self, spec: Spec) -> Spec:
        """A spec with new unknowns in place of sizes that only the data determines."""
        assert self.sizes is not None
        sizes: list[Any] = list(spec.shape)
        for axis, size in enumerate(sizes):
            if size is FRESH:
                sizes[axis] = self.sizes.make_unknown(from_data=True)
        return Spec((tuple(sizes), spec.dtype))

    def create_variable(self, variable: Any, tensor: Any) -> Any:
        """Note that a variable is created; its initial value is computed.

        Raises:
            ValueRead: if the value depends on an argument of the function.
        """
        raw = super().create_variable(variable, tensor)
        return self.compute_value(tensor._array.number) if type(raw) is Spec else raw

    def compute_value(self, number: int) -> Any:
        """The raw value of a number that depends on captures and variables only."""
        frame = {held._array.number: t._array for t, held in self.builder.captures.values()}
        for state in self.versions.states.values():
            frame[state.initial._array.number] = state.stored._array
        graph = Graph(list(frame), self.builder.nodes, [number], self.builder.specs)
        for node in graph.live_nodes():
            if node.is_effect and number not in node.outputs:
                continue
            if node.is_effect or not frame.keys() >= set(node.reads()):
                raise ValueRead("an initial value")
            raws = tuple([i.raw if isinstance(i, Constant) else frame[i] for i in node.inputs])
            made = run_kernel(node.op, raws, node.static)  # type: ignore[arg-type]
            frame.update(zip(node.outputs, made if node.op.outputs else (made,), strict=True))
        return frame[number]

    def has_found_sizes(self) -> bool:
        """Whether sizes of the graph depend on data."""
        assert self.sizes is not None
        return any(unknown.from_data for unknown in self.sizes.unknowns)

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """Raise: there are no values. A size that assumptions determine is a number."""
        check_scope(make_symbolic(held))
        if held.dims is not None:
            return materialize_sizes(held)
        raise ValueRead(self.builder.name_of(held.number))

    def read_integer(self, held: TracedArray) -> Any:
        """An unknown size in place of an integer that only the data determines."""
        assert self.sizes is not None
        size = self.sizes.make_unknown(least=LEAST_INTEGER, from_data=True)
        unknown = as_unknown(size)
        assert unknown is not None
        self.size_sources[unknown] = (held.number, None)
        return size

    def has_next(self, count: int) -> bool:
        """Whether an iterator has an element after `count` ones: one stands for all."""
        return count == 0

    def run_effect(
        self, effect: Effect, args: Iterable[Any], specs: Iterable[Any] | None = None
    ) -> tuple[SymbolicTensor, ...]:
        """Record an effect, which does not run; its results have these `specs`."""
        if effect.is_replayed and specs is None:
            raise ValueRead(effect.name)
        outs = tuple([self.make_value(self.spec_of_result(spec)) for spec in specs or ()])
        self.record_node(effect, [self.as_traced(a) for a in args], {}, outs)
        return outs

    def spec_of_result(self, spec: TensorSpec | Spec) -> Spec:
        """The spec of a result that the user or a rule describes."""
        if isinstance(spec, Spec):
            return spec if spec.shape is None else self.settle(spec)
        dtype = make_stand_in_array([0], spec.dtype.as_numpy_dtype).dtype
        shape: Any = None
        if spec.shape.rank is not None:
            shape = tuple([FRESH if size is None else size for size in spec.shape.as_list()])
            return self.settle(Spec((shape, dtype)))
        return Spec((shape, dtype))

    def make_ranked(self, held: UnrankedArray, known: TensorShape) -> Any:
        """The array of a value whose shape the program states."""
        if known.rank is None:
            return held
        assert self.sizes is not None
        shape = [
            self.sizes.make_unknown(from_data=True) if size is None else size
            for size in known.as_list()
        ]
        spec = self.builder.specs[held.number] = Spec((tuple(shape), held.dtype))
        return TracedArray(spec, held.number, self)

    def retry(
        self,
        error: BaseException,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[Any] | None:
        """Call a function again that failed because it needs integers, a rank or other answers.

        Integers become unknown sizes. For a tensor of unknown rank, several ranks are tried. The
        comparisons of the function were answered for large sizes without common factors. A check
        may need another answer, such as that a size is a multiple of 4.

        Returns (result,), or None if the function always fails.
        """
        with self.use_integers_as_sizes((args, kwargs)) as found:
            if found:
                return (function(*args, **kwargs),)
        if has_unranked((args, kwargs)):
            return self.retry_ranks(function, args, kwargs)
        if isinstance(error, (ValueRead, UnknownSizeError)):
            return None
        return self.search_answers(function, args, kwargs)

    def search_answers(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any] | None:
        """(The result of a function that failed,) with other answers to its decisions, or None."""
        assert self.sizes is not None
        before = self.save_position()
        found = self.sizes.search_answers(
            lambda: function(*args, **kwargs), self.settled_assumptions
        )
        if found is None:
            self.restore_position(before)
        return found

    def retry_ranks(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any] | None:
        """Call a function that failed on a tensor of unknown rank for several ranks.

        Returns (what the results have in common,), or None if it fails for all ranks.
        """
        results = []
        for rank in RANKS:
            ranked: dict[int, SymbolicTensor] = {}
            given, named = map_traced(
                lambda tensor, rank=rank, ranked=ranked: self.try_rank(tensor, rank, ranked),
                (args, kwargs),
            )
            try:
                results.append(function(*given, **named))
            except Exception:  # the function may not take this rank
                results += self.search_answers(function, given, named) or ()
        return (self.join_results(results),) if results else None

    @contextlib.contextmanager
    def use_integers_as_sizes(self, value: Any) -> Iterator[list[TracedArray]]:
        """Give integer tensors among arguments unknown sizes as elements; suppress exceptions.

        Yields the arrays that had none before. If the body raises, they have none afterwards.
        """
        assert self.sizes is not None
        found = [held for held in find_integers(value) if held.dims is None]
        for held in found:
            held.dims = make_size_array(self.read_integers(held)).reshape(held.shape)
        try:
            yield found
        except Exception:
            for held in found:
                held.dims = None

    def try_rank(
        self, tensor: SymbolicTensor, rank: int, ranked: dict[int, SymbolicTensor]
    ) -> SymbolicTensor:
        """A tensor of this rank in place of one of unknown rank; `ranked` has those made before."""
        held = tensor._array
        if type(held) is not UnrankedArray:
            return tensor
        if held.number not in ranked:
            spec = Spec(((FRESH,) * rank, held.dtype))
            ranked[held.number] = self.make_value(self.settle(spec))
        return ranked[held.number]

    def make_unranked(self, tensor: Tensor) -> SymbolicTensor:
        """A tensor of unknown rank with the dtype of another one."""
        return self.make_value(Spec((None, tensor._array.dtype)))

    def join_results(self, results: list[Any]) -> Any:
        """One result for the results of several ranks."""
        first = results[0]
        if isinstance(first, (list, tuple)) and not hasattr(first, "_fields"):
            return type(first)([self.join_results(list(c)) for c in zip(*results, strict=True)])
        if not isinstance(first, Tensor):
            return first
        shape = first.shape
        for one in results[1:]:
            shape = shape.most_specific_compatible_shape(one.shape)
        return self.make_value(self.spec_of_result(TensorSpec(shape, first.dtype)))

    def bind_unranked(self, op: Primitive, lifted: list[Any], static: dict[str, Any]) -> Any:
        """Apply an elementwise op to values of unknown rank."""
        if op.core_ndim != 0 or op.outputs:
            raise UnknownRankError(f"{op.name}: the rank of an operand is not known here.")
        views = [a._array if isinstance(a, Tensor) else a for a in lifted]
        scalars = tuple([Spec(((), v.dtype)) if type(v) is UnrankedArray else v for v in views])
        out = self.make_value(Spec((None, infer_specs(op, scalars, static)[0].dtype)))
        self.record_node(op, lifted, static, (out,))
        return out


def has_large_result(op: Primitive, lifted: list[Any], static: dict[str, Any]) -> bool:
    """Whether a result of an op on constants is too large for a function that is only traced."""
    try:
        specs = infer_specs(op, tuple([getattr(a, "_array", a) for a in lifted]), static)
    except Exception:  # the op has no rule, or refuses its arguments when it runs
        return False
    sizes = [(spec.shape, spec.dtype.itemsize) for spec in specs]
    return any(
        math.prod(shape) * size > MAX_CONSTANT_BYTES
        for shape, size in sizes
        if all(type(n) is int for n in shape)
    )


def find_integers(value: Any) -> Iterator[TracedArray]:
    """The arrays of scalars and short vectors of integers among arguments."""
    if isinstance(value, (tuple, list)):
        for one in value:
            yield from find_integers(one)
    elif type(value) is dict:
        yield from find_integers(tuple(value.values()))
    elif type(value) is slice:
        yield from find_integers((value.start, value.stop, value.step))
    elif isinstance(value, SymbolicTensor) and type(value._array) is TracedArray:
        held = value._array
        is_short = len(held.shape) == 0 or (len(held.shape) == 1 and type(held.shape[0]) is int)
        if is_short and held.dtype.kind in "iu" and held.size <= MAX_SIZES:
            yield held


def has_unranked(value: Any) -> bool:
    """Whether tensors of unknown rank are among arguments."""
    if isinstance(value, (tuple, list)):
        return any(map(has_unranked, value))
    if type(value) is dict:
        return any(map(has_unranked, value.values()))
    return type(getattr(value, "_array", None)) is UnrankedArray


def materialize_sizes(held: TracedArray) -> Any:
    """The raw value of a size tensor whose sizes follow from assumptions."""
    sizes = tuple([int(size) for size in held.dims.flat])
    return size_array(sizes=sizes, shape=held.dims.shape, dtype=held.dtype)
