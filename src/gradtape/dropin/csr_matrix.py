"""TensorFlow's private CSR matrix kernels that Keras calls, for products of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import make_tensor
from gradtape.graph.host_function import call_on_host, describe_sparse


def make_csr_matrix(
    indices: Any, values: Any, dense_shape: Any, name: str | None = None
) -> SparseTensor:
    """Make a sparse matrix, or a batch of them, from its parts."""
    return SparseTensor(indices, values, dense_shape)


def csr_to_sparse_tensor(
    sparse_matrix: SparseTensor, type: Any, name: str | None = None
) -> SparseTensor:
    """Convert a sparse matrix to a sparse tensor: it is one already."""
    return sparse_matrix


def multiply_csr_matrices(
    a: SparseTensor, b: SparseTensor, type: Any, **options: Any
) -> SparseTensor:
    """The batched product of sparse matrices; it has no gradient."""
    if any(options.values()):
        raise NotImplementedError(
            f"sparse_matrix_sparse_mat_mul: options are not supported. Received {options}."
        )
    return multiply_with_scipy(a, b)


@call_on_host(lambda a, b: describe_sparse([None] * a.shape.rank, a.dtype))
def multiply_with_scipy(a: Any, b: Any) -> Any:
    """Multiply sparse matrices with SciPy."""
    from scipy.sparse import coo_matrix

    parts = []
    for sparse in (a, b):
        sizes = np.asarray(sparse.dense_shape._array)
        indices = np.asarray(sparse.indices._array)
        if len(sizes) == 2:
            indices = np.concatenate([np.zeros_like(indices[:, :1]), indices], 1)
        parts.append((indices, np.asarray(sparse.values._array), sizes))
    (_, values, sizes), (_, _, others) = parts
    batches = int(sizes[0]) if len(sizes) == 3 else 1
    products = []
    for i in range(batches):
        factors = [
            coo_matrix((v[p[:, 0] == i], p[p[:, 0] == i, 1:].T), shape=tuple(n[-2:])).tocsr()
            for p, v, n in parts
        ]
        result = (factors[0] @ factors[1]).tocsr()
        result.sort_indices()
        coo = result.tocoo()
        products.append((np.full(coo.nnz, i), coo.row, coo.col, coo.data))
    batch, row, column, data = [np.concatenate(column) for column in zip(*products, strict=True)]
    rows = np.stack([batch, row, column][3 - len(sizes) :], 1).astype(np.int64)
    shape = np.array([*sizes[:-1], others[-1]], np.int64)
    return SparseTensor(
        make_tensor(rows), make_tensor(data.astype(values.dtype)), make_tensor(shape)
    )
