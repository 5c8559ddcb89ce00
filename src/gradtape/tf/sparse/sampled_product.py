"""tf.sparse.sampled_addmm and tf.sparse.mask: chosen elements of a product, other slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.array.gather import gather
from gradtape.tf.linalg.matmul import matrix_transpose
from gradtape.tf.math.elementwise import add, multiply
from gradtape.tf.math.reduce import reduce_sum


@public
def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = dtypes.float32,
) -> tuple[Tensor, Tensor, Tensor]:
    """`alpha * (mat1 @ mat2) + beta * values` at some positions only.

    Args:
        indices: rows and columns, of shape (..., n, 2).
        values: of shape (..., n).
        dense_shape: the shape of the product.
        mat1: matrices of shape (..., rows, k).
        mat2: matrices of shape (..., k, columns).
        beta: the factor of `values`.
        alpha: the factor of the product.
        output_type: the dtype of the result.

    Returns:
        `indices`, the new values, and `dense_shape`, as tensors.

    Example:
        >>> eye = [[1.0, 0.0], [0.0, 1.0]]
        >>> _, values, _ = tf.sparse.sampled_addmm([[0, 0]], [5.0], [2, 2], eye, eye)
        >>> values.numpy()
        array([6.], dtype=float32)
    """
    places, shape = convert(indices), convert(dense_shape)
    dtype = dtypes.as_dtype(output_type)
    base, left, right = convert(values, dtype), convert(mat1, dtype), convert(mat2, dtype)
    batch = max(places._array.ndim - 2, 0)
    rows = gather(left, places[..., 0], axis=-2, batch_dims=batch)
    columns = gather(matrix_transpose(right), places[..., 1], axis=-2, batch_dims=batch)
    product = reduce_sum(multiply(rows, columns), axis=-1)
    scaled = multiply(convert(alpha, dtype), product)
    return places, add(scaled, multiply(convert(beta, dtype), base)), shape


@public
def mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """The slices of `a` whose indices are not in `mask_indices`.

    Args:
        a: an IndexedSlices.
        mask_indices: the indices of the slices to drop.
        name: has no effect here.

    Returns:
        IndexedSlices.
    """
    kept = apply_raw(find_unmasked, a.indices, convert(mask_indices), dynamic=True)
    return IndexedSlices(gather(a.values, kept), gather(a.indices, kept), a.dense_shape)


def find_unmasked(indices: Any, masked: Any) -> Any:
    """The positions of raw indices that are not masked."""
    return np.flatnonzero(~np.isin(indices, masked))
