"""Division of batches: the rows of a batch that each replica gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.pipeline.element.structure import flatten_element, map_element


def divide_rows(count: int, parts: int) -> list[int]:
    """Sizes of `parts` parts of `count` rows: equal ones, rounded up, as long as there are rows.

    As in TensorFlow, four rows for three replicas are 2, 2 and 0.
    """
    size = -(-count // parts)
    return [max(0, min(size, count - i * size)) for i in range(parts)]


def count_rows(element: Any) -> int:
    """The number of rows of a batch.

    Raises:
        ValueError: if the element is no batch, or its tensors differ in their numbers of rows.
    """
    counts = {row_count_of(leaf) for leaf in flatten_element(element) if leaf is not None}
    if len(counts) != 1 or None in counts:
        raise ValueError(
            "experimental_distribute_dataset: every tensor of an element must have the same number "
            f"of rows. Received {sorted(map(str, counts))}. Call `batch` before you distribute the "
            "dataset."
        )
    count: int = counts.pop()  # type: ignore[assignment]
    return count


def row_count_of(leaf: Any) -> int | None:
    """The number of rows of a tensor; None of a scalar."""
    if isinstance(leaf, RaggedTensor):
        return int(leaf.nrows())
    if isinstance(leaf, SparseTensor):
        return int(leaf.dense_shape._array[0])
    shape = leaf._array.shape
    return shape[0] if shape else None


def take_rows(leaf: Any, begin: int, end: int) -> Any:
    """Some consecutive rows of a tensor."""
    if isinstance(leaf, Tensor):
        return make_tensor(leaf._array[begin:end])
    if isinstance(leaf, SparseTensor):
        return take_sparse_rows(leaf, begin, end)
    return leaf if leaf is None else leaf[begin:end]


def take_sparse_rows(leaf: SparseTensor, begin: int, end: int) -> SparseTensor:
    """Some consecutive rows of a sparse tensor."""
    indices, values = np.asarray(leaf.indices._array), leaf.values._array
    kept = (indices[:, 0] >= begin) & (indices[:, 0] < end)
    shape = np.array(leaf.dense_shape._array)
    shape[0] = end - begin
    moved = indices[kept] - np.array([begin] + [0] * (indices.shape[1] - 1))
    return SparseTensor(make_tensor(moved), make_tensor(values[kept]), make_tensor(shape))


def divide_batch(element: Any, parts: int) -> list[Any]:
    """A batch as `parts` smaller batches, some of which may be empty."""
    ends = list(accumulate(divide_rows(count_rows(element), parts)))
    begins = [0, *ends[:-1]]
    return [
        map_element(lambda leaf, b=begin, e=end: take_rows(leaf, b, e), element)
        for begin, end in zip(begins, ends, strict=True)
    ]


def cut_batches(elements: Iterator[Any], parts: int, replicas: range) -> Iterator[Any]:
    """The batches of some replicas from a stream of batches that only they use.

    The first batch has the size for all `parts` replicas. As in TensorFlow, each replica then has a
    fixed number of rows, so that the last batches may be smaller or missing.
    """
    sizes: list[int] = []
    turn = 0
    for element in elements:
        rows = count_rows(element)
        if not sizes:
            sizes = [max(1, rows // parts + (i < rows % parts)) for i in replicas]
        begin = 0
        while begin < rows:
            end = min(rows, begin + sizes[turn])
            yield map_element(lambda leaf, b=begin, e=end: take_rows(leaf, b, e), element)
            begin, turn = end, (turn + 1) % len(sizes)


def divide_batch_spec(spec: Any, parts: int) -> Any:
    """The spec of the parts of a batch."""

    def divide(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            return leaf if not hasattr(leaf, "_shape") else open_first_size(leaf)
        sizes = leaf.shape.as_list() if leaf.shape.rank is not None else None
        if sizes is None:
            return leaf
        if not sizes:
            raise ValueError(
                "experimental_distribute_dataset: elements must be batches. Received "
                f"{leaf!r}. Call `batch` before you distribute the dataset."
            )
        is_even = sizes[0] is not None and sizes[0] % parts == 0
        first = sizes[0] // parts if is_even else None
        return TensorSpec([first, *sizes[1:]], leaf.dtype)

    return map_element(divide, spec)


def open_first_size(spec: Any) -> Any:
    """The spec of a composite tensor with an unknown number of rows."""
    pieces = list(spec._serialize())
    shape = TensorShape(pieces[0])
    if shape.rank:
        pieces[0] = TensorShape([None, *shape.as_list()[1:]])
    return type(spec)._deserialize(tuple(pieces))


def group_elements(
    elements: Iterator[Any], count: int, spec: Any, fills: bool
) -> Iterator[Sequence[Any]]:
    """Lists of `count` consecutive elements, one for each replica.

    If elements are missing at the end, empty batches take their place, if `fills`; otherwise the
    last elements are dropped.
    """
    pending: list[Any] = []
    for element in elements:
        pending.append(element)
        if len(pending) == count:
            yield pending
            pending = []
    if pending and fills:
        empty = map_element(make_empty_component, pending[0], spec)
        yield pending + [empty] * (count - len(pending))


def make_empty_component(leaf: Any, spec: Any) -> Any:
    """What a replica without data gets: no rows, or zeros if all elements have one shape."""
    if isinstance(spec, TensorSpec) and spec.shape.is_fully_defined():
        return make_tensor(np.zeros_like(leaf._array))
    return take_rows(leaf, 0, 0)


def has_static_shape(spec: Any) -> bool:
    """Whether all elements have the same, known shape."""
    return all(
        isinstance(leaf, TensorSpec) and leaf.shape.is_fully_defined()
        for leaf in flatten_element(spec)
        if hasattr(leaf, "dtype")
    )
