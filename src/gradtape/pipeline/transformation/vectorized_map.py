"""Vectorized map: run a user function once for a batch where that gives bit-identical results.

Static parameters of primitives count axes from the right, so a kernel works with an extra batch
axis in front. A graph may run once for a batch, instead of once for each element, if it contains
only the ops below: they compute every row exactly as they would alone. Ops whose rounding depends
on the SIMD lane or the shape (matrix products, sums, exponentials) are not included.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from gradtape.graph.graph import Constant, Graph, Node

Raws = list[Any]
BatchFunction = Callable[[Raws, int], Raws]

MAX_ROW_BYTES = 1 << 14  # maximum bytes of a value of one row; larger rows are faster one by one

# Elementwise and exactly rounded: each result depends on its operands only.
ARITHMETIC = """
    add subtract multiply divide negative square squared_difference reciprocal sqrt absolute sign
    floor ceil truncate rint maximum minimum relu relu6 select gate identity zeros_like ones_like
    equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor
    logical_not is_nan is_inf is_finite cast floordiv_integers floormod_integers
    truncatediv_integers truncatemod_integers bitwise_and bitwise_or bitwise_xor invert
"""
# One operand, whose trailing axes are moved, selected or compared.
MOVES = """
    reshape swap transpose slice_ place pad flip split unstack broadcast_to one_hot_mask argmax
    argmin reduce_all reduce_any
"""
EXACT_OPS = frozenset(ARITHMETIC.split())
TRAILING_AXES_OPS = frozenset(MOVES.split())
JOINING_OPS = frozenset(["concat", "stack", "identity_n"])


def vectorize_graph(graph: Graph, arguments: int) -> BatchFunction | None:
    """Make a function of batched arguments and captures; None if the graph is not eligible.

    Args:
        graph: graph for one row. Its inputs are the arguments, then captures without batch axis.
        arguments: number of inputs that are arguments.
    """
    specs = graph.specs
    for shape, dtype in specs.values():
        if prod(shape) * dtype.itemsize > MAX_ROW_BYTES or dtype.kind == "O":
            return None
    batched = set(graph.inputs[:arguments])
    steps = []
    for node in graph.live_nodes():
        step = make_node_step(node, specs, batched)
        if step is None:
            return None
        if any(i in batched for i in node.reads()):
            batched.update(node.outputs)
        steps.append(step)

    def run(raws: Raws, rows: int) -> Raws:
        frame: dict[Any, Any] = dict(zip(graph.inputs, raws, strict=True))
        with np.errstate(all="ignore"):
            for step in steps:
                step(frame, rows)
        found = []
        for out in graph.outputs:
            raw = out.raw if isinstance(out, Constant) else frame[out]
            found.append(raw if out in batched else repeat_for_rows(raw, rows))
        return found

    return run


def make_node_step(node: Node, specs: Any, batched: set[Any]) -> Callable[[Any, int], None] | None:
    """Make a function that runs one node on a frame; None if results could differ from one row."""
    name = getattr(node.op, "name", "")
    kernel, static = node.op.kernel, node.static
    if node.is_effect or not is_exact_per_row(node, specs, batched):
        return None
    widest = max((len(row_operand_shape(i, specs)) for i in node.inputs), default=0)

    def operand(i: Any) -> Callable[[Any, int], Any]:
        if isinstance(i, Constant):
            raw = i.raw
            return (
                (lambda frame, rows: repeat_for_rows(raw, rows))
                if joins
                else lambda frame, rows: raw
            )
        if i not in batched:
            return (lambda f, rows: repeat_for_rows(f[i], rows)) if joins else lambda f, rows: f[i]
        shape = specs[i][0]
        if name in EXACT_OPS and len(shape) < widest:
            aligned = (1,) * (widest - len(shape)) + tuple(shape)
            return lambda frame, rows: frame[i].reshape(rows, *aligned)
        return lambda frame, rows: frame[i]

    joins = name in JOINING_OPS and any(i in batched for i in node.reads())
    getters = [operand(i) for i in node.inputs]
    outputs = node.outputs

    def step(frame: Any, rows: int) -> None:
        result = kernel(*[get(frame, rows) for get in getters], **static)
        if node.op.outputs:
            frame.update(zip(outputs, result, strict=True))
        else:
            frame[outputs[0]] = result

    return step


def is_exact_per_row(node: Node, specs: Any, batched: set[Any]) -> bool:
    """Whether the node computes each row of a batch exactly as it would alone."""
    name = getattr(node.op, "name", "")
    if not any(i in batched for i in node.reads()):
        return name in EXACT_OPS or name in TRAILING_AXES_OPS or name in JOINING_OPS
    if name == "discretize":  # out-of-range floats give arbitrary integers
        kind = node.inputs[0]
        dtype = kind.raw.dtype if isinstance(kind, Constant) else specs[kind][1]
        return bool(dtype.kind in "iub")
    if name in ("gather", "take"):
        params, indices = node.inputs
        whole = node.static["axis"] == -len(row_operand_shape(params, specs))
        return (params in batched) != (indices in batched) and (params in batched or whole)
    return name in EXACT_OPS or name in TRAILING_AXES_OPS or name in JOINING_OPS


def row_operand_shape(operand: Any, specs: Any) -> tuple[int, ...]:
    """The shape of an operand for one row."""
    shape: tuple[int, ...] = (
        np.shape(operand.raw) if isinstance(operand, Constant) else specs[operand][0]
    )
    return shape


def repeat_for_rows(raw: Any, rows: int) -> Any:
    """Repeat a value for every row."""
    out = np.empty((rows, *np.shape(raw)), np.asarray(raw).dtype)
    out[...] = raw
    return out
