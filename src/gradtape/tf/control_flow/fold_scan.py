"""Functions that combine the slices of tensors one after another: scan, foldl and foldr."""

from __future__ import annotations

import contextlib
from builtins import range as indices
from collections.abc import Iterator
from typing import Any

from gradtape.core import nest
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import OutOfRangeError, public
from gradtape.core.spec import TensorSpec
from gradtape.graph.control_flow import NotANode, trace_loop
from gradtape.tf.array.concat_split import concat
from gradtape.tf.control_flow.map import (
    StructureStack,
    as_tensor_structure,
    common_length_of,
    slice_at,
)


def trace_fold(fn: Any, elems: Any, initializer: Any, backwards: bool, op: str) -> tuple[Any, Any]:
    """Record a fold as one loop node of the graph; returns the last and all partial results.

    Raises:
        NotANode: if the fold cannot be a node.
    """
    if not callable(fn):
        raise TypeError(f"{op}: fn must be callable. Received {fn!r}.")
    tensors = as_tensor_structure(elems, op)
    n = common_length_of(tensors, op)
    if initializer is None:
        if not n:
            raise OutOfRangeError(
                f"{op}: elems must not be empty without an initializer. Received 0 slices."
            )
        total = nest.map_structure(lambda t: t[-1 if backwards else 0], tensors)
        rest = nest.map_structure(lambda t: t[:-1] if backwards else t[1:], tensors)
    else:
        total, rest = nest.map_structure(convert, initializer), tensors

    def run_body(carry: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
        before = nest.pack_sequence_as(total, carry)
        after = fn(before, nest.pack_sequence_as(tensors, slices))
        nest.assert_same_structure(total, after)
        flat = [convert(leaf) for leaf in nest.flatten(after)]
        return flat, flat

    first, slices = nest.flatten(total), nest.flatten(rest)
    limit = convert(n - (initializer is None), int64)
    last, ys = trace_loop(current_trace()[0], None, run_body, first, slices, limit, backwards)
    if initializer is None:
        pairs = zip(first, ys, strict=True)
        ys = [concat([y, f[None]] if backwards else [f[None], y], 0) for f, y in pairs]
    return nest.pack_sequence_as(total, last), nest.pack_sequence_as(total, ys)


def iterate_fold(
    fn: Any, elems: Any, initializer: Any, backwards: bool, op: str
) -> Iterator[tuple[int, Any]]:
    """Yield the partial results of a fold, each with the position of its slice.

    The position of an initializer is -1.
    """
    if not callable(fn):
        raise TypeError(f"{op}: fn must be callable. Received {fn!r}.")
    tensors = as_tensor_structure(elems, op)
    order = list(indices(common_length_of(tensors, op)))
    if backwards:
        order.reverse()
    if initializer is not None:
        # As in TensorFlow, a Python number stays one in a fold and adopts the dtype of its operand.
        total = nest.map_structure(convert, initializer) if op == "scan" else initializer
        yield -1, total
    elif order:
        first = order.pop(0)
        total = slice_at(tensors, first)
        yield first, total
    else:
        raise OutOfRangeError(
            f"{op}: elems must not be empty without an initializer. Received 0 slices."
        )
    for i in order:
        after = fn(total, slice_at(tensors, i))
        nest.assert_same_structure(total, after)
        total = nest.map_structure(convert, after)
        yield i, total


@public
def foldl(
    fn: Any,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the slices of `elems`, first to last, by `fn(accumulated, slice)`.

    Args:
        fn: callable of the accumulated value and the next slice.
        elems: a tensor or a structure of tensors.
        initializer: the initial value; the first slice if None.
        parallel_iterations: has no effect here.
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: has no effect here.
        name: has no effect here.

    Returns:
        The final value.
    """
    if current_trace():
        with contextlib.suppress(NotANode):
            return trace_fold(fn, elems, initializer, False, "foldl")[0]
    for _, total in iterate_fold(fn, elems, initializer, False, "foldl"):
        last = total
    return last


@public
def foldr(
    fn: Any,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the slices of `elems`, last to first, by `fn(accumulated, slice)`.

    Args:
        fn: callable of the accumulated value and the next slice.
        elems: a tensor or a structure of tensors.
        initializer: the initial value; the last slice if None.
        parallel_iterations: has no effect here.
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: has no effect here.
        name: has no effect here.

    Returns:
        The final value.
    """
    if current_trace():
        with contextlib.suppress(NotANode):
            return trace_fold(fn, elems, initializer, True, "foldr")[0]
    for _, total in iterate_fold(fn, elems, initializer, True, "foldr"):
        last = total
    return last


@public
def scan(
    fn: Any,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All partial results of a fold, stacked.

    Args:
        fn: callable of the accumulated value and the next slice.
        elems: a tensor or a structure of tensors.
        initializer: the initial value; the first slice if None.
        parallel_iterations: has no effect here.
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: has no effect here.
        infer_shape: has no effect here.
        reverse: whether to go from the last slice to the first.
        name: has no effect here.

    Returns:
        A tensor or a structure of tensors; entry i belongs to slice i.

    Example:
        >>> tf.scan(lambda a, x: a + x, tf.range(5)).numpy()
        array([ 0,  1,  3,  6, 10], dtype=int32)
    """
    if current_trace():
        with contextlib.suppress(NotANode):
            return trace_fold(fn, elems, initializer, reverse, "scan")[1]
    steps = iterate_fold(fn, elems, initializer, reverse, "scan")
    position, total = next(steps)
    specs = nest.map_structure(TensorSpec.from_tensor if infer_shape else lambda t: t.dtype, total)
    columns = StructureStack(
        specs, common_length_of(as_tensor_structure(elems, "scan"), "scan"), infer_shape
    )
    if position >= 0:
        columns.write(position, total)
    for i, after in steps:
        columns.write(i, after)
    return columns.stack()
