"""Top-level functions that slice tensors; and `Tensor.__getitem__`."""

from __future__ import annotations

import builtins
from typing import Any

from gradtape.core.context import hand_watched_count
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, handle_error, public
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.ops import shape as s
from gradtape.ops.basic_indexing import find_boolean_mask, make_slice_key
from gradtape.tf.array.dynamic_index import apply_hidden_indices, is_traced, slice_block
from gradtape.tf.array.mask import boolean_mask

FULL_SLICES = (builtins.slice(None),) * 64


def getitem(tensor: Any, key: Any) -> Tensor:
    """`tensor[key]`: integers, slices, `...`, None, scalar tensors, or one boolean mask."""
    try:
        x = tensor if type(tensor) is EagerTensor else convert(tensor)
        if type(key) is int:
            shape = x._array.shape
            if shape and 0 <= key < shape[0]:
                return s.slice_(x, key=(key, *FULL_SLICES[: len(shape) - 1]), rank=len(shape))
        elif type(key) is not tuple:
            mask = find_boolean_mask(key)
            if mask is not None:
                return boolean_mask(x, mask)
        if hand_watched_count[0]:
            x, key = apply_hidden_indices(x, key)
        shape = x._array.shape
        return s.slice_(x, key=make_slice_key(key, shape), rank=len(shape))
    except Exception as error:
        try:
            return handle_error(error, getitem, (tensor, key), {})
        except Exception as final:
            hide_library_frames(final)
            raise


@public
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The block of `input_` that starts at `begin`, with `size`; -1 means up to the end.

    Args:
        input_: a tensor.
        begin: the first index along each axis.
        size: how many along each axis.
        name: has no effect here.

    Returns:
        A tensor of shape `size`.

    Example:
        >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, 2]).numpy()
        array([[2, 3],
               [5, 6]], dtype=int32)
    """
    x = convert(input_)
    have = x._array.shape
    sizes = to_shape_tuple(size)
    if is_traced(begin) and len(sizes) == len(have) == convert(begin)._array.size:
        return slice_block(x, convert(begin), sizes)
    starts = to_shape_tuple(begin)
    if len(starts) != len(have) or len(sizes) != len(have):
        raise InvalidArgumentError(
            f"slice: Expected begin and size arguments to be 1-D tensors of size {len(have)}, "
            f"but got {len(starts)} and {len(sizes)}."
        )
    key = []
    for k, (at, n, whole) in enumerate(zip(starts, sizes, have, strict=True)):
        if not 0 <= at <= whole:
            raise InvalidArgumentError(f"slice: Expected begin[{k}] in [0, {whole}], but got {at}.")
        n = whole - at if n == -1 else n
        if not 0 <= n <= whole - at:
            raise InvalidArgumentError(
                f"slice: Expected size[{k}] in [0, {whole - at}], but got {n}."
            )
        key.append(builtins.slice(at, at + n))
    return s.slice_(x, key=tuple(key), rank=len(have))


@public
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin:end:strides]`, axis by axis.

    Args:
        input_: a tensor.
        begin: the start of each axis.
        end: the end of each axis, not included.
        strides: the step of each axis; ones if None.
        begin_mask: bit k set: start axis k at its beginning.
        end_mask: bit k set: run axis k to its end.
        ellipsis_mask: bit k set: entry k stands for `...`.
        new_axis_mask: bit k set: entry k is a new axis.
        shrink_axis_mask: bit k set: entry k is the index `begin[k]`; its axis is removed.
        var: has no effect here.
        name: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.strided_slice([0, 1, 2, 3, 4, 5], [1], [6], [2]).numpy()
        array([1, 3, 5], dtype=int32)
    """
    starts, stops = to_shape_tuple(begin), to_shape_tuple(end)
    steps = (1,) * len(starts) if strides is None else to_shape_tuple(strides)
    if not len(starts) == len(stops) == len(steps):
        raise InvalidArgumentError(
            "strided_slice: begin, end and strides must have the same length. Received "
            f"{list(starts)}, {list(stops)} and {list(steps)}."
        )
    key: list[Any] = []
    for k, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << k
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            first = None if begin_mask & bit else start
            key.append(builtins.slice(first, None if end_mask & bit else stop, step))
    return getitem(convert(input_), tuple(key))
