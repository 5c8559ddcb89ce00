"""Packing: the small variables of a compiled call are parts of one array on XLA.

XLA takes microseconds for each array that a program takes and returns, as long as for the work of a
small update. So a program gets small variables as one buffer, cuts it up, and returns one buffer
with their new values. The versions of the variables are parts of that buffer (`PackedArray`) until
they are read or assigned.

XLA compiles a copy for each variable, because its place is a constant, in about 35 ms. So only so
many variables are packed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from operator import is_
from typing import Any

import numpy as np

from gradtape.compile.xla.engine import XlaPlan, compile_graph
from gradtape.core.lazy_array import PackedArray, PackedPlace
from gradtape.core.primitive import Spec
from gradtape.graph.graph import Graph, Node
from gradtape.ops.shape import concat, reshape, slice_

MIN_PACKED_VARIABLES, MAX_PACKED_VARIABLES = 4, 32
MAX_PACKED_ELEMENTS = 1 << 12  # of a variable: copying a larger one costs more than passing it


class PackedPlan:
    """A plan whose small variables are parts of a buffer.

    Attributes:
        whole: the plan that takes the variables one by one; it is made on first use.
        packed: the plan that takes the other inputs and the buffer. It returns the other outputs
            and the next buffer.
        layout: what lies where in the buffer.
    """

    returns_jax_arrays = True

    def __init__(self, graph: Graph, layout: PackedLayout, index_checks: Sequence[Any]) -> None:
        """Compile `graph`, whose variables lie in a buffer as `layout` says."""
        self.graph, self.layout, self.index_checks = graph, layout, index_checks
        self.packed = compile_graph(layout.pack_graph(graph), None, index_checks)
        self.returns_jax_arrays = self.packed.returns_jax_arrays
        self.in_place: dict[int, int] = {}
        self.array_type, self.is_direct = self.packed.array_type, False

    @cached_property
    def whole(self) -> XlaPlan:
        """The plan without a buffer."""
        return compile_graph(self.graph, None, self.index_checks)

    def compile_now(self) -> PackedPlan:
        """Compile the program before the first call, so that a failure shows; return the plan."""
        self.packed.compile_now()
        return self

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """Run the plan without a buffer, on raw inputs."""
        return self.whole.run(*raws)

    __call__ = run

    def start(self, given: list[Any]) -> Any:
        """Run the plan without a buffer; results stay JAX arrays."""
        return self.whole.start(given)

    def pretty(self) -> str:
        """The program as JAX prints it."""
        return self.packed.pretty()


class PackedLayout:
    """Which inputs and outputs of a graph are parts of a buffer, and where they lie in it.

    Attributes:
        outputs: positions of the packed outputs in the graph.
        inputs: positions of the inputs whose next values they are.
        places: their places in the buffer.
        dtype: the dtype of all of them.
        size: number of elements of the buffer.
    """

    def __init__(self, graph: Graph, updates: Mapping[int, int]) -> None:
        """Lay out the inputs in `updates`, a dict from positions of outputs to those of inputs."""
        self.outputs, self.inputs = list(updates), list(updates.values())
        specs = [graph.specs[graph.inputs[k]] for k in self.inputs]
        ends = list(itertools.accumulate(prod(shape) for shape, _ in specs))
        self.dtype, self.size = specs[0][1], ends[-1]
        self.places = [
            PackedPlace(start, stop, shape, dtype)
            for start, stop, (shape, dtype) in zip([0, *ends], ends, specs, strict=False)
        ]

    def pack_graph(self, graph: Graph) -> Graph:
        """The graph whose last input and output are the buffer before and after."""
        specs = dict(graph.specs)
        numbers = itertools.count(max(specs, default=0) + 1).__next__
        before, after = numbers(), numbers()
        specs[before] = specs[after] = Spec(((self.size,), self.dtype))
        cuts, parts = [], []
        for i, o, place in zip(self.inputs, self.outputs, self.places, strict=True):
            flat = (place.stop - place.start,)
            cut, part = numbers(), numbers()
            specs[cut] = specs[part] = Spec((flat, self.dtype))
            static = {"key": (slice(place.start, place.stop),), "rank": 1}
            cuts.append(Node(slice_.op, (before,), static, (cut,)))
            static = {"shape": place.shape, "rank": 1}
            cuts.append(Node(reshape.op, (cut,), static, (graph.inputs[i],)))
            static = {"shape": flat, "rank": len(place.shape)}
            parts.append(Node(reshape.op, (graph.outputs[o],), static, (part,)))
        joined = tuple([node.outputs[0] for node in parts])
        join = Node(concat.op, joined, {"axis": -1}, (after,))
        inputs = [i for k, i in enumerate(graph.inputs) if k not in set(self.inputs)]
        outputs = [o for k, o in enumerate(graph.outputs) if k not in set(self.outputs)]
        nodes = [*cuts, *graph.nodes, *parts, join]
        return Graph([*inputs, before], nodes, [*outputs, after], specs)

    def make_buffer(self, held: Sequence[Any], before: Sequence[Any], buffer: Any) -> Any:
        """A raw buffer of arrays, which are JAX arrays, raw arrays or parts of buffers.

        Those that are the same objects as in `before` are taken from `buffer`.
        """
        if sum(map(is_, held, before)) * 2 >= len(held):
            raw = np.array(buffer)
        else:
            raw, before = np.empty(self.size, self.dtype), [None] * len(held)
        for array, known, place in zip(held, before, self.places, strict=True):
            if array is not known:
                value = array.value() if type(array) is PackedArray else np.asarray(array)
                raw[place.start : place.stop] = value.reshape(-1)
        return raw


def find_packed_layout(graph: Graph, updates: Mapping[int, int]) -> PackedLayout | None:
    """The layout of the small variables that a graph updates; None if it has few."""
    found = {}
    for output, k in updates.items():
        shape, dtype = graph.specs[graph.inputs[k]]
        if prod(shape) <= MAX_PACKED_ELEMENTS:
            found[output] = k, dtype
    counts = Counter(dtype for _, dtype in found.values())
    for dtype, count in counts.most_common(1):
        if count >= MIN_PACKED_VARIABLES:
            chosen = [(o, k) for o, (k, own) in found.items() if own == dtype]
            return PackedLayout(graph, dict(chosen[:MAX_PACKED_VARIABLES]))
    return None


def make_plan(
    graph: Graph, device: Any, index_checks: Sequence[Any], updates: Mapping[int, int]
) -> XlaPlan | PackedPlan:
    """The XLA plan of a graph, with a buffer if that pays for the variables in `updates`."""
    layout = find_packed_layout(graph, updates)
    if layout is None:
        return compile_graph(graph, device, index_checks)
    return PackedPlan(graph, layout, index_checks)
