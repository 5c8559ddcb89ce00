"""`pad`: elements added around a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import check_text
from gradtape.core.convert import convert, read_symbolic_sizes
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.lazy_array import TracedArray
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, INT64, with_shape
from gradtape.core.size_constant import apply_open, compute_constant
from gradtape.core.symbolic_tensor import make_symbolic
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s
from gradtape.ops.elementwise import select, stop_gradient
from gradtape.ops.gather_scatter import take
from gradtape.tf.array.dynamic_index import is_traced


@public
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:
    """`tensor` with elements added before and after it along each axis.

    Args:
        tensor: the tensor to pad.
        paddings: for each axis the number of elements to add before and after.
        mode: "CONSTANT", "REFLECT" (mirror without the edge) or "SYMMETRIC" (mirror with it);
            upper or lower case.
        constant_values: the value to add in mode "CONSTANT".
        name: has no effect here.

    Returns:
        A larger tensor.

    Raises:
        ValueError: if `mode` is none of the three.
        InvalidArgumentError: if `paddings` do not fit.

    Example:
        >>> tf.pad([[1, 2]], [[1, 0], [0, 2]]).numpy()
        array([[0, 0, 0, 0],
               [1, 2, 0, 0]], dtype=int32)
    """
    x = convert(tensor)
    have = x._array.shape
    widths = convert(paddings, hint=dtypes.int32)._array
    check_text(mode, "mode")
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"pad: mode must be CONSTANT, REFLECT or SYMMETRIC. Received {mode!r}.")
    if widths.shape != (len(have), 2):
        raise InvalidArgumentError(
            "pad: The first dimension of paddings must be the rank of inputs "
            f"{list(widths.shape)} {list(have)}."
        )
    pairs = read_pairs(widths)
    if any(low < 0 or high < 0 for low, high in pairs):
        raise InvalidArgumentError(
            f"pad: Paddings must be non-negative. Received {[list(pair) for pair in pairs]}."
        )
    if kind == "CONSTANT":
        if type(constant_values) is int and constant_values == 0:
            return apply_open(s.pad, x, paddings=pairs, value=zero_of(x))
        return pad_with_scalar(x, pairs, convert(constant_values, x.dtype))
    return pad_with_mirror(x, pairs, edge=kind == "SYMMETRIC")


def read_pairs(widths: Any) -> tuple[tuple[int, int], ...]:
    """The pairs of a raw array of integers; in a trace they may be unknown sizes."""
    flat: Any = None
    if type(widths) is TracedArray:
        flat = widths.dims
        if flat is None:
            row = s.reshape(make_symbolic(widths), shape=(2 * len(widths),), rank=2)
            flat = read_symbolic_sizes(row._array)
    if flat is None:
        return tuple([(int(low), int(high)) for low, high in widths])
    sizes = list(flat if isinstance(flat, tuple) else flat.flat)
    return tuple(zip(sizes[::2], sizes[1::2], strict=True))


def pad_with_scalar(x: Tensor, pairs: tuple[tuple[int, int], ...], value: Tensor) -> Any:
    """Pad `x` with a scalar, which may be a tensor of a trace."""
    if not is_traced(value):
        return apply_open(s.pad, x, paddings=pairs, value=value._array)
    out = apply_open(s.pad, x, paddings=pairs, value=zero_of(x))
    own = x._array.shape[x._array.ndim - len(pairs) :]
    added = compute_constant(mask_padding, own, pairs)
    return select(convert(added), stop_gradient(value), out)


@with_shape(lambda sizes, pairs: Spec((sum_with_padding(sizes, pairs), BOOL)))
def mask_padding(sizes: tuple[int, ...], pairs: tuple[tuple[int, int], ...]) -> Any:
    """Mask of the padding around an array of these sizes."""
    return np.pad(np.zeros(sizes, bool), pairs, constant_values=True)


def sum_with_padding(sizes: tuple[int, ...], pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """The sizes with padding."""
    return tuple(low + n + high for (low, high), n in zip(pairs, sizes, strict=True))


def zero_of(x: Tensor) -> Any:
    """Zero of the dtype of `x`: a number, False or an empty string."""
    return b"" if x.dtype is dtypes.string else x._array.dtype.type(0)


def pad_with_mirror(x: Tensor, pairs: tuple[tuple[int, int], ...], edge: bool) -> Any:
    """Pad `x` with its mirror image, with or without the edge itself."""
    n = len(pairs)
    for i, (low, high) in enumerate(pairs):
        size = x._array.shape[i]
        if max(low, high) > (size if edge else size - 1) and (low or high):
            raise InvalidArgumentError(
                f"pad: paddings must be {'no greater' if edge else 'less'} than the dimension "
                f"size: {low}, {high} {'greater' if edge else 'not less'} than {size}."
            )
        if low or high:
            x = take(x, compute_constant(mirror_positions, size, low, high, edge), axis=i - n)
    return x


@with_shape(lambda size, low, high, edge: Spec(((low + size + high,), INT64)))
def mirror_positions(size: int, low: int, high: int, edge: bool) -> Any:
    """Positions along an axis of this size, padded with their mirror image."""
    return np.pad(np.arange(size), (low, high), mode="symmetric" if edge else "reflect")
