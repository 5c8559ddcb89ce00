"""Open signatures: calls of different sizes that share a trace.

Sizes are open where `input_signature` has None, and with `reduce_retracing=True` where two calls
differ. An `OpenTrace` has a graph of unknown sizes and the assumptions that Python made about them.
A call of new sizes that satisfy the assumptions gets a specialised graph; Python does not run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core import nest
from gradtape.core.open_shape import bind_shape
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shapes import TensorShape
from gradtape.core.size_context import SizeContext
from gradtape.core.size_function import Env
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor
from gradtape.jit.cache_key import describe, structure_key
from gradtape.jit.signature import Call
from gradtape.jit.trace_path import TracedPath


class OpenTrace(NamedTuple):
    """A path of unknown sizes.

    Attributes:
        path: the path; shapes in its graph hold symbolic sizes.
        sizes: the unknown sizes, and the assumptions about them.
    """

    path: TracedPath
    sizes: SizeContext

    def find_env(self, tensors: list[Any]) -> Env | None:
        """The unknown sizes in a call on these tensors; None if this trace does not serve it."""
        env: Env = {}
        graph = self.path.graph
        for number, tensor in zip(graph.inputs, tensors, strict=False):
            if not bind_shape(graph.specs[number].shape, tensor._array.shape, env):
                return None
        return env if self.sizes.holds(env) else None

    def finds_sizes(self) -> bool:
        """Whether only a run finds some of its sizes."""
        return any(unknown.from_data for unknown in self.sizes.unknowns)


class OpenTraces:
    """All traces for one open signature; each serves the sizes that satisfy its assumptions."""

    def __init__(self, shapes: list[TensorShape], hides_dense_shapes: bool = False) -> None:
        """Start without traces; `shapes` are those of the tensors, with None for open sizes."""
        self.shapes = shapes
        self.hides_dense_shapes = hides_dense_shapes  # whether those of sparse tensors are unknown
        self.traces: list[OpenTrace] = []

    def add_inputs(self, trace: Any, tensors: list[Any], names: list[str]) -> list[Any]:
        """Start a trace: its inputs, with unknown sizes whose hints are the sizes of the call."""
        sizes = trace.sizes = SizeContext(with_hints=True)
        inputs = []
        for tensor, shape, name in zip(tensors, self.shapes, names, strict=True):
            raw = tensor._array
            known = [
                sizes.make_unknown(f"{name}.shape[{axis}]", given) if size is None else given
                for axis, (size, given) in enumerate(zip(shape, raw.shape, strict=True))
            ]
            inputs.append(trace.add_input(raw, name, tuple(known)))
        return inputs

    def find_paths(self, tensors: list[Any]) -> list[TracedPath]:
        """The paths of all traces that serve a call on these tensors, for its sizes."""
        paths = []
        for one in self.traces:
            env = None if one.finds_sizes() else one.find_env(tensors)
            if env is not None:
                paths.append(one.path.specialise(env))
                if not one.path.guards:
                    break
        return paths

    def list_traces_of_found_sizes(self, tensors: list[Any]) -> list[OpenTrace]:
        """The traces that may serve a call on these tensors, and whose sizes only a run finds."""
        return [t for t in self.traces if t.finds_sizes() and t.find_env(tensors) is not None]


class OpenSignature:
    """Which sizes of a function's arguments are open, and its traces.

    The number of values in a ragged or sparse tensor is always open.

    Attributes:
        shapes: shapes of `input_signature`, if sizes in it are open; else None.
        seen: by dtypes, ranks and Python values, the shapes that cover all calls so far, and
            the static shapes of sparse tensors, if they are those of all calls.
        traces: by dtypes, open shapes and Python values, the traces.
        requested: shapes for which `get_concrete_function` was called.
    """

    def __init__(self, shapes: list[TensorShape] | None, reduces_retracing: bool) -> None:
        """For a function with the open shapes of its `input_signature`, or without any."""
        self.shapes = shapes
        self.reduces_retracing = reduces_retracing
        self.requested: list[list[TensorShape]] = []
        self.seen: dict[Any, Any] = {}
        self.traces: dict[Any, OpenTraces] = {}

    def find(self, call: Call) -> OpenTraces | None:
        """The traces for calls like this one; None if all sizes are known."""
        if self.shapes is not None:
            return self.traces_for(call, self.shapes, hides_dense_shapes=True)
        for shapes in self.requested:
            known = (
                self.traces.get(open_key(call, shapes, True)) if fit_call(shapes, call) else None
            )
            if known is not None:
                return known
        own = shapes_of(call)
        if own is None:
            return None
        shapes, hides = self.generalise(call, own) if self.reduces_retracing else (own, False)
        if all(shape.is_fully_defined() for shape in shapes):
            return None
        return self.traces_for(call, shapes, hides)

    def traces_for(
        self, call: Call, shapes: list[TensorShape], hides_dense_shapes: bool
    ) -> OpenTraces | None:
        """The traces for calls with these open shapes."""
        if len(shapes) != len(call.tensors):
            return None
        shapes = [
            TensorShape([None] * t._array.ndim) if shape.rank is None else shape
            for shape, t in zip(shapes, call.tensors, strict=True)
        ]
        key = open_key(call, shapes, hides_dense_shapes)
        if key not in self.traces:
            self.traces[key] = OpenTraces(shapes, hides_dense_shapes)
        return self.traces[key]

    def add_requested(self, call: Call, shapes: list[TensorShape], trace: OpenTrace) -> None:
        """Add a trace for specs; `call` is a call that fits them."""
        traces = self.traces_for(call, shapes, hides_dense_shapes=True)
        if traces is not None:
            traces.traces.append(trace)
            if self.shapes is None and shapes not in self.requested:
                self.requested.append(shapes)

    def generalise(self, call: Call, own: list[TensorShape]) -> tuple[list[TensorShape], bool]:
        """Shapes that cover this call, which has its `own` ones, and earlier calls.

        The second result says whether the shapes of sparse tensors differ between these calls.
        """
        unknown = [TensorShape([None] * len(shape.as_list())) for shape in own]
        key = open_key(call, unknown, True)
        dense = dense_shapes_of(call)
        before, dense_before = self.seen.get(key, (own, dense))
        pairs = zip(before, own, strict=True)
        covering = [a.most_specific_compatible_shape(b) for a, b in pairs]
        hides = dense != dense_before
        self.seen[key] = covering, None if hides else dense
        return covering, hides


def make_open_signature(input_signature: Any, reduces_retracing: bool) -> OpenSignature | None:
    """The open signature of a function with these options; None if it has no open sizes."""
    shapes = find_open_shapes(input_signature)
    reduces = reduces_retracing and input_signature is None
    return OpenSignature(shapes, reduces) if reduces or shapes is not None else None


def fit_call(shapes: list[TensorShape], call: Call) -> bool:
    """Whether the tensors of a call have these shapes."""
    return len(shapes) == len(call.tensors) and all(
        shape.is_compatible_with(TensorShape.from_tuple(t._array.shape))
        for shape, t in zip(shapes, call.tensors, strict=True)
    )


def find_open_shapes(input_signature: Any) -> list[TensorShape] | None:
    """The shapes of the tensors that an `input_signature` describes, if some are open; else None.

    A ragged or sparse tensor consists of several tensors.
    """
    if input_signature is None:
        return None
    specs = [one for spec in nest.flatten(input_signature) for one in component_specs_of(spec)]
    if not all(isinstance(one, TensorSpec) for one in specs):
        return None
    is_open = any(not spec.shape.is_fully_defined() for spec in specs)
    return [spec.shape for spec in specs] if is_open else None


def component_specs_of(spec: Any) -> list[Any]:
    """The specs of the tensors that a value of this spec consists of."""
    if isinstance(spec, TensorSpec) or not hasattr(spec, "_component_specs"):
        return [spec]
    return nest.flatten(spec._component_specs)


def shapes_of(call: Call) -> list[TensorShape] | None:
    """The shapes of the tensors of a call; the number of values in a composite one is open.

    Returns None if there are arguments whose parts are not known, such as iterators.
    """
    if call.is_flat:
        return [TensorShape.from_tuple(t._array.shape) for t in call.tensors]
    shapes: list[TensorShape] = []
    for leaf in nest.flatten((call.args, call.kwargs)):
        if isinstance(leaf, Tensor):
            shapes.append(TensorShape.from_tuple(leaf._array.shape))
        elif isinstance(leaf, (RaggedTensor, SparseTensor)):
            shapes += [spec.shape for spec in component_specs_of(leaf._type_spec)]
    return shapes if len(shapes) == len(call.tensors) else None


def has_composites(call: Call) -> bool:
    """Whether ragged or sparse tensors are among the arguments of a call."""
    return not call.is_flat and any(
        isinstance(leaf, (RaggedTensor, SparseTensor))
        for leaf in nest.flatten((call.args, call.kwargs))
    )


def dense_shapes_of(call: Call) -> list[TensorShape]:
    """The static shapes of the sparse tensors among the arguments of a call."""
    leaves = [] if call.is_flat else nest.flatten((call.args, call.kwargs))
    return [leaf.shape for leaf in leaves if isinstance(leaf, SparseTensor)]


def open_key(call: Call, shapes: list[TensorShape], hides_dense_shapes: bool) -> Any:
    """The key of all calls that differ from this one only in sizes that `shapes` leaves open."""
    given = iter(shapes)
    leaves = [
        TensorSpec(next(given), leaf.dtype) if isinstance(leaf, Tensor) else leaf
        for leaf in call.leaves
    ]
    key: list[Any] = []
    describe(leaves, key, [], [], ())
    dense = () if hides_dense_shapes else tuple(map(str, dense_shapes_of(call)))
    structure = None if call.is_flat else open_structure_key((call.args, call.kwargs))
    return structure, tuple(key), dense, call.device


def open_structure_key(structure: Any) -> Any:
    """As `structure_key`, without the sizes of composite tensors."""
    if isinstance(structure, dict):
        return dict, tuple([(k, open_structure_key(v)) for k, v in structure.items()])
    if isinstance(structure, (list, tuple)):
        return type(structure), tuple([open_structure_key(v) for v in structure])
    if isinstance(structure, SparseTensor):
        return SparseTensor, len(structure.shape)
    return structure_key(structure)
