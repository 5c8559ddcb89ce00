"""Compare the results of the engines with eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtape.compile.numpy import engine as numpy_engine
from gradtape.compile.xla.kernel_namespace import has_jax
from gradtape.core.context import no_recording, use_recorders
from gradtape.core.dispatch import run_kernel
from gradtape.core.dtypes import is_differentiable
from gradtape.core.errors import public
from gradtape.graph.graph import Constant, Graph
from gradtape.graph.trace import Trace
from gradtape.graph.trace_options import TraceOptions
from gradtape.jit.signature import Signature
from gradtape.jit.trace_path import TracedPath, convert_results

ROUNDING_TOLERANCE = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-4, "complex64": 1e-4}


class Difference(NamedTuple):
    """The first value, in execution order, where an engine differs from eager mode.

    Attributes:
        engine: "function" (the trace itself), "numpy" or "xla".
        primitive: the primitive that computes the value; "result" if only the results differ.
        node: its number in the graph; -1 for a result.
        line: the printed graph node.
        by: the largest difference, relative to the largest element; inf if dtypes, shapes or the
            positions of NaN and inf differ.
    """

    engine: str
    primitive: str
    node: int
    line: str
    by: float


class Comparison(NamedTuple):
    """The result of `compare_engines`.

    Attributes:
        differences: at most one for each engine.
        engines: the engines that ran.
        declined: why XLA did not run, or "".
    """

    differences: tuple[Difference, ...]
    engines: tuple[str, ...]
    declined: str

    @property
    def equal(self) -> bool:
        """Whether no difference was found."""
        return not self.differences

    def __str__(self) -> str:
        """One line per difference."""
        lines = [
            f"{d.engine}: {d.primitive} differs by {d.by:.2g}: {d.line}" for d in self.differences
        ]
        lines = lines or [f"equal: {', '.join(self.engines)}"]
        if self.declined:
            lines.append(f"xla did not run: {self.declined}")
        return "\n".join(lines)


@public
def compare_engines(
    function: Callable[..., Any], *args: Any, rtol: float | None = None
) -> Comparison:
    """Run a function eagerly, on the numpy engine and, if jax is installed, on the xla engine.

    Variables are restored afterwards. Other side effects of the function happen twice.

    Args:
        function: a Python function of tensors, or a `tf.function`.
        *args: its arguments.
        rtol: the allowed difference, relative to the largest element; by default a bound for
            rounding errors.

    Returns:
        A `Comparison`, which can be printed. It names the first primitive whose value differs.

    Example:
        >>> gradtape.debug.compare_engines(lambda x: tf.sin(x) * x, tf.constant([1.0, 2.0])).equal
        True
    """
    python = getattr(function, "python_function", function)
    run = TracedRun(python, args)
    differences = []
    names = ["function", "numpy"]
    found = run.first_different_result(
        run.eager_results, run.select_outputs(run.values), "function", rtol
    )
    differences.append(found)
    differences.append(run.compare_engine("numpy", numpy_engine.compile_graph, rtol))
    declined = "" if has_jax() else "jax is not installed"
    if not declined:
        from gradtape.compile.xla.engine import compile_graph
        from gradtape.compile.xla.lowering import NotLowerable

        try:
            differences.append(run.compare_engine("xla", compile_graph, rtol))
            names.append("xla")
        except NotLowerable as error:
            declined = str(error)
    return Comparison(tuple([d for d in differences if d]), tuple(names), declined)


class TracedRun:
    """A traced function, and every value of the traced run.

    Attributes:
        graph: the graph without side effects; their results are inputs.
        input_arrays: the raw inputs.
        values: raw values by number, computed by running the primitives one by one.
        eager_results: the raw results of the Python function.
    """

    def __init__(self, python: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Trace the function, and run it eagerly."""
        call = Signature(python, None).bind(args, {})
        name = getattr(python, "__name__", "function")
        trace = Trace(TraceOptions(name))
        inputs = [trace.add_input(t._array) for t in call.tensors]
        again, named = call.substitute_tensors(inputs, trace)
        try:
            with use_recorders((trace,)):
                returned = convert_results(python(*again, **named), name)
                path = TracedPath(trace, returned, call.variables)
            if trace.versions.created:
                why = "it creates variables. Call the function once before"
                raise ValueError(f"compare_engines: the function cannot be traced: {why}.")
            variables = path.resolve_variables(call.variables)
            first = [v._stored_version()._array for v in variables]
            self.input_arrays = [t._array for t in (*call.tensors, *path.captures)] + first
            done = trace.log.effect_results()
        finally:
            trace.close()
        self.result_count = path.result_count
        effects = [n for n in path.effects if n.op.is_replayed]  # type: ignore[union-attr]
        numbers = [o for node in effects for o in node.outputs]
        self.input_arrays += [raw for results in done for raw in results]
        nodes = [n for n in path.graph.nodes if not n.is_effect]
        graph = path.graph
        self.graph = Graph([*graph.inputs, *numbers], nodes, graph.outputs, graph.specs)
        self.values = self.interpret_graph()
        self.eager_results = self.run_python(python, args, variables)

    def run_python(self, python: Callable[..., Any], args: Any, variables: list[Any]) -> list[Any]:
        """Run the Python function eagerly, and restore the variables."""
        before = [v._value for v in variables]
        try:
            with no_recording():
                returned = convert_results(python(*args), "function")
        finally:
            for variable, value in zip(variables, before, strict=True):
                variable._value = value
        from gradtape.core import nest
        from gradtape.core.tensor import Tensor

        leaves = nest.flatten(returned, expand_composites=True)
        return [t._array for t in leaves if isinstance(t, Tensor)]

    def interpret_graph(self) -> dict[int, Any]:
        """Run the primitives of the graph one by one; return all values."""
        values = dict(zip(self.graph.inputs, self.input_arrays, strict=True))
        for node in self.graph.nodes:
            raws = tuple([i.raw if isinstance(i, Constant) else values[i] for i in node.inputs])
            result: Any = run_kernel(node.op, raws, node.static)  # type: ignore[arg-type]
            values.update(zip(node.outputs, result if node.op.outputs else (result,), strict=True))
        return values

    def select_outputs(self, values: dict[int, Any]) -> list[Any]:
        """The outputs of the graph, out of `values`."""
        return [o.raw if isinstance(o, Constant) else values[o] for o in self.graph.outputs]

    def compare_engine(self, engine: str, compiled: Any, rtol: float | None) -> Difference | None:
        """The first value where `engine` differs, or None if its results are equal."""
        wanted = self.select_outputs(self.values)
        found = self.first_different_result(
            wanted, list(compiled(self.graph)(*self.input_arrays)), engine, rtol
        )
        if found is None:
            return None
        graph = self.graph
        numbers = [o for node in graph.nodes for o in node.outputs]
        whole = Graph(graph.inputs, graph.nodes, numbers, graph.specs)
        values = dict(zip(numbers, compiled(whole)(*self.input_arrays), strict=True))
        lines = graph.pretty().splitlines()[1:]
        for k, node in enumerate(graph.nodes):
            for o in node.outputs:
                by = relative_distance(self.values[o], values[o])
                if by > tolerance_of(self.values[o], rtol):
                    return Difference(engine, node.op.name, k, lines[k].strip(), by)
        return found

    def first_different_result(
        self, wanted: list[Any], got: list[Any], engine: str, rtol: float | None
    ) -> Difference | None:
        """The first result that differs, or None."""
        for k, (a, b) in enumerate(zip(wanted, got, strict=False)):
            by = relative_distance(a, b)
            if by > tolerance_of(a, rtol):
                what = (
                    f"result {k}"
                    if k < self.result_count
                    else f"assignment {k - self.result_count}"
                )
                return Difference(engine, "result", -1, what, by)
        return None


def tolerance_of(raw: Any, rtol: float | None) -> float:
    """The allowed difference of a value."""
    if not is_differentiable(raw.dtype):
        return 0.0
    return ROUNDING_TOLERANCE.get(raw.dtype.name, 1e-9) if rtol is None else rtol


def relative_distance(a: Any, b: Any) -> float:
    """The largest difference of two values, relative to the largest element."""
    if np.shape(a) != np.shape(b) or a.dtype != b.dtype:
        return float("inf")
    if not is_differentiable(a.dtype):
        return 0.0 if np.array_equal(a, b) else float("inf")
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = np.asarray(a).astype(wide), np.asarray(b).astype(wide)
    finite = np.isfinite(a)
    if (
        not np.array_equal(a[~finite], b[~finite], equal_nan=True)
        or not np.isfinite(b[finite]).all()
    ):
        return float("inf")
    gap = np.max(np.abs(a[finite] - b[finite]), initial=0)
    return float(gap / max(1.0, np.max(np.abs(a[finite]), initial=0)))
