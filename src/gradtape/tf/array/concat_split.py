"""Top-level functions that concatenate, stack and split tensors."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_sequence
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.dims import Dim
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.graph.branch_search import SearchTrace
from gradtape.ops import shape as s
from gradtape.ops.elementwise import identity as identity_of
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.tf.public_op import check_same_dtype, has_own_dtype


def to_common_dtype(values: Any, op: str) -> list[Tensor]:
    """Convert to tensors of one dtype; values without a dtype take that of the first typed one."""
    if isinstance(values, Tensor):
        return list(s.unstack(values, axis=-values.ndim))
    items = as_sequence(values, "values")
    if items and all(type(v) is EagerTensor for v in items):
        dtype = items[0]._array.dtype
        if all(v._array.dtype is dtype for v in items):
            return items
    first = next((convert(v) for v in items if has_own_dtype(v)), None)
    if first is None and items:
        whole = [convert(v) for v in items]
        kinds = {t.dtype for t in whole}
        if len(kinds) == 1:
            return whole
        first = next((t for t in whole if t.dtype.is_floating), whole[0])
    tensors = [
        convert(v) if has_own_dtype(v) else convert(v, None if first is None else first.dtype)
        for v in items
    ]
    for i, t in enumerate(tensors):
        check_same_dtype(op, tensors[0], t, i)
    return tensors


@public
def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Concatenation along `axis`; all other dimensions must agree.

    Args:
        values: a list of tensors of one rank and dtype.
        axis: the axis to concatenate along.
        name: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.concat([[1, 2], [3]], axis=0).numpy()
        array([1, 2, 3], dtype=int32)
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    tensors = to_common_dtype(values, "ConcatV2")
    if not tensors:
        raise InvalidArgumentError("concat: values must not be empty. Received an empty list.")
    at = axis if isinstance(axis, int) else int(convert(axis)._array)
    first = tensors[0]._array.shape
    if len(tensors) == 1:
        normalize_axis(at, max(len(first), 1), "concat")
        return identity_of(tensors[0])
    if not first:
        raise InvalidArgumentError(
            "concat: ConcatOp : Can't concatenate scalars (use tf.stack instead)."
        )
    at = normalize_axis(at, len(first), "concat")
    for i, t in enumerate(tensors):
        have = t._array.shape
        if len(have) != len(first):
            raise InvalidArgumentError(
                "concat: ConcatOp : Ranks of all input tensors should match: "
                f"shape[0] = {list(first)} vs. shape[{i}] = {list(have)}."
            )
        for k, (a, b) in enumerate(zip(first, have, strict=True)):
            if k != at + len(first) and a != b:
                raise InvalidArgumentError(
                    f"concat: ConcatOp : Dimension {k} in both shapes must be equal: "
                    f"shape[0] = {list(first)} vs. shape[{i}] = {list(have)}."
                )
    return s.concat(*tensors, axis=at)


@public
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape, stacked along a new `axis`.

    Args:
        values: a list of tensors of one shape and dtype.
        axis: the position of the new axis.
        name: has no effect here.

    Returns:
        A tensor of one rank more.

    Example:
        >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy()
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    tensors = to_common_dtype(values, "Pack")
    if not tensors:
        return make_tensor(np.zeros((0,), np.float32))
    return stack_tensors(tensors, axis)


def stack_tensors(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Stack tensors of one dtype, after a check of their shapes."""
    first = tensors[0]._array.shape
    for i, t in enumerate(tensors):
        if t._array.shape != first:
            raise InvalidArgumentError(
                f"stack: Shapes of all inputs must match: values[0].shape = {list(first)} != "
                f"values[{i}].shape = {list(t._array.shape)}."
            )
    n = len(first) + 1
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    return s.stack(*tensors, axis=axis - n if axis >= 0 else axis)


@public
def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """Slices of `value` along `axis`, each without that axis.

    Args:
        value: a tensor.
        num: the number of slices; inferred if None.
        axis: the axis to unstack.
        name: has no effect here.

    Returns:
        A list of tensors of one rank less.

    Raises:
        ValueError: in a function of a dataset, if the number is not known.

    Example:
        >>> [row.numpy().tolist() for row in tf.unstack([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
    """
    x = convert(value)
    n = x._array.ndim
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    size = x._array.shape[axis]
    if num is None and type(size) is Dim and isinstance(x._array.trace, SearchTrace):
        raise ValueError(
            f"unstack: Cannot infer argument `num` from shape {x.shape}. Pass `num`, or make "
            "batches of known size with drop_remainder=True."
        )
    if num is not None and num != size:
        raise InvalidArgumentError(
            f"unstack: Input shape axis {axis % n} must equal {num}, got shape "
            f"{list(x._array.shape)}."
        )
    return list(s.unstack(x, axis=axis - n if axis >= 0 else axis))


@public
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """Pieces of `value` along `axis`, of equal size or of the given sizes.

    Args:
        value: a tensor.
        num_or_size_splits: the number of pieces, or a list of their sizes, one of which may be -1.
        axis: the axis to split.
        num: the number of sizes, if these are given; only checked.
        name: has no effect here.

    Returns:
        A list of tensors.

    Example:
        >>> [part.numpy().tolist() for part in tf.split(tf.range(6), [1, 5])]
        [[0], [1, 2, 3, 4, 5]]
    """
    x = convert(value)
    n = x._array.ndim
    at = axis if isinstance(axis, int) else int(convert(axis)._array)
    if not -n <= at < n:
        raise InvalidArgumentError(
            f"split: -input rank(-{n}) <= split_dim < input rank ({n}), but got {at}."
        )
    at = at - n if at >= 0 else at
    size = x._array.shape[at]
    plain = type(num_or_size_splits) is int
    wanted = num_or_size_splits if plain else convert(num_or_size_splits, hint=dtypes.int32)._array
    if plain or wanted.ndim == 0:
        count = int(wanted)
        if count < 1 or size % count:
            raise InvalidArgumentError(
                "split: Number of ways to split should evenly divide the split dimension, "
                f"but got split_dim {at + n} (size = {size}) and num_split {count}."
            )
        sizes = (size // count,) * count
    else:
        sizes = tuple(int(k) for k in wanted)
        if num is not None and num != len(sizes):
            raise InvalidArgumentError(
                f"split: num must be the number of sizes, {len(sizes)}. Received {num}. "
                "Leave num out."
            )
        if sizes.count(-1) == 1:
            rest = size - sum(sizes) - 1
            sizes = tuple(rest if k == -1 else k for k in sizes)
        if sum(sizes) != size or any(k < 0 for k in sizes):
            raise InvalidArgumentError(
                "split: Determined shape must either match input shape along split_dim exactly, or "
                f"be less than the size of the input. Received sizes {list(sizes)} for size {size}."
            )
    return list(s.split(x, axis=at, sizes=sizes))


@public
def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """Coordinate grids of vectors.

    Args:
        *args: vectors.
        indexing: "xy" swaps the first two axes, as for images; "ij" keeps the order.
        name: has no effect here.

    Returns:
        A list of tensors, one for each vector.

    Example:
        >>> a, b = tf.meshgrid([1, 2, 3], [10, 20])
        >>> a.numpy().tolist()
        [[1, 2, 3], [1, 2, 3]]
        >>> b.numpy().tolist()
        [[10, 10, 10], [20, 20, 20]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij'. Received {indexing!r}.")
    tensors = [convert(a) for a in args]
    sizes = [t._array.size for t in tensors]
    order = list(builtins.range(len(sizes)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    whole = tuple(sizes[i] for i in order)
    grids = []
    for i, t in enumerate(tensors):
        own = tuple(sizes[i] if k == i else 1 for k in order)
        column = s.reshape(t, shape=own, rank=t._array.ndim)
        grids.append(stretch(column, shape=whole, rank=len(whole)))
    return grids


@public
def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Tensors of one shape, stacked along a new first axis, inside a `tf.function`.

    Args:
        values: a list of tensors.
        name: has no effect here.

    Returns:
        A tensor of one rank more.

    Raises:
        RuntimeError: outside of `tf.function`; use `tf.stack` there.
    """
    if not current_trace():
        raise RuntimeError(
            "tf.parallel_stack() is not compatible with eager execution. Use tf.stack()."
        )
    return stack(values)
