"""tf.nn.embedding_lookup: rows of a table."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops.reduce import reduce_sum
from gradtape.tf.array.concat_split import concat
from gradtape.tf.array.gather import gather


@public
def embedding_lookup(
    params: Any, ids: Any, max_norm: Any = None, name: str | None = None
) -> Tensor:
    """Rows of `params` for `ids`, scaled down to the norm `max_norm` if given.

    The gradient is IndexedSlices.

    Args:
        params: a table (rows, width), or a list of its parts.
        ids: integers.
        max_norm: the largest norm of a row, or None.
        name: has no effect here.

    Returns:
        A tensor (*ids.shape, width).

    Example:
        >>> table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> tf.nn.embedding_lookup(table, [1, 0]).numpy()
        array([[3., 4.],
               [1., 2.]], dtype=float32)
    """
    if isinstance(params, (list, tuple)):
        if not params:
            raise ValueError("embedding_lookup: params must not be empty. Received an empty list.")
        params = params[0] if len(params) == 1 else concat(params, 0)
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    inner = tuple(range(convert(ids)._array.ndim - rows._array.ndim, 0))
    square = reduce_sum(e.square(rows), axis=inner, keepdims=True)
    limit = convert(max_norm, rows.dtype)
    length = e.sqrt(square)
    return rows * limit / e.maximum(length, limit)
