"""A scratch graph: a trace without values in which a program only asks for shapes.

Keras infers the output shapes of layers in such a graph. Its tensors are placeholders and what ops
make of them. The graph is dropped at the end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from gradtape.core import dtypes
from gradtape.core.context import current_trace, use_recorders
from gradtape.core.lazy_array import TracedArray
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import SymbolicTensor, value_not_allowed_error
from gradtape.graph.abstract_trace import AbstractTrace, materialize_sizes
from gradtape.graph.graph import Effect
from gradtape.graph.size_tensor import make_shape_tensor
from gradtape.graph.trace_options import TraceOptions


class ScratchTrace(AbstractTrace):
    """The trace of a scratch graph."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(TraceOptions("scratch_graph", autograph=False))
        self.outer: dict[int, SymbolicTensor] = {}  # for tensors of other traces, by uid

    def as_traced(self, tensor: Any) -> Any:
        """The tensor of this trace for `tensor`; of a tensor of another trace only its spec."""
        if isinstance(tensor, SymbolicTensor) and tensor._array.trace is not self:
            if tensor.uid not in self.outer:
                self.outer[tensor.uid] = self.make_value(
                    self.spec_of_result(TensorSpec(tensor.shape, tensor.dtype))
                )
            return self.outer[tensor.uid]
        return super().as_traced(tensor)

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """Raise: there are no values. A size that assumptions determine is a number."""
        if held.dims is not None and not self.closed:
            return materialize_sizes(held)
        raise value_not_allowed_error("Using the value of a symbolic `tf.Tensor`")

    def run_effect(
        self, effect: Effect, args: Iterable[Any], specs: Iterable[Any] | None = None
    ) -> tuple[SymbolicTensor, ...]:
        """The results of an effect, which does not run."""
        if effect.is_replayed and specs is None:
            raise value_not_allowed_error(f"Calling {effect.name}")
        return super().run_effect(effect, args, specs)


@contextlib.contextmanager
def enter_scratch_graph() -> Iterator[ScratchTrace]:
    """Scope in which ops only infer shapes; inside another one it is the same graph."""
    stage = current_trace()
    if stage and isinstance(stage[0], ScratchTrace):
        yield stage[0]
        return
    trace = ScratchTrace()
    try:
        with use_recorders((trace,)):
            yield trace
    finally:
        trace.close()


def make_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SymbolicTensor:
    """A tensor of a scratch graph whose value, and perhaps size, is not known."""
    trace = find_scratch_trace("placeholder")
    known = TensorShape(shape)
    if known.rank is None:
        raise NotImplementedError("placeholder: the rank must be known. Give a shape.")
    return trace.add_spec(TensorSpec(known, dtypes.as_dtype(dtype)), name or "Placeholder")


def make_sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor of a scratch graph; its values, and perhaps its shape, are not known."""
    trace = find_scratch_trace("sparse_placeholder")
    dense = make_placeholder(dtype, shape, name)
    rank = len(dense._array.shape)
    count = trace.make_value(trace.spec_of_result(TensorSpec([None], dense.dtype)))
    positions = trace.make_value(trace.spec_of_result(TensorSpec([None, rank], dtypes.int64)))
    positions.set_shape([None, rank])
    sizes = make_shape_tensor(dense._array.shape, dtypes.int64.as_numpy_dtype)
    return SparseTensor(positions, count, sizes)


def find_scratch_trace(op: str) -> ScratchTrace:
    """The trace of the active scratch graph.

    Raises:
        RuntimeError: if there is none.
    """
    stage = current_trace()
    if not stage or not isinstance(stage[0], ScratchTrace):
        raise RuntimeError(
            f"tf.compat.v1.{op}() is not compatible with eager execution. Make it a parameter of "
            "a tf.function."
        )
    return stage[0]
