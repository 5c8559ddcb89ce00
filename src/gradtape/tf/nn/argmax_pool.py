"""tf.nn.max_pool_with_argmax: the largest element of each window and its position."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import with_shape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import take
from gradtape.ops.reduce import lowest
from gradtape.tf.nn.dilation import window_elements
from gradtape.tf.nn.window_argument import (
    CHANNELS_FIRST,
    expand_to_spatial,
    from_channels_last,
    make_window,
    to_channels_last,
)
from gradtape.tf.public_op import REAL, check_dtype


class MaxPoolWithArgmax(NamedTuple):
    """Largest elements of windows, and their positions in the flat input."""

    output: Tensor
    argmax: Tensor


@public
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """Largest elements of windows, and their positions in the flat image or in the flat batch.

    Args:
        input: (batch, height, width, channels).
        ksize: size of the window: 1, 2 or 4 numbers.
        strides: 1, 2 or 4 numbers.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        output_dtype: the dtype of the positions, int32 or int64.
        include_batch_in_index: whether positions refer to the flat batch, not to each flat image.
        name: has no effect here.

    Returns:
        The largest elements, and their positions.
    """
    if data_format != "NHWC":
        raise ValueError(f"Attr 'data_format' of 'MaxPoolWithArgmax' is not NHWC: {data_format!r}.")
    x = check_dtype("MaxPoolWithArgmax", convert(input), REAL)
    if x._array.ndim != 4:
        raise InvalidArgumentError(
            f"max_pool_with_argmax: input must be 4-dimensional. Received {list(x._array.shape)}."
        )
    first = data_format in CHANNELS_FIRST
    x = to_channels_last(x, first)
    shape = x._array.shape
    window = make_window(
        "MaxPoolWithArgmax",
        shape[1:-1],
        expand_to_spatial(ksize, 2, first, "MaxPoolWithArgmax", "ksize"),
        expand_to_spatial(strides, 2, first, "MaxPoolWithArgmax", "strides"),
        (1, 1),
        padding,
        first,
    )
    places = np.arange(x._array.size).reshape(shape)
    covered = np.stack(
        [t._array for t in window_elements(make_tensor(places), window, -1)], axis=-1
    )
    found = apply_raw(find_largest_position, x, covered)
    out = take(s.reshape(x, shape=(x._array.size,), rank=4), found, axis=-1)
    size = 0 if include_batch_in_index or not shape[0] else max(x._array.size // shape[0], 1)
    dtype = dtypes.as_dtype(output_dtype).as_numpy_dtype
    return MaxPoolWithArgmax(
        from_channels_last(out, first), apply_raw(positions_in_image, found, size, dtype)
    )


@with_shape(lambda x, covered: Spec((covered.shape[:-1], covered.dtype)))
def find_largest_position(x: Any, covered: Any) -> Any:
    """Choose, along the last axis of raw positions, that of the largest element; -1 is padding."""
    flat = np.asarray(x).reshape(-1)
    values = flat[covered] if flat.size else covered
    best = np.argmax(np.where(covered < 0, lowest(flat.dtype), values), axis=-1)[..., None]
    return np.take_along_axis(covered, best, axis=-1)[..., 0]


@with_shape(lambda places, size, dtype: Spec((places.shape, np.dtype(dtype))))
def positions_in_image(places: Any, size: int, dtype: Any) -> Any:
    """Convert raw positions in the batch to positions in images of `size`, unless that is 0."""
    return (places % size if size else places).astype(dtype)
