"""A builder of graphs for tests, which also computes every value."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dispatch import ignore_float_errors
from gradtape.core.primitive import Primitive, Spec
from gradtape.graph.graph import Constant, Graph, Node


class Builder:
    """A graph under construction, with all values for the given inputs."""

    def __init__(self, *inputs: Any) -> None:
        """Start a graph with these raw inputs."""
        self.values: list[Any] = [raw_input(x) for x in inputs]
        self.inputs = tuple(range(len(inputs)))
        self.nodes: list[Node] = []

    def apply(self, function: Any, *args: Any, **static: Any) -> Any:
        """Apply a primitive to values (by number) and constants; return the result's number."""
        op = function if not hasattr(function, "op") else function.op
        assert isinstance(op, Primitive)
        raws = [self.values[a] if type(a) is int else a.raw for a in args]
        with ignore_float_errors():
            result = op.kernel(*raws, **static)
        outs = tuple(result) if op.outputs else (result,)
        numbers = tuple(range(len(self.values), len(self.values) + len(outs)))
        self.values += outs
        self.nodes.append(Node(op, args, static, numbers))
        return numbers if op.outputs else numbers[0]

    def graph(self, *outputs: Any) -> Graph:
        """The graph with these outputs."""
        specs = {i: Spec((np.shape(v), np.asarray(v).dtype)) for i, v in enumerate(self.values)}
        return Graph(self.inputs, self.nodes, outputs, specs)

    def wanted(self, *outputs: Any) -> list[Any]:
        """The results of the kernels."""
        return [self.values[o] if type(o) is int else o.raw for o in outputs]


def raw_input(x: Any) -> Any:
    """An input as the engine gets it: a read-only array or a scalar."""
    x = np.array(x)
    x.flags.writeable = False
    return x[()] if x.dtype.char != "O" else x


def constant(x: Any) -> Constant:
    """A constant of a graph."""
    return Constant(x)


def assert_same(got: Any, want: Any, exact: bool = True, what: str = "") -> None:
    """Assert the same kind, shape and dtype, and equality: bit by bit, or up to rounding."""
    assert isinstance(got, np.ndarray) == isinstance(want, np.ndarray) or not np.shape(want), what
    assert np.shape(got) == np.shape(want), what
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, what
    if want.dtype.char == "O":
        assert got.tolist() == want.tolist(), what
    elif exact:
        wide = want.dtype if want.dtype.kind in "biufc" else np.dtype("float32")
        np.testing.assert_array_equal(got.astype(wide), want.astype(wide), err_msg=what)
        if want.dtype.kind == "f":
            known = ~np.isnan(want)  # the sign of a NaN depends on the length of the array
            signs = np.signbit(got[known]), np.signbit(want[known])
            np.testing.assert_array_equal(*signs, err_msg=what)
    else:
        rough = want.dtype.itemsize <= 2 and want.dtype.kind not in "iub"
        wide = np.dtype("float32") if rough else want.dtype
        rtol = 2e-2 if rough else 1e-11 if want.dtype.char in "dD" else 1e-5
        np.testing.assert_allclose(
            got.astype(wide), want.astype(wide), rtol=rtol, atol=rtol / 10, err_msg=what
        )


def interpret(graph: Graph, raws: Any) -> list[Any]:
    """Run a graph kernel by kernel and return its outputs."""
    values = dict(zip(graph.inputs, raws, strict=True))
    with ignore_float_errors():
        for node in graph.nodes:
            args = [values[a] if type(a) is int else a.raw for a in node.inputs]
            result = node.op.kernel(*args, **node.static)
            values.update(zip(node.outputs, result if node.op.outputs else (result,), strict=True))
    return [values[o] if type(o) is int else o.raw for o in graph.outputs]
