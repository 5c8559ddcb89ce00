"""tf.strings functions that join strings: elementwise, along axes, by segment, and into n-grams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host
from gradtape.tf.strings.byte_string import each, strings


@public
@on_host
def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Strings put together element by element; scalars go with every element.

    Args:
        inputs: tensors of one shape, and scalars.
        separator: what stands between them.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if the shapes differ.
    """
    arrays = [strings(value) for value in inputs]
    if not arrays:
        return convert("")
    shapes = {array.shape for array in arrays} - {()}
    if len(shapes) > 1:
        listed = " vs. ".join(str(list(shape)) for shape in sorted(shapes))
        raise InvalidArgumentError(f"join: Input shapes do not match: {listed}.")
    return each(lambda *items: separator.encode().join(items), *arrays)


@public
@on_host
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Strings along `axis` (all axes if None) put together.

    Args:
        inputs: a tensor of strings.
        axis: an axis, or a list of axes, joined in that order.
        keepdims: keep joined axes with size one.
        separator: what stands between them.
        name: accepted for TensorFlow's sake.
    """
    array = strings(inputs)
    chosen = range(array.ndim) if axis is None else np.ravel(axis).tolist()
    axes = [normalize_axis(one, array.ndim, "reduce_join") % array.ndim for one in chosen]
    rest = [i for i in range(array.ndim) if i not in axes]
    flat = array.transpose(rest + axes).reshape(*(array.shape[i] for i in rest), -1)
    joined = np.empty(flat.shape[:-1], object)
    for position in np.ndindex(joined.shape):
        joined[position] = separator.encode().join(flat[position])
    if keepdims:
        joined = joined.reshape([1 if i in axes else array.shape[i] for i in range(array.ndim)])
    return eager(joined)


@public
@on_host
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Strings that have the same number in `segment_ids` put together.

    Args:
        inputs: a tensor of strings.
        segment_ids: numbers below `num_segments`, of a shape that begins that of `inputs`.
        num_segments: how many segments there are.
        separator: what stands between them.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if a number is too large.
    """
    array, ids = strings(inputs), np.asarray(convert(segment_ids)._array)
    count = int(num_segments)
    rest = array.shape[ids.ndim :]
    if ids.shape != array.shape[: ids.ndim] or (ids.size and ids.max() >= count):
        raise InvalidArgumentError(
            f"unsorted_segment_join: segment_ids of shape {list(ids.shape)} must be below {count} "
            f"and begin the shape {list(array.shape)} of the inputs."
        )
    rows = array.reshape(ids.size, *rest)
    out = np.empty((count, *rest), object)
    for segment in range(count):
        chosen = rows[ids.ravel() == segment]
        for place in np.ndindex(rest):
            out[(segment, *place)] = separator.encode().join(chosen[(slice(None), *place)])
    return eager(out)


@public
@on_host
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Tensor:
    """Neighbours along the last axis put together.

    Args:
        data: strings.
        ngram_width: how many, or a list of such numbers.
        separator: what stands between them.
        pad_values: what stands in front and behind: a string, or a pair of them.
        padding_width: how often, at most; by default one less than the width.
        preserve_short_sequences: whether a row too short for every width gives one that is shorter.
        name: accepted for TensorFlow's sake.
    """
    array = strings(data)
    if not array.ndim:
        raise ValueError("ngrams: `data` must have at least one axis.")
    of_row = neighbours(ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
    rows = [of_row(list(row)) for row in array.reshape(-1, array.shape[-1])]
    out = np.empty((len(rows), len(rows[0]) if rows else 0), object)
    for i, row in enumerate(rows):
        out[i] = row
    return eager(out.reshape(*array.shape[:-1], out.shape[-1]))


def neighbours(
    ngram_width: Any, separator: str, pad_values: Any, padding_width: int | None, keep_short: bool
) -> Callable[[list[bytes]], list[bytes]]:
    """What `ngrams` makes of a row."""
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    pads = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
    joint = separator.encode()

    def of_row(row: list[bytes]) -> list[bytes]:
        found = []
        for width in widths:
            padded = row
            if pads is not None:
                most = width - 1 if padding_width is None else min(padding_width, width - 1)
                left, right = (strings(pad)[()] for pad in pads)
                padded = [left] * most + row + [right] * most
            found += [joint.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if not found and row and keep_short:
            found = [joint.join(row)]
        return found

    return of_row
