"""Ragged components of elements: rows taken out of them, put together, and what describes them.

So that slices can be taken of any element, sparse components are met here, too.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor, is_ragged, nested
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import eager
from gradtape.pipeline.element import sparse
from gradtape.pipeline.element.random_access import Rows
from gradtape.pipeline.element.structure import flatten, packed


def splits_in(ragged: RaggedTensor) -> list[Any]:
    """The splits as raw arrays, from the outside in."""
    return [splits._array for splits in ragged.nested_row_splits]


def sizes_in(ragged: RaggedTensor) -> list[int | None]:
    """The sizes of axes that are given by splits and have one."""
    return [partition._uniform for partition in ragged._nested_row_partitions]


def row(ragged: RaggedTensor, i: int) -> Any:
    """One row: a tensor, or rows again."""
    first, *inner = splits_in(ragged)
    begin, end = first[i], first[i + 1]
    found = []
    for splits in inner:
        part = splits[begin : end + 1]
        begin, end = part[0], part[-1]
        found.append(eager(part - begin))
    return nested(eager(ragged.flat_values._array[begin:end]), found, sizes_in(ragged)[1:])


def rows_at(ragged: RaggedTensor, part: Any) -> RaggedTensor:
    """The rows of a slice, or with these numbers."""
    count = ragged.row_splits._array.shape[0] - 1
    picks = np.arange(count)[part]
    *splits, index = row_splits.taken(picks, *splits_in(ragged))
    flat = eager(ragged.flat_values._array[index])
    result: RaggedTensor = nested(flat, [eager(s) for s in splits], sizes_in(ragged))
    return result


def stacked(leaves: tuple[Any, ...], spec: RaggedTensorSpec) -> RaggedTensor:
    """Components of the elements of a batch as the rows of one; `spec` describes each of them."""
    depths = {leaf.ragged_rank if isinstance(leaf, RaggedTensor) else 0 for leaf in leaves}
    if depths != {spec.ragged_rank}:
        raise InvalidArgumentError(
            f"batch: components must have {spec.ragged_rank} ragged axes. Received {depths}."
        )
    nests = [splits_in(leaf) if spec.ragged_rank else [] for leaf in leaves]
    flats = [leaf.flat_values._array if spec.ragged_rank else leaf._array for leaf in leaves]
    lengths = [
        len(splits[0]) - 1 if splits else len(flat)
        for splits, flat in zip(nests, flats, strict=True)
    ]
    inner = [row_splits.joined(*level) for level in zip(*nests, strict=True)]
    outer = np.array(lengths, spec.row_splits_dtype.as_numpy_dtype)
    splits = [eager(one) for one in (row_splits.splits_of_lengths(outer), *inner)]
    known = spec.shape.rank is not None
    sizes = spec.shape.as_list()[: len(splits)] if known else [None] * len(splits)
    result: RaggedTensor = nested(eager(joint(flats)), splits, sizes)
    return result


def joint(flats: list[Any]) -> Any:
    """Raw arrays one after another."""
    if len({flat.shape[1:] for flat in flats}) > 1:
        raise InvalidArgumentError(
            "batch: innermost axes must have the same sizes. Received "
            f"{sorted({flat.shape[1:] for flat in flats})}."
        )
    return np.concatenate(flats)


def ragged_axes(shape: TensorShape) -> int:
    """How many axes of a batch of tensors of this shape are ragged: up to the last unknown one."""
    sizes = shape.as_list()
    return max((i + 1 for i, n in enumerate(sizes) if n is None), default=0)


def stacked_raggedly(leaves: tuple[Any, ...], spec: RaggedTensorSpec) -> RaggedTensor:
    """Tensors of different sizes as the rows of one; `spec` describes the batch."""
    depth = spec.ragged_rank
    arrays = [leaf._array for leaf in leaves]
    kind = spec.row_splits_dtype.as_numpy_dtype
    splits = []
    for axis in range(depth):
        sizes = np.array([array.shape[axis] for array in arrays], kind)
        counts = [prod(array.shape[:axis]) for array in arrays]
        splits.append(eager(row_splits.splits_of_lengths(np.repeat(sizes, counts))))
    flats = [a.reshape(prod(a.shape[:depth]), *a.shape[depth:]) for a in arrays]
    result: RaggedTensor = nested(eager(joint(flats)), splits, spec.shape.as_list()[1 : depth + 1])
    return result


def ragged_batched(spec: Any, width: int | None, dtype: Any) -> Any:
    """The spec of a batch of `width` tensors of `spec`, ragged where their sizes are unknown."""
    shape = TensorShape([width]).concatenate(spec.shape)
    depth = ragged_axes(spec.shape)
    if not depth:
        return TensorSpec(shape, spec.dtype)
    return RaggedTensorSpec(shape, spec.dtype, depth, dtype)


def batched(spec: RaggedTensorSpec, width: int | None) -> RaggedTensorSpec:
    """The spec of a batch of `width` values of `spec`."""
    shape = TensorShape([width]).concatenate(spec.shape)
    return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)


def unbatched(spec: Any) -> Any:
    """The spec of slices along the first axis."""
    if isinstance(spec, SparseTensorSpec):
        return sparse.unbatched(spec)
    if isinstance(spec, RaggedTensorSpec) and spec.ragged_rank:
        depth = spec.ragged_rank - 1
        return RaggedTensorSpec(spec.shape[1:], spec.dtype, depth, spec.row_splits_dtype)
    return TensorSpec(spec.shape[1:], spec.dtype)


class CompositeRows(Rows):
    """Ragged, sparse and plain tensors whose slices along the first axis are the elements."""

    def __init__(self, element: Any) -> None:
        """The slices of the components of `element`."""
        leaves = flatten(element)
        super().__init__(packed(element, iter([None if is_composite(t) else t for t in leaves])))
        self.ragged = {i: leaf for i, leaf in enumerate(leaves) if is_ragged(leaf)}
        self.sparse = {
            i: sparse.SparseSlices(leaf)
            for i, leaf in enumerate(leaves)
            if isinstance(leaf, SparseTensor)
        }

    def __getitem__(self, i: Any) -> Any:
        """The i-th element."""
        parts: list[Any] = [None if pick is None else eager(pick(i)) for pick in self.pick]
        for k, leaf in self.ragged.items():
            parts[k] = row(leaf, i)
        for k, slices in self.sparse.items():
            parts[k] = slices.row(i)
        return self.pack(parts)

    def batch(self, indices: list[Any]) -> Any:
        """A batch of elements."""
        parts: list[Any] = [None if raw is None else eager(raw) for raw in self.raws(indices)]
        for k, leaf in self.ragged.items():
            parts[k] = rows_at(leaf, np.array(indices))
        for k, slices in self.sparse.items():
            parts[k] = slices.at(indices)
        return self.pack(parts)


def is_composite(leaf: Any) -> bool:
    """Whether a component is ragged or sparse."""
    return is_ragged(leaf) or isinstance(leaf, SparseTensor)


def rows_in(element: Any) -> Rows:
    """The slices of the components of `element`."""
    return CompositeRows(element) if any(map(is_composite, flatten(element))) else Rows(element)


def size_of(leaf: Any) -> int:
    """The size of the first axis of a component.

    Raises:
        ValueError: if it has none.
    """
    if isinstance(leaf, RaggedTensor):
        return int(leaf.row_splits._array.shape[0]) - 1
    if isinstance(leaf, SparseTensor):
        return int(leaf.dense_shape._array[0])
    if not np.shape(leaf._array):
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return int(leaf._array.shape[0])


def has_rows(spec: Any) -> bool:
    """Whether some component is described as a row of a ragged tensor, though it is a tensor."""
    return any(isinstance(s, RaggedTensorSpec) and not s.ragged_rank for s in flatten(spec))


def stand_in(spec: RaggedTensorSpec, size: int, number: int) -> Any:
    """A value of this spec, with `size` for what is unknown and `number` for all elements."""
    if spec.shape.rank is None:
        raise NotImplementedError(
            "element_spec: a function of ragged tensors of unknown rank is not looked into."
        )
    sizes = [size if n is None else n for n in spec.shape.as_list()]
    kind = spec.row_splits_dtype.as_numpy_dtype
    splits = []
    for axis in range(1, spec.ragged_rank + 1):
        splits.append(eager(np.arange(prod(sizes[:axis]) + 1, dtype=kind) * sizes[axis]))
    cut = spec.ragged_rank + 1
    shape = (prod(sizes[:cut]), *sizes[cut:])
    blank: Any = b"" if spec.dtype.name == "string" else number
    flat = eager(np.full(shape, blank, spec.dtype.as_numpy_dtype))
    return nested(flat, splits, spec.shape.as_list()[1:cut])
