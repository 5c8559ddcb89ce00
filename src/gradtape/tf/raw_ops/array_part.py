"""Raw ops on arrays that have no public function of the same meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.tf.array.gather import gather
from gradtape.tf.array.mask import where
from gradtape.tf.array.repeat_roll import reverse
from gradtape.tf.array.reshape import (
    expand_dims,
    reshape,
)
from gradtape.tf.array.scatter import tensor_scatter_nd_add, tensor_scatter_nd_update
from gradtape.tf.array.sort_unique import sort
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import negative, realdiv, truncatediv
from gradtape.tf.public_op import convert_pair


def cast_to(x: Tensor, dtype: Any) -> Tensor:
    """`x` in the real dtype that an attribute of a raw op names."""
    return x if x.dtype is dtypes.as_dtype(dtype) else cast(x, dtype)


def divide_truncated(x: Any, y: Any) -> Tensor:
    """The quotient of floats; the truncated quotient of integers."""
    a, b = convert_pair(x, y)
    return truncatediv(a, b) if a.dtype.is_integer else realdiv(a, b)


def count_bits(x: Any) -> Tensor:
    """The number of bits that are one, for each integer."""
    result: Tensor = apply_raw(count_raw_bits, convert(x))
    return result


def count_raw_bits(x: Any) -> Any:
    """The number of one bits of raw integers, in two's complement."""
    unsigned = np.asarray(x).view(f"u{x.dtype.itemsize}")
    return np.bitwise_count(unsigned).astype(np.uint8)


def concat_offsets(concat_dim: Any, shape: Any) -> list[Tensor]:
    """Where each of several tensors begins in their concatenation, as shape vectors."""
    axis = as_integer(concat_dim, "concat_dim")
    shapes = [np.asarray(convert(one).numpy()) for one in shape]
    rank = len(shapes[0])
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"ConcatOffset: Concat dim is out of range: {axis} vs. {rank}.")
    start, found = 0, []
    for one in shapes:
        others = [np.delete(s, axis).tolist() for s in (one, shapes[0])]
        if len(one) != rank or others[0] != others[1]:
            raise InvalidArgumentError(
                "ConcatOffset: All dimensions except the concatenated one must match. Received "
                f"{one.tolist()} and {shapes[0].tolist()}."
            )
        offset = np.zeros_like(one)
        offset[axis] = start
        start += one[axis]
        found.append(convert(offset))
    return found


def as_text(value: Any) -> str:
    """An attribute of type string, which may be bytes."""
    return value.decode() if isinstance(value, bytes) else value


def map_dimensions(x: Any, src_format: Any, dst_format: Any) -> Tensor:
    """Axis numbers of one data format as axis numbers of another."""
    source, target = as_text(src_format), as_text(dst_format)
    table = np.array([target.index(letter) for letter in source], np.int32)
    numbers = convert(x)
    return gather(cast(convert(table), numbers.dtype), numbers % len(table))


def permute_vector(x: Any, src_format: Any, dst_format: Any) -> Tensor:
    """Sizes, or pairs of them, in the order of another data format."""
    vector = convert(x)
    source, target = as_text(src_format), as_text(dst_format)
    if vector._array.shape[0] == len(source) - 2:  # spatial sizes only
        source, target = (text.replace("N", "").replace("C", "") for text in (source, target))
    return gather(vector, [source.index(letter) for letter in target])


def as_row_numbers(i: Any) -> Tensor:
    """Row numbers as indices of a scatter."""
    return expand_dims(convert(i), -1)


def add_rows(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `v` added to the rows `i`."""
    return tensor_scatter_nd_add(x, as_row_numbers(i), v)


def subtract_rows(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `v` subtracted from the rows `i`."""
    return tensor_scatter_nd_add(x, as_row_numbers(i), negative(convert(v)))


def replace_rows(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with the rows `i` replaced by `v`."""
    return tensor_scatter_nd_update(x, as_row_numbers(i), v)


def list_difference(x: Any, y: Any, out_idx: Any) -> tuple[Tensor, Tensor]:
    """The elements of `x` that are not in `y`, and their positions."""
    a, b = convert_pair(x, y)
    where_kept = apply_raw(find_absent, a, b, dynamic=True)
    return gather(a, where_kept), cast(where_kept, out_idx)


def find_absent(x: Any, y: Any) -> Any:
    """The positions of raw elements of `x` that are not in `y`."""
    known = set(y.tolist())
    return np.array([i for i, value in enumerate(x.tolist()) if value not in known], np.int64)


def reverse_chosen(tensor: Any, dims: Any) -> Tensor:
    """Reverse the axes for which the vector `dims` is True."""
    return reverse(tensor, np.flatnonzero(convert(dims).numpy()))


def select(condition: Any, x: Any, y: Any) -> Tensor:
    """Elements, or whole rows if `condition` is a vector, of `x` or `y`."""
    mask, (a, b) = convert(condition), convert_pair(x, y)
    if mask._array.ndim == 1 and a._array.ndim > 1:
        mask = reshape(mask, [-1] + [1] * (a._array.ndim - 1))
    return where(mask, a, b)


def nth_element(input: Any, n: Any, is_reversed: bool) -> Tensor:
    """The `n`-th smallest element along the last axis, or the `n`-th largest."""
    x = convert(input)
    position = as_integer(n, "n")
    if not 0 <= position < x._array.shape[-1]:
        raise InvalidArgumentError(
            f"NthElement: n must be in [0, {x._array.shape[-1]}). Received {position}."
        )
    ordered = sort(x, direction="DESCENDING" if is_reversed else "ASCENDING")
    return ordered[..., position]
