"""tf.debugging: assertions about ranks and shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import as_sequence, describe
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor


def prefix_message(message: str | None, text: str) -> str:
    """Prefix an error text with the caller's message."""
    return f"{message}.  {text}" if message else text


def as_rank(rank: Any) -> int:
    """Convert a rank, an int or an int32 scalar tensor, to an int."""
    tensor = convert(rank)
    if tensor.dtype is not dtypes.int32:
        raise TypeError(
            f"assert_rank: the rank must be of type tf.int32. Received {tensor.dtype!r}."
        )
    if tensor.ndim:
        raise ValueError(f"assert_rank: Rank must be a scalar. Received shape {tensor.shape}.")
    return int(tensor)


def shape_of_value(x: Any) -> TensorShape:
    """The static shape of a tensor, or of a sparse one."""
    return x.shape if isinstance(x, SparseTensor) else convert(x).shape


def rank_of_value(x: Any) -> int:
    """The number of axes of a tensor, or of a sparse one."""
    return len(x.shape) if isinstance(x, SparseTensor) else convert(x).ndim


def raise_unless_rank(x: Any, fits: bool, wanted: str, message: str | None) -> None:
    """Raise ValueError unless `fits`; `wanted` describes the required rank."""
    if not fits:
        shape = shape_of_value(x)
        raise ValueError(
            prefix_message(
                message,
                f"Tensor must have rank {wanted}.  Received rank {shape.rank}, shape {shape}",
            )
        )


@public
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise ValueError unless `x` has `rank` dimensions.

    Args:
        x: a tensor.
        rank: the number of axes.
        message: text in front of the error's message.
        name: has no effect here.

    Returns:
        None in eager mode.

    Example:
        >>> tf.debugging.assert_rank(tf.zeros([2, 3]), 2)
    """
    wanted = as_rank(rank)
    raise_unless_rank(x, rank_of_value(x) == wanted, str(wanted), message)


@public
def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise ValueError unless `x` has `rank` dimensions or more.

    Args:
        x: a tensor.
        rank: the least number of axes.
        message: text in front of the error's message.
        name: has no effect here.

    Returns:
        None in eager mode.
    """
    wanted = as_rank(rank)
    raise_unless_rank(x, rank_of_value(x) >= wanted, f"at least {wanted}", message)


@public
def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None
) -> None:
    """Raise ValueError unless the number of dimensions of `x` is one of `ranks`.

    Args:
        x: a tensor.
        ranks: the numbers of axes that are allowed.
        message: text in front of the error's message.
        name: has no effect here.

    Returns:
        None in eager mode.
    """
    wanted = tuple(as_rank(rank) for rank in as_sequence(ranks, "ranks"))
    raise_unless_rank(x, rank_of_value(x) in wanted, f"in {wanted}", message)


def as_shape_pairs(shapes: Any) -> list[tuple[Any, Any]]:
    """The pairs of a tensor and its shape."""
    if isinstance(shapes, dict):
        return list(shapes.items())
    pairs = as_sequence(shapes, "shapes")
    if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise TypeError(
            f"shapes must be pairs of a tensor and its shape. Received {describe(shapes)}."
        )
    return pairs


@public
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless tensors have the given shapes; axes with the same symbol must have equal sizes.

    Args:
        shapes: pairs of a tensor and its shape, or a dict of them. A shape is a sequence of
            sizes, symbols (strings) and None for any size; a leading "*" or `...` matches
            any number of axes.
        data: has no effect here.
        summarize: has no effect here.
        message: prefix of the error message.
        name: has no effect here.

    Returns:
        None in eager mode.

    Raises:
        ValueError: if a shape does not match.

    Example:
        >>> tf.debugging.assert_shapes([(tf.zeros((2, 3)), ("N", "D")), (tf.zeros((3,)), ("D",))])
    """
    sizes: dict[Any, tuple[int, str]] = {}
    for value, wanted in as_shape_pairs(shapes):
        tensor = value if isinstance(value, SparseTensor) else convert(value)
        shape: Any = (
            tuple(tensor.shape) if isinstance(tensor, SparseTensor) else tensor._array.shape
        )
        if wanted is None:
            continue
        shown = f"Tensor shape={tensor.shape} dtype={tensor.dtype.name}"
        for axis, symbol in pair_axes_with_symbols(tensor, wanted, shown, message):
            size = shape[axis]
            expected, source = resolve_symbol_size(symbol, size, f"{shown} dimension {axis}", sizes)
            if size != expected:
                raise ValueError(
                    prefix_message(
                        message,
                        f"Specified {source}.  {shown} dimension {axis} must have size "
                        f"{expected}.  Received size {size}, shape {tensor.shape}",
                    )
                )


def pair_axes_with_symbols(
    tensor: Tensor | SparseTensor, wanted: Any, shown: str, message: str | None
) -> list[tuple[int, Any]]:
    """Pair the axes of `tensor` with symbols; axes count from the end after a leading "*"."""
    if not hasattr(wanted, "__iter__"):
        raise ValueError(
            prefix_message(
                message, f"{shown}.  Specified shape must be an iterable.  Received {wanted!r}"
            )
        )
    symbols = list(wanted)
    opened = bool(symbols) and symbols[0] in ("*", ...)
    if opened:
        symbols = symbols[1:]
    if any(symbol in ("*", ...) for symbol in symbols):
        raise ValueError(
            prefix_message(
                message,
                f"{shown}.  Symbol `...` or `*` is only allowed as the first entry.  Received "
                f"{wanted!r}",
            )
        )
    count = len(symbols)
    # TensorFlow takes a scalar where a single axis is asked for, and one element for a scalar.
    rank = len(tensor.shape)
    ranks = (0, 1) if count == 1 and not opened else (count,)
    is_single = not count and not opened and tuple(tensor.shape) == (1,)
    if rank < count if opened else rank not in ranks and not is_single:
        raise_unless_rank(tensor, False, f"at least {count}" if opened else f"in {ranks}", message)
    axes = range(-count, 0) if opened else range(rank)
    return [
        (axis, symbol)
        for axis, symbol in zip(axes, symbols, strict=False)
        if symbol not in (None, ".")
    ]


def resolve_symbol_size(
    symbol: Any, size: int, place: str, sizes: dict[Any, tuple[int, str]]
) -> tuple[int, str]:
    """The size that a symbol stands for, and its source; a new symbol is bound to `size`."""
    try:
        return int(symbol), "explicitly"
    except (TypeError, ValueError):
        return sizes.setdefault(symbol, (size, f"by {place.lower()}"))
