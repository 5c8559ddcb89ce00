"""Sparse components of elements: slicing, stacking, and their specs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import DataLossError, InvalidArgumentError
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.tensor import make_tensor


def make_sparse(indices: Any, values: Any, shape: Any) -> SparseTensor:
    """Make a sparse tensor from raw arrays."""
    return SparseTensor(
        make_tensor(indices), make_tensor(values), make_tensor(np.asarray(shape, np.int64))
    )


def raw_sparse_parts(sparse: SparseTensor) -> tuple[Any, Any, Any]:
    """Indices, values and dense shape as raw arrays."""
    return sparse.indices._array, sparse.values._array, sparse.dense_shape._array


class SparseSlices:
    """The slices of a sparse tensor along its first axis."""

    def __init__(self, sparse: SparseTensor) -> None:
        """Sort the entries by slice."""
        self.indices, self.values, self.shape = raw_sparse_parts(sparse)
        rows = self.indices[:, 0]
        self.order = np.argsort(rows, kind="stable")
        self.starts = np.searchsorted(rows[self.order], np.arange(self.shape[0] + 1))

    def entries_of(self, i: int) -> Any:
        """Positions of the entries of slice `i`."""
        return self.order[self.starts[i] : self.starts[i + 1]]

    def slice_at(self, i: int) -> SparseTensor:
        """Slice `i`."""
        picks = self.entries_of(i)
        return make_sparse(self.indices[picks, 1:], self.values[picks], self.shape[1:])

    def gather_slices(self, numbers: list[int]) -> SparseTensor:
        """The slices with these numbers, stacked."""
        return stack_sparse([self.slice_at(i) for i in numbers])


def stack_sparse(leaves: Any) -> SparseTensor:
    """Stack sparse components along a new first axis."""
    indices, values, shapes = zip(*map(raw_sparse_parts, leaves), strict=True)
    if len({shape.shape for shape in shapes}) > 1:
        raise InvalidArgumentError(
            "batch: sparse tensors must have the same rank. Received shapes "
            f"{[shape.tolist() for shape in shapes]}."
        )
    numbers = np.repeat(np.arange(len(indices)), [len(part) for part in indices])
    places = np.concatenate([numbers[:, None], np.concatenate(indices)], axis=1)
    return make_sparse(places, np.concatenate(values), [len(leaves), *np.maximum.reduce(shapes)])


def stack_dense_as_sparse(group: list[Any], shape: TensorShape) -> SparseTensor:
    """Stack dense elements to a sparse tensor with rows of `shape`, each element at the origin."""
    arrays = [np.asarray(element._array) for element in group]
    sizes = shape.as_list()
    for array in arrays:
        found = "[" + ",".join(map(str, array.shape)) + "]"
        if array.ndim != len(sizes):
            raise InvalidArgumentError(
                f"sparse_batch: Input element had shape ({found}) that is incompatible with the "
                f"row shape ({sizes})."
            )
        if any(m is not None and n > m for n, m in zip(array.shape, sizes, strict=True)):
            raise DataLossError(
                f"sparse_batch: Input element had shape ({found}) that is larger than the row "
                f"shape ({sizes})."
            )
    largest = np.max([array.shape for array in arrays], axis=0).reshape(-1).tolist()
    dense = [n if m is None else m for n, m in zip(largest, sizes, strict=True)]
    places = [np.indices(array.shape).reshape(array.ndim, -1) for array in arrays]
    numbers = np.repeat(np.arange(len(arrays)), [array.size for array in arrays])
    indices = np.concatenate([numbers[None], np.concatenate(places, axis=1)]).T
    values = np.concatenate([array.ravel() for array in arrays])
    return make_sparse(indices.astype(np.int64), values, [len(arrays), *dense])


def batch_sparse_spec(spec: SparseTensorSpec, width: int | None) -> SparseTensorSpec:
    """The spec of a batch of `width` values of `spec`."""
    return SparseTensorSpec(TensorShape([width]).concatenate(spec.shape), spec.dtype)


def unbatch_sparse_spec(spec: SparseTensorSpec) -> SparseTensorSpec:
    """The spec of a slice along the first axis."""
    return SparseTensorSpec(spec.shape[1:], spec.dtype)
