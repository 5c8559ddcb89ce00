"""XLA's functions that packages call through TensorFlow's private modules."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.tf.api import math
from gradtape.tf.array import concat_split, scatter
from gradtape.tf.array import shape as array
from gradtape.tf.array.range import range as tf_range
from gradtape.tf.math.cast import cast


def dynamic_update_slice(operand: Any, update: Any, indices: Any) -> Any:
    """`operand` with `update` written at `indices`, which are clamped so that it fits."""
    whole, block = convert(operand), convert(update)
    sizes, extent = array.shape(whole), array.shape(block)
    start = math.minimum(cast(convert(indices), sizes.dtype), sizes - extent)
    start = math.maximum(start, array.shape(start) * 0)
    ranges = [tf_range(n) for n in block.shape]
    grid = concat_split.stack(concat_split.meshgrid(*ranges, indexing="ij"), axis=-1)
    return scatter.tensor_scatter_nd_update(whole, grid + start, block)
