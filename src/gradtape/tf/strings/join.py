"""tf.strings functions that join strings: elementwise, along axes, by segment, and into n-grams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.argument import as_host_array, as_integer, as_sequence
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, OBJECT
from gradtape.core.shapes import normalize_axis
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, shape_of_argument
from gradtape.tf.strings.byte_string import as_separator, as_string_array, map_elements


def describe_join(inputs: Sequence[Any], *_: Any, **__: Any) -> Spec:
    """Result rule of `join`: scalars broadcast, all other shapes are equal."""
    shapes = [shape_of_argument(value) for value in as_sequence(inputs, "inputs")]
    return Spec((max(shapes, key=len, default=()), OBJECT))


@public
@call_on_host(describe_join)
def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Elementwise concatenation of strings; scalars are broadcast.

    Args:
        inputs: tensors of one shape, and scalars.
        separator: string between the joined strings.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Raises:
        InvalidArgumentError: if the shapes differ.

    Example:
        >>> tf.strings.join(["grad", "tape"]).numpy()
        b'gradtape'
    """
    joint = as_separator(separator, "separator")
    arrays = [as_string_array(value) for value in as_sequence(inputs, "inputs")]
    if not arrays:
        return convert("")
    shapes = {array.shape for array in arrays} - {()}
    if len(shapes) > 1:
        listed = " vs. ".join(str(list(shape)) for shape in sorted(shapes))
        raise InvalidArgumentError(f"join: Input shapes do not match: {listed}.")
    return map_elements(lambda *items: joint.join(items), *arrays)


def describe_reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, *_: Any, **__: Any
) -> Spec:
    """Result rule of `reduce_join`."""
    shape = shape_of_argument(inputs)
    rank = len(shape)
    chosen = range(rank) if axis is None else as_host_array(axis, "axis").reshape(-1).tolist()
    axes = {normalize_axis(one, rank, "reduce_join") % rank for one in chosen}
    if keepdims:
        return Spec((tuple([1 if i in axes else n for i, n in enumerate(shape)]), OBJECT))
    return Spec((tuple([n for i, n in enumerate(shape) if i not in axes]), OBJECT))


@public
@call_on_host(describe_reduce_join)
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Strings joined along `axis`; along all axes if None.

    Args:
        inputs: a tensor of strings.
        axis: an axis, or a list of axes, joined in that order.
        keepdims: whether to keep joined axes with size 1.
        separator: string between the joined strings.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Example:
        >>> tf.strings.reduce_join(["a", "b"], separator="-").numpy()
        b'a-b'
    """
    joint = as_separator(separator, "separator")
    array = as_string_array(inputs)
    chosen = range(array.ndim) if axis is None else as_host_array(axis, "axis").reshape(-1).tolist()
    axes = [normalize_axis(one, array.ndim, "reduce_join") % array.ndim for one in chosen]
    rest = [i for i in range(array.ndim) if i not in axes]
    flat = array.transpose(rest + axes).reshape(*(array.shape[i] for i in rest), -1)
    joined = np.empty(flat.shape[:-1], object)
    for position in np.ndindex(joined.shape):
        joined[position] = joint.join(flat[position])
    if keepdims:
        joined = joined.reshape([1 if i in axes else array.shape[i] for i in range(array.ndim)])
    return make_tensor(joined)


def describe_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, *_: Any, **__: Any
) -> Spec:
    """Result rule of `unsorted_segment_join`."""
    rest = shape_of_argument(inputs)[len(shape_of_argument(segment_ids)) :]
    is_known = not isinstance(num_segments, SymbolicTensor)
    count = as_integer(num_segments, "num_segments") if is_known else FRESH
    return Spec(((count, *rest), OBJECT))


@public
@call_on_host(describe_segment_join)
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Strings with the same segment id, joined.

    Args:
        inputs: a tensor of strings.
        segment_ids: integers below `num_segments`; their shape is a prefix of that of `inputs`.
        num_segments: the number of segments.
        separator: string between the joined strings.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Raises:
        InvalidArgumentError: if a segment id is too large, or the shapes do not match.

    Example:
        >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2).numpy()
        array([b'ac', b'b'], dtype=object)
    """
    joint = as_separator(separator, "separator")
    array, ids = as_string_array(inputs), np.asarray(convert(segment_ids)._array)
    count = as_integer(num_segments, "num_segments")
    rest = array.shape[ids.ndim :]
    if ids.shape != array.shape[: ids.ndim] or (ids.size and ids.max() >= count):
        raise InvalidArgumentError(
            f"unsorted_segment_join: segment_ids must be below {count}, and their shape a prefix "
            f"of {list(array.shape)}. Received shape {list(ids.shape)}."
        )
    rows = array.reshape(ids.size, *rest)
    out = np.empty((count, *rest), object)
    for segment in range(count):
        chosen = rows[ids.ravel() == segment]
        for place in np.ndindex(rest):
            out[(segment, *place)] = joint.join(chosen[(slice(None), *place)])
    return make_tensor(out)


def describe_ngrams(data: Any, *_: Any, **__: Any) -> Spec:
    """Result rule of `ngrams`."""
    return Spec(((*shape_of_argument(data)[:-1], FRESH), OBJECT))


@public
@call_on_host(describe_ngrams)
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Tensor:
    """N-grams: neighbours along the last axis, joined.

    Args:
        data: strings.
        ngram_width: the number of strings in an n-gram, or a list of such numbers.
        separator: string between the joined strings.
        pad_values: string to pad rows with at both ends, or a pair of strings; None for none.
        padding_width: the largest number of pad values at each end; by default the width minus 1.
        preserve_short_sequences: whether a row that is too short for every width is joined whole.
        name: has no effect here.

    Returns:
        A tensor or RaggedTensor of strings.

    Example:
        >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy()
        array([b'a b', b'b c'], dtype=object)
    """
    array = as_string_array(data)
    if not array.ndim:
        raise ValueError("ngrams: data must have rank >= 1. Received a scalar.")
    make_ngrams = make_ngram_function(
        ngram_width, separator, pad_values, padding_width, preserve_short_sequences
    )
    rows = [make_ngrams(list(row)) for row in array.reshape(-1, array.shape[-1])]
    out = np.empty((len(rows), len(rows[0]) if rows else 0), object)
    for i, row in enumerate(rows):
        out[i] = row
    return make_tensor(out.reshape(*array.shape[:-1], out.shape[-1]))


def make_ngram_function(
    ngram_width: Any, separator: str, pad_values: Any, padding_width: int | None, keep_short: bool
) -> Callable[[list[bytes]], list[bytes]]:
    """Make a function that returns the n-grams of a row."""
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    pads = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
    joint = as_separator(separator, "separator")

    def make_ngrams(row: list[bytes]) -> list[bytes]:
        found = []
        for width in widths:
            padded = row
            if pads is not None:
                most = width - 1 if padding_width is None else min(padding_width, width - 1)
                left, right = (as_string_array(pad)[()] for pad in pads)
                padded = [left] * most + row + [right] * most
            found += [joint.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if not found and row and keep_short:
            found = [joint.join(row)]
        return found

    return make_ngrams
