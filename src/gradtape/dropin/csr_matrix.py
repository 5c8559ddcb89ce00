"""Products of sparse matrices, by the names of TensorFlow's private kernels: Keras calls them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import eager
from gradtape.graph.side_effect import on_host


def to_matrix(indices: Any, values: Any, dense_shape: Any, name: str | None = None) -> SparseTensor:
    """A sparse matrix, or a batch of them."""
    return SparseTensor(indices, values, dense_shape)


def to_tensor(sparse_matrix: SparseTensor, type: Any, name: str | None = None) -> SparseTensor:
    """A sparse matrix as a sparse tensor."""
    return sparse_matrix


def multiply(a: SparseTensor, b: SparseTensor, type: Any, **options: Any) -> SparseTensor:
    """The product of sparse matrices, batch by batch; it has no gradient."""
    if any(options.values()):
        raise NotImplementedError(f"sparse_matrix_sparse_mat_mul: {options} is not there.")
    return product(a, b)


@on_host
def product(a: Any, b: Any) -> Any:
    """The product of sparse matrices."""
    from scipy.sparse import coo_matrix

    parts = []
    for sparse in (a, b):
        sizes = np.asarray(sparse.dense_shape._array)
        places = np.asarray(sparse.indices._array)
        if len(sizes) == 2:
            places = np.concatenate([np.zeros_like(places[:, :1]), places], 1)
        parts.append((places, np.asarray(sparse.values._array), sizes))
    (_, values, sizes), (_, _, others) = parts
    batches = int(sizes[0]) if len(sizes) == 3 else 1
    found = []
    for i in range(batches):
        factors = [
            coo_matrix((v[p[:, 0] == i], p[p[:, 0] == i, 1:].T), shape=tuple(n[-2:])).tocsr()
            for p, v, n in parts
        ]
        result = (factors[0] @ factors[1]).tocsr()
        result.sort_indices()
        made = result.tocoo()
        found.append((np.full(made.nnz, i), made.row, made.col, made.data))
    batch, row, column, data = [np.concatenate(column) for column in zip(*found, strict=True)]
    rows = np.stack([batch, row, column][3 - len(sizes) :], 1).astype(np.int64)
    shape = np.array([*sizes[:-1], others[-1]], np.int64)
    return SparseTensor(eager(rows), eager(data.astype(values.dtype)), eager(shape))
