"""Batching rules: how a primitive is applied to all examples at once.

A rule is called with the values (raw arrays or Tensors) and a flag for each value that has a
leading batch dimension. It consists of primitives, so it runs on raw arrays and under recorders.
Without a rule, a primitive with several inputs runs once for each example.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.dispatch import run_kernel
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.core.tensor import Tensor
from gradtape.func.batch_tensor import VectorizeError
from gradtape.ops.gather_scatter import flatten_batch_indices, prepend_batch_index
from gradtape.ops.reduce import broadcast_to
from gradtape.ops.shape import index_axis, reshape, shape_of, stack, transpose

Rule = Callable[[Primitive, list[Any], list[bool], dict[str, Any], int], Any]


def apply_to_batch(
    op: Primitive, values: list[Any], flags: list[bool], static: dict[str, Any], size: int
) -> Any:
    """Apply `op` to `size` examples.

    Args:
        op: the primitive.
        values: a raw array or Tensor for each input.
        flags: for each input, whether it has a leading batch dimension.
        static: the static parameters.
        size: the number of examples.

    Returns:
        The results with a leading batch dimension, or without one if no input has it.
    """
    if True not in flags:
        return call_op(op, values, static)
    return find_rule(op)(op, values, flags, static, size)


def call_op(op: Primitive, values: list[Any], static: dict[str, Any]) -> Any:
    """Apply `op` as it is, to raw arrays or under the active recorders."""
    if any(isinstance(value, Tensor) for value in values):
        return op.function(*values, **static)
    return run_kernel(op, tuple(values), static)


def find_rule(op: Primitive) -> Rule:
    """The rule of a primitive, or the loop over examples."""
    if REGISTRY.get(op.name) is not op or op.dynamic:
        return loop_over_examples
    rule = RULES.get(op.name)
    if rule is not None:
        return rule
    if op.core_ndim is not None:
        return align_ranks
    if op.variadic:
        return repeat_shared_operands
    return call_directly if len(op.inputs) == 1 else loop_over_examples


def call_directly(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of ops whose axes are counted from the right: the batch dimension is carried along."""
    return call_op(op, values, static)


def align_ranks(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of ops that broadcast: insert axes behind the batch dimension up to a common rank."""
    ndims = [len(shape_of_any(v)) - own for v, own in zip(values, flags, strict=True)]
    widest = max(ndims)
    aligned = [
        insert_axes(v, widest - n, n) if own and n < widest else v
        for v, n, own in zip(values, ndims, flags, strict=True)
    ]
    return call_op(op, aligned, static)


def repeat_and_align(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of ops whose result has the shape of the first operand, whatever the others have."""
    first = values[0] if flags[0] else repeat_for_batch(values[0], size)
    return align_ranks(op, [first, *values[1:]], [True, *flags[1:]], static, size)


def shape_of_any(value: Any) -> tuple[int, ...]:
    """The shape of an operand, which may be a Python number."""
    return shape_of(value) if hasattr(value, "_array") or hasattr(value, "shape") else ()


def insert_axes(value: Any, count: int, rank: int) -> Any:
    """Insert `count` axes of length one in front of the last `rank` axes."""
    shape = shape_of(value)
    return reshape(value, shape=(1,) * count + shape[len(shape) - rank :], rank=rank)


def repeat_for_batch(value: Any, size: int) -> Any:
    """Repeat a shared value along a new batch dimension."""
    shape = shape_of(value)
    return broadcast_to(value, shape=(size, *shape), rank=len(shape))


def repeat_shared_operands(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of ops whose operands have the same lead axes: repeat the shared ones."""
    return call_op(op, repeat_all(values, flags, size), static)


def repeat_all(values: list[Any], flags: list[bool], size: int) -> list[Any]:
    """All values with a batch dimension."""
    return [v if own else repeat_for_batch(v, size) for v, own in zip(values, flags, strict=True)]


def loop_over_examples(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Apply an op without a rule once for each example, and stack the results."""
    if not size:
        raise VectorizeError(
            f"vmap: {op.name} needs at least one example to find the shape of its result. "
            "Received a batch of size 0."
        )
    rows = [
        call_op(op, [pick_example(v, i) if own else v for v, own in pairs], static)
        for i, pairs in ((i, zip(values, flags, strict=True)) for i in range(size))
    ]
    if op.outputs:
        return tuple([stack_examples(op.name, column) for column in zip(*rows, strict=True)])
    return stack_examples(op.name, rows)


def pick_example(value: Any, i: int) -> Any:
    """The i-th example."""
    return index_axis(value, axis=-len(shape_of(value)), i=i)


def stack_examples(name: str, rows: Any) -> Any:
    """Stack the results for single examples.

    Raises:
        VectorizeError: if their shapes differ.
    """
    shapes = {shape_of(row) for row in rows}
    if len(shapes) > 1:
        listed = " and ".join(str(list(shape)) for shape in sorted(shapes)[:2])
        raise VectorizeError(
            f"vmap: {name} must have results of one shape for all examples. Received shapes "
            f"{listed}. Use tf.map_fn with a ragged signature."
        )
    return stack(*rows, axis=-len(shapes.pop()) - 1)


def move_axis_first(value: Any, axis: int) -> Any:
    """Move an axis (from the left) to the front."""
    n = len(shape_of(value))
    order = [axis, *range(axis), *range(axis + 1, n)]
    return transpose(value, perm=tuple([k - n for k in order]))


def batch_gather(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of `gather` and `take`: with indices per example, look up in all examples end to end."""
    params, indices = values
    axis = static["axis"]
    if not flags[1]:
        return call_op(op, values, static)
    before = len(shape_of(params)) - flags[0] + axis  # number of axes in front of `axis`
    own_rank = len(shape_of(indices)) - 1
    if not flags[0]:
        found = call_op(op, values, static)
        return move_axis_first(found, before)
    rows = place_in_front(params, 1, before)  # (batch, n, …)
    shape = shape_of(rows)
    flat = reshape(rows, shape=(size * shape[1], *shape[2:]), rank=len(shape))
    places = flatten_batch_indices(indices, shape=(size,), size=shape[1])
    found = call_op(op, [flat, places], {"axis": -len(shape) + 1})  # (batch, *indices, …)
    return place_behind(found, own_rank, before)


def place_behind(value: Any, count: int, before: int) -> Any:
    """Move `count` axes behind the batch dimension to after the `before` axes that follow them."""
    n = len(shape_of(value))
    moved = range(1, 1 + count)
    rest = range(1 + count, n)
    order = [0, *rest[:before], *moved, *rest[before:]]
    return transpose(value, perm=tuple([k - n for k in order]))


def place_in_front(value: Any, count: int, before: int) -> Any:
    """Undo `place_behind`."""
    n = len(shape_of(value))
    order = [0, *range(1 + before, 1 + before + count), *range(1, 1 + before)]
    order += range(1 + before + count, n)
    return transpose(value, perm=tuple([k - n for k in order]))


def batch_segment(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of `scatter_add` and the segment ops: every example has ids of its own."""
    if not flags[1]:
        return call_op(op, values, static)
    data, ids = repeat_all(values, flags, size)
    axis, count = static["axis"], static["size"]
    own_rank = len(shape_of(ids)) - 1
    before = len(shape_of(data)) - 1 - own_rank - (-axis - 1)
    rows = place_in_front(data, own_rank, before)  # (batch, *ids, …)
    rest = shape_of(rows)[1 + own_rank :]
    places = flatten_batch_indices(ids, shape=(size,), size=count)
    flat = call_op(op, [rows, places], {"axis": -len(rest) - 1, "size": size * count})
    split = reshape(flat, shape=(size, count, *rest), rank=len(rest) + 1)
    return place_behind(split, 1, before)


def batch_gather_nd(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of `gather_nd`."""
    if flags[0] != flags[1]:
        return call_op(op, values, static)
    params, indices = values
    return call_op(op, [params, prepend_batch_index(indices)], {"rank": static["rank"] + 1})


def batch_scatter_nd(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of `scatter_nd`."""
    if not flags[1]:
        return call_op(op, values, static)
    updates, indices = repeat_all(values, flags, size)
    return call_op(op, [updates, prepend_batch_index(indices)], {"shape": (size, *static["shape"])})


def batch_update_nd(op: Primitive, values: Any, flags: Any, static: Any, size: int) -> Any:
    """Rule of `update_nd` and `scatter_nd_extreme`."""
    x, indices, updates = repeat_all(values, flags, size)
    if "rank" in static:
        static = {"rank": static["rank"] + 1}
    return call_op(op, [x, prepend_batch_index(indices), updates], static)


RULES: dict[str, Rule] = {
    "flatten_batch_indices": loop_over_examples,
    "key_and_counter": loop_over_examples,
    "split_generator_state": loop_over_examples,
    "gather": batch_gather,
    "take": batch_gather,
    "scatter_add": batch_segment,
    "segment_max": batch_segment,
    "segment_min": batch_segment,
    "segment_prod": batch_segment,
    "stitch": batch_segment,
    "gather_nd": batch_gather_nd,
    "scatter_nd": batch_scatter_nd,
    "update_nd": batch_update_nd,
    "scatter_nd_extreme": batch_update_nd,
    "standardize": repeat_and_align,
    "sum_centered_product": repeat_and_align,
    "cross_entropy": repeat_shared_operands,
    "sparse_cross_entropy": repeat_shared_operands,
    "subtract_one_hot": repeat_shared_operands,
    "multiply_softmax_jacobian": repeat_shared_operands,
    "with_slope": repeat_shared_operands,
    "max_repool": repeat_shared_operands,
    "max_unpool": repeat_shared_operands,
}
