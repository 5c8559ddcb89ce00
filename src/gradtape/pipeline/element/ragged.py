"""Ragged components of elements: slicing, stacking, and their specs.

The functions that slice whole elements are here too; they also handle sparse components.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import ragged_from_nested_splits
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor, is_ragged
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.element import sparse
from gradtape.pipeline.element.random_access import Rows
from gradtape.pipeline.element.structure import flatten_element, pack_element


def raw_row_splits(ragged: RaggedTensor) -> list[Any]:
    """The row splits as raw arrays, outermost first."""
    return [splits._array for splits in ragged.nested_row_splits]


def uniform_row_lengths(ragged: RaggedTensor) -> list[int | None]:
    """The uniform row length of each partitioned axis, or None."""
    return [partition._uniform for partition in ragged._nested_row_partitions]


def ragged_row(ragged: RaggedTensor, i: int) -> Any:
    """Row `i`: a tensor or a ragged tensor."""
    first, *inner = raw_row_splits(ragged)
    begin, end = first[i], first[i + 1]
    found = []
    for splits in inner:
        part = splits[begin : end + 1]
        begin, end = part[0], part[-1]
        found.append(make_tensor(part - begin))
    return ragged_from_nested_splits(
        make_tensor(ragged.flat_values._array[begin:end]), found, uniform_row_lengths(ragged)[1:]
    )


def gather_ragged_rows(ragged: RaggedTensor, part: Any) -> RaggedTensor:
    """The rows that `part`, a slice or row numbers, selects."""
    count = ragged.row_splits._array.shape[0] - 1
    picks = np.arange(count)[part]
    *splits, index = row_splits.take_rows(picks, *raw_row_splits(ragged))
    flat = make_tensor(ragged.flat_values._array[index])
    result: RaggedTensor = ragged_from_nested_splits(
        flat, [make_tensor(s) for s in splits], uniform_row_lengths(ragged)
    )
    return result


def stack_ragged(leaves: tuple[Any, ...], spec: RaggedTensorSpec) -> RaggedTensor:
    """Stack components, each of the spec `spec`, as the rows of a ragged tensor."""
    depths = {leaf.ragged_rank if isinstance(leaf, RaggedTensor) else 0 for leaf in leaves}
    if depths != {spec.ragged_rank}:
        raise InvalidArgumentError(
            f"batch: components must have {spec.ragged_rank} ragged axes. Received {depths}."
        )
    nests = [raw_row_splits(leaf) if spec.ragged_rank else [] for leaf in leaves]
    flats = [leaf.flat_values._array if spec.ragged_rank else leaf._array for leaf in leaves]
    lengths = [
        len(splits[0]) - 1 if splits else len(flat)
        for splits, flat in zip(nests, flats, strict=True)
    ]
    inner = [row_splits.concat_splits(*level) for level in zip(*nests, strict=True)]
    outer = np.array(lengths, spec.row_splits_dtype.as_numpy_dtype)
    splits = [make_tensor(one) for one in (row_splits.splits_from_lengths(outer), *inner)]
    has_rank = spec.shape.rank is not None
    sizes = spec.shape.as_list()[: len(splits)] if has_rank else [None] * len(splits)
    result: RaggedTensor = ragged_from_nested_splits(
        make_tensor(concat_flat_values(flats)), splits, sizes
    )
    return result


def concat_flat_values(flats: list[Any]) -> Any:
    """Concatenate flat values.

    Raises:
        InvalidArgumentError: if their inner shapes differ.
    """
    if len({flat.shape[1:] for flat in flats}) > 1:
        raise InvalidArgumentError(
            "batch: innermost axes must have the same sizes. Received "
            f"{sorted({flat.shape[1:] for flat in flats})}."
        )
    return np.concatenate(flats)


def count_ragged_axes(shape: TensorShape) -> int:
    """Number of ragged axes in a batch of tensors of `shape`: up to the last unknown axis."""
    sizes = shape.as_list()
    return max((i + 1 for i, n in enumerate(sizes) if n is None), default=0)


def stack_as_ragged(leaves: tuple[Any, ...], spec: RaggedTensorSpec) -> RaggedTensor:
    """Stack tensors of different sizes as the rows of a ragged tensor with the spec `spec`."""
    depth = spec.ragged_rank
    arrays = [leaf._array for leaf in leaves]
    kind = spec.row_splits_dtype.as_numpy_dtype
    splits = []
    for axis in range(depth):
        sizes = np.array([array.shape[axis] for array in arrays], kind)
        counts = [prod(array.shape[:axis]) for array in arrays]
        splits.append(make_tensor(row_splits.splits_from_lengths(np.repeat(sizes, counts))))
    flats = [a.reshape(prod(a.shape[:depth]), *a.shape[depth:]) for a in arrays]
    result: RaggedTensor = ragged_from_nested_splits(
        make_tensor(concat_flat_values(flats)), splits, spec.shape.as_list()[1 : depth + 1]
    )
    return result


def ragged_spec_of_batch(spec: Any, width: int | None, dtype: Any) -> Any:
    """The spec of a batch of `width` tensors of `spec`; unknown axes become ragged."""
    shape = TensorShape([width]).concatenate(spec.shape)
    depth = count_ragged_axes(spec.shape)
    if not depth:
        return TensorSpec(shape, spec.dtype)
    return RaggedTensorSpec(shape, spec.dtype, depth, dtype)


def batch_ragged_spec(spec: RaggedTensorSpec, width: int | None) -> RaggedTensorSpec:
    """The spec of a batch of `width` values of `spec`."""
    shape = TensorShape([width]).concatenate(spec.shape)
    return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)


def unbatch_spec(spec: Any) -> Any:
    """The spec of a slice along the first axis."""
    if isinstance(spec, SparseTensorSpec):
        return sparse.unbatch_sparse_spec(spec)
    if isinstance(spec, RaggedTensorSpec) and spec.ragged_rank:
        depth = spec.ragged_rank - 1
        return RaggedTensorSpec(spec.shape[1:], spec.dtype, depth, spec.row_splits_dtype)
    return TensorSpec(spec.shape[1:], spec.dtype)


class CompositeRows(Rows):
    """Rows of ragged, sparse and dense tensors: slices along the first axis."""

    def __init__(self, element: Any) -> None:
        """Use the slices of the components of `element`."""
        leaves = flatten_element(element)
        super().__init__(
            pack_element(element, iter([None if is_ragged_or_sparse(t) else t for t in leaves]))
        )
        self.ragged = {i: leaf for i, leaf in enumerate(leaves) if is_ragged(leaf)}
        self.sparse = {
            i: sparse.SparseSlices(leaf)
            for i, leaf in enumerate(leaves)
            if isinstance(leaf, SparseTensor)
        }

    def __getitem__(self, i: Any) -> Any:
        """The i-th element."""
        parts: list[Any] = [None if pick is None else make_tensor(pick(i)) for pick in self.pickers]
        for k, leaf in self.ragged.items():
            parts[k] = ragged_row(leaf, i)
        for k, slices in self.sparse.items():
            parts[k] = slices.slice_at(i)
        return self.pack(parts)

    def gather_batch(self, indices: list[Any]) -> Any:
        """A batch of elements."""
        parts: list[Any] = [
            None if raw is None else make_tensor(raw) for raw in self.gather_raw(indices)
        ]
        for k, leaf in self.ragged.items():
            parts[k] = gather_ragged_rows(leaf, np.array(indices))
        for k, slices in self.sparse.items():
            parts[k] = slices.gather_slices(indices)
        return self.pack(parts)


def is_ragged_or_sparse(leaf: Any) -> bool:
    """Whether a component is ragged or sparse."""
    return is_ragged(leaf) or isinstance(leaf, SparseTensor)


def make_rows(element: Any) -> Rows:
    """Make the rows of the components of `element`."""
    return (
        CompositeRows(element)
        if any(map(is_ragged_or_sparse, flatten_element(element)))
        else Rows(element)
    )


def first_axis_size(leaf: Any) -> int:
    """The size of the first axis of a component.

    Raises:
        ValueError: if it is a scalar.
    """
    if isinstance(leaf, RaggedTensor):
        return int(leaf.row_splits._array.shape[0]) - 1
    if isinstance(leaf, SparseTensor):
        return int(leaf.dense_shape._array[0])
    if not np.shape(leaf._array):
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return int(leaf._array.shape[0])


def has_ragged_rows(spec: Any) -> bool:
    """Whether some component is a tensor with the spec of a ragged tensor's row."""
    return any(isinstance(s, RaggedTensorSpec) and not s.ragged_rank for s in flatten_element(spec))
