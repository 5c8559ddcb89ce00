"""Functions that apply a function to each slice of tensors: map_fn and vectorized_map."""

from __future__ import annotations

import contextlib
from builtins import range as indices
from collections.abc import Callable
from typing import Any, TypeVar

from gradtape import func
from gradtape.core import nest
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import public
from gradtape.core.log import get_log
from gradtape.core.open_shape import has_dims
from gradtape.core.primitive import Spec
from gradtape.core.spec import TensorSpec
from gradtape.graph.control_flow import NotANode, trace_loop
from gradtape.tf.array.concat_split import stack
from gradtape.tf.array.creation import zeros
from gradtape.tf.array.reshape import broadcast_to
from gradtape.tf.array.tensor_array import TensorArray
from gradtape.tf.ragged.map_fn import map_rows, needs_map_rows

R = TypeVar("R")


def common_length_of(elems: Any, op: str, stretch: bool = False) -> int:
    """The common first dimension of a structure of tensors; if `stretch`, ones broadcast."""
    first, *others = [t._array.shape[0] for t in nest.flatten(elems)]
    for size in others:
        if size != first and not (stretch and 1 in (size, first)):
            raise ValueError(
                f"{op}: Dimensions {first} and {size} are not compatible: all elements must have "
                "one first dimension."
            )
        first = size if stretch and first == 1 else first
    length: int = first
    return length


def as_tensor_structure(elems: Any, op: str) -> Any:
    """Convert to a structure of tensors; raise if it is empty or contains a scalar."""
    tensors = nest.map_structure(convert, elems)
    if not nest.flatten(tensors):
        raise ValueError(
            f"{op}: elems must be a Tensor or a structure of Tensors. Received {elems!r}."
        )
    for t in nest.flatten(tensors):
        if t.ndim == 0:
            raise ValueError(
                f"{op}: elements must be 1+ dimensional Tensors, not scalars. Received {t!r}."
            )
    return tensors


def slice_at(elems: Any, i: int) -> Any:
    """The i-th slice of every tensor; a tensor with a single slice broadcasts."""
    return nest.map_structure(lambda t: t[min(i, len(t) - 1)], elems)


class StructureStack:
    """Collects structures of tensors and stacks them leaf by leaf."""

    def __init__(self, specs: Any, n: int, infer_shape: bool) -> None:
        """Prepare for `n` structures like `specs`, whose leaves are dtypes or TensorSpecs."""
        self.specs = specs
        self.arrays = [
            TensorArray(spec.dtype, n, infer_shape=infer_shape, element_shape=spec.shape)
            for spec in map(as_output_spec, nest.flatten(specs))
        ]

    def write(self, i: int, structure: Any) -> None:
        """Write the i-th structure."""
        nest.assert_same_structure(self.specs, structure)
        leaves = zip(self.arrays, nest.flatten(structure), strict=True)
        self.arrays = [array.write(i, leaf) for array, leaf in leaves]

    def stack(self) -> Any:
        """The structure of stacked leaves."""
        return nest.pack_sequence_as(self.specs, [array.stack() for array in self.arrays])


def as_output_spec(signature: Any) -> TensorSpec:
    """Convert a dtype or TensorSpec to a TensorSpec."""
    return signature if isinstance(signature, TensorSpec) else TensorSpec(None, signature)


@public
def map_fn(
    fn: Callable[[Any], R],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> R:
    """Apply `fn` to each slice of `elems` along the first dimension and stack the results.

    Args:
        fn: callable of one slice (of a structure of slices, if `elems` is a structure).
        elems: a tensor, sparse or ragged tensor, or a structure of them.
        dtype: dtype of the result, if it differs (deprecated spelling).
        parallel_iterations: has no effect here.
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: has no effect here.
        infer_shape: has no effect here.
        name: has no effect here.
        fn_output_signature: dtype or TensorSpec of the results of `fn`, or a structure of them; by
            default that of `elems`. With a RaggedTensorSpec results may differ in size.

    Returns:
        A tensor or a structure of tensors.

    Raises:
        ValueError, TypeError: if `fn` returns another structure or shape.
        InvalidArgumentError: if `fn` returns another dtype.

    Example:
        >>> tf.map_fn(lambda x: x * x, tf.range(4)).numpy()
        array([0, 1, 4, 9], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("map_fn: The provided function is not callable.")
    if parallel_iterations is not None and parallel_iterations > 1:
        get_log().warning(
            "map_fn: setting parallel_iterations > 1 has no effect when executing eagerly."
        )
    signature = dtype if fn_output_signature is None else fn_output_signature
    if needs_map_rows(elems, signature):
        return map_rows(fn, elems, signature)
    tensors = as_tensor_structure(elems, "map_fn")
    n = common_length_of(tensors, "map_fn")
    if signature is None:
        signature = nest.map_structure(lambda t: t.dtype, tensors)
    if current_trace() and n:
        with contextlib.suppress(NotANode):
            return trace_map(fn, tensors, n, StructureStack(signature, 1, infer_shape))
    if has_dims((n,)) and current_trace()[0].is_abstract:
        return describe_map(fn, tensors, n, StructureStack(signature, 1, infer_shape))
    columns = StructureStack(signature, n, infer_shape)
    for i in indices(n):
        columns.write(i, fn(slice_at(tensors, i)))
    return columns.stack()


def describe_map(fn: Callable[[Any], Any], tensors: Any, n: Any, columns: StructureStack) -> Any:
    """The results of `map_fn` in a trace without values, where the loop cannot be a node."""
    trace = current_trace()[0]
    trace.sizes.make_unknown(from_data=True)  # so that no call runs the graph
    columns.write(0, fn(nest.map_structure(lambda t: t[0], tensors)))

    def repeat_row(one: Any) -> Any:
        raw = one._array
        return trace.make_value(Spec(((n, *raw.shape[1:]), raw.dtype)))

    return nest.map_structure(repeat_row, columns.stack())


@public
def vectorized_map(
    fn: Callable[[Any], R], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> R:
    """Apply `fn` to each slice of `elems` along the first dimension and stack the results.

    Args:
        fn: callable of one slice.
        elems: a tensor or a structure of tensors; those with one slice are broadcast.
        fallback_to_while_loop: whether to call `fn` once for each slice if it cannot run for all
            slices at once.
        warn: has no effect here.

    Returns:
        A tensor, or the structure of tensors that `fn` returns.

    Raises:
        ValueError: without the fallback, if `fn` reads a value or assigns a variable.
    """
    tensors = as_tensor_structure(elems, "vectorized_map")
    n = common_length_of(tensors, "vectorized_map", stretch=True)
    if n == 0:  # call `fn` on zeros to find the result shape
        probe = fn(nest.map_structure(lambda t: zeros(t.shape[1:], t.dtype), tensors))
        return nest.map_structure(lambda t: stack([convert(t)])[:0], probe)
    try:
        return func.vmap(fn)(broadcast_single_slices(tensors, n))
    except func.VectorizeError as error:
        if not fallback_to_while_loop:
            raise ValueError(f"vectorized_map: {error}") from None
    if current_trace():
        with contextlib.suppress(NotANode):
            return trace_map(fn, broadcast_single_slices(tensors, n), n)
    results = [fn(slice_at(tensors, i)) for i in indices(n)]
    return nest.map_structure(
        lambda *leaves: None if leaves[0] is None else stack([convert(leaf) for leaf in leaves]),
        *results,
    )


def broadcast_single_slices(tensors: Any, n: int) -> Any:
    """Broadcast tensors of one slice to `n` slices."""
    return nest.map_structure(
        lambda t: broadcast_to(t, (n, *t._array.shape[1:])) if t._array.shape[0] == 1 else t,
        tensors,
    )


def trace_map(fn: Any, tensors: Any, n: int, columns: StructureStack | None = None) -> Any:
    """Record a map as one loop node of the graph; returns the stacked results.

    Raises:
        NotANode: if the map cannot be a node.
    """
    structures: list[Any] = []

    def run_body(carry: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
        result = fn(nest.pack_sequence_as(tensors, slices))
        if columns is not None:
            columns.write(0, result)
        structures.append(result)
        return [], [leaf for leaf in nest.flatten(result) if leaf is not None]

    limit = convert(n, int64)
    _, ys = trace_loop(current_trace()[0], None, run_body, [], nest.flatten(tensors), limit)
    rest = iter(ys)
    return nest.map_structure(lambda leaf: leaf if leaf is None else next(rest), structures[0])
