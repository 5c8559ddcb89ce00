"""vmap: run a function of one example for all examples at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.func.argument import check_function
from gradtape.func.batch_stage import BatchStage
from gradtape.ops.shape import transpose
from gradtape.tape.indexed_slices import IndexedSlices

P = ParamSpec("P")
R = TypeVar("R")


@public
def vmap(function: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0) -> Callable[P, R]:
    """Make a function of a batch from a function of one example.

    Each op runs once for the whole batch. Random ops draw different numbers for each example.

    Args:
        function: function of tensors, variables, and nested structures of them.
        in_axes: the axis of the examples in each argument, or None for an argument that all
            examples share. An integer holds for all arguments. For an argument that is a nested
            structure, a prefix of that structure is allowed. Keyword arguments are batched along
            their first axis.
        out_axes: the axis of the examples in each result; None for a result that does not depend
            on the example.

    Returns:
        A function of batches.

    Raises:
        VectorizeError: when the function is called and reads the value of a tensor that differs
            between examples, or assigns a variable. It is a TypeError.

    Example:
        >>> dot = gradtape.func.vmap(lambda a, b: tf.reduce_sum(a * b))
        >>> dot(tf.ones((3, 4)), tf.ones((3, 4))).numpy()
        array([4., 4., 4.], dtype=float32)
    """
    check_function("vmap", function)

    @functools.wraps(function, updated=())
    def call_on_batch(*args: Any, **kwargs: Any) -> Any:
        axes = spread_axes(in_axes, args, "in_axes")
        axes_of_keywords = [0] * len(nest.flatten(kwargs))
        leaves = nest.flatten((args, kwargs))
        result, stage = run_on_batch(function, (args, kwargs), leaves, axes + axes_of_keywords)
        return release_results(result, out_axes, stage)

    call_on_batch.__signature__ = getattr(function, "__signature__", None)  # type: ignore[attr-defined]
    if call_on_batch.__signature__ is None:  # type: ignore[attr-defined]
        del call_on_batch.__signature__  # type: ignore[attr-defined]
    return public(call_on_batch)


def spread_axes(axes: Any, values: Any, name: str) -> list[Any]:
    """One axis or None for each leaf of `values`; `axes` is a prefix of that structure.

    Raises:
        ValueError: if it is not a prefix.
    """
    if axes is None or type(axes) is int:
        return [axes] * len(nest.flatten(values))
    if isinstance(axes, list) and isinstance(values, tuple):
        axes = tuple(axes)
    same = type(axes) is type(values) and len(axes) == len(values)
    if same and isinstance(axes, dict):
        same = axes.keys() == values.keys()
    if not same or not isinstance(axes, (tuple, list, dict)):
        raise ValueError(
            f"vmap: {name} must be an integer, None, or a prefix of the structure. Received "
            f"{axes!r} for a structure of {type(values).__name__}."
        )
    pairs = (
        [(axes[key], values[key]) for key in sorted(values)]
        if isinstance(axes, dict)
        else zip(axes, values, strict=True)
    )
    return [axis for inner, value in pairs for axis in spread_axes(inner, value, name)]


def run_on_batch(
    function: Callable[..., Any], structure: Any, leaves: list[Any], axes: list[Any]
) -> tuple[Any, BatchStage]:
    """Call `function` on batch tensors; returns its result and the stage.

    Raises:
        ValueError: if no argument has a batch dimension, or their sizes differ.
    """
    batches = [
        None if axis is None else move_batch_first(convert(leaf), axis)
        for leaf, axis in zip(leaves, axes, strict=True)
    ]
    sizes = {batch._array.shape[0] for batch in batches if batch is not None}
    if len(sizes) != 1:
        raise ValueError(
            "vmap: all batched arguments must have the same number of examples, and there must be "
            f"at least one. Received sizes {sorted(sizes)}."
        )
    stage = BatchStage(sizes.pop())
    given = [
        leaf if batch is None else stage.hold(batch)
        for leaf, batch in zip(leaves, batches, strict=True)
    ]
    args, kwargs = nest.pack_sequence_as(structure, given)
    return stage.run(lambda: function(*args, **kwargs)), stage


def move_batch_first(tensor: Tensor, axis: int) -> Tensor:
    """Move the batch dimension to the front."""
    n = len(tensor._array.shape)
    if not -n <= axis < n:
        raise ValueError(
            f"vmap: in_axes must be an axis of the argument. Received {axis} for shape "
            f"{list(tensor._array.shape)}. Use None for an argument that all examples share."
        )
    at = axis % n
    if not at:
        return tensor
    order = [at, *range(at), *range(at + 1, n)]
    moved: Tensor = transpose(tensor, perm=tuple([k - n for k in order]))
    return moved


def move_batch_to(tensor: Tensor, axis: int) -> Tensor:
    """Move the batch dimension from the front to `axis`."""
    n = len(tensor._array.shape)
    if not -n <= axis < n:
        raise ValueError(
            f"vmap: out_axes must be an axis of the result. Received {axis} for shape "
            f"{list(tensor._array.shape)}."
        )
    at = axis % n
    if not at:
        return tensor
    order = [*range(1, at + 1), 0, *range(at + 1, n)]
    moved: Tensor = transpose(tensor, perm=tuple([k - n for k in order]))
    return moved


def release_results(result: Any, out_axes: Any, stage: BatchStage) -> Any:
    """The results with their batch dimension."""
    axes = spread_axes(out_axes, result, "out_axes")

    def release(leaf: Any, axis: Any) -> Any:
        if leaf is None:
            return None
        if isinstance(leaf, IndexedSlices):
            leaf = stage.run(convert, leaf)
        tensor = convert(leaf)
        if axis is None:
            if stage.owns(tensor):
                raise ValueError(
                    "vmap: a result whose out_axes is None must not depend on the example. Give "
                    "an axis."
                )
            return tensor
        return move_batch_to(stage.release(tensor), axis)

    leaves = nest.flatten(result)
    return nest.pack_sequence_as(
        result, [release(leaf, axis) for leaf, axis in zip(leaves, axes, strict=True)]
    )
