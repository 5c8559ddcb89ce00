"""Batches: stacking, padding, unbatching and rebatching of elements."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ragged.row_partition import as_splits_dtype
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import eager
from gradtape.pipeline.base import UNKNOWN, Base, whole
from gradtape.pipeline.element import ragged, sparse
from gradtape.pipeline.element.element import END, Steps, batched, stacked_as, stacker
from gradtape.pipeline.element.random_access import Rows
from gradtape.pipeline.element.structure import flatten, mapped, packed
from gradtape.pipeline.transformation.padding import (
    padded,
    padded_shapes_of,
    padding_of,
    shape_of,
)

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset


def positive(op: str, size: Any) -> int:
    """The batch size as a Python integer.

    Raises:
        InvalidArgumentError: if it is not positive.
    """
    n = whole(size)
    if n < 1:
        raise InvalidArgumentError(f"{op}: Batch size must be greater than zero. Received {n}.")
    return n


def grouped(
    items: Iterator[Any], size: int, drop: bool, make: Any, fused: bool = False
) -> Iterator[Any]:
    """Yield `make` of `size` items at a time; if `fused`, a failing item drops its whole batch."""

    def step() -> Any:
        group: list[Any] = []
        try:
            group.extend(islice(items, size))
        except Exception:
            for _ in range(len(group) + 1, size if fused else 0):
                with contextlib.suppress(Exception):
                    next(items)
            raise
        if not group or (drop and len(group) < size):
            raise StopIteration
        return make(group)

    return Steps(step)


def gathered(
    indices: Iterator[Any], size: int, drop: bool, rows: Rows, make: Any, fused: bool
) -> Iterator[Any]:
    """Yield batches of rows, gathered at once; after an error, retry element by element."""
    rest: list[Any] = []  # indices after an element that failed

    def step() -> Any:
        nonlocal rest
        group, rest = [*rest, *islice(indices, size - len(rest))], []
        if not group or (drop and len(group) < size):
            raise StopIteration
        try:
            return rows.batch(group)
        except Exception:
            if rows.at_hand:
                raise
        elements = []
        for at, index in enumerate(group, 1):
            rest = [] if fused else group[at:]
            elements.append(rows[index])
        return make(elements)

    return Steps(step)


def number_of_batches(n: int, size: int, drop: bool) -> int:
    """Number of batches of `n` elements; `n` may be unknown or infinite."""
    return n if n < 0 else n // size if drop else -(-n // size)


class Batches(Base):
    """Methods of a dataset that make and split batches."""

    @public
    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Stacked elements, `batch_size` at a time; the last batch may be smaller.

        Raises:
            InvalidArgumentError: if the size is not positive, or elements differ in shape.
        """
        size, drop = positive("batch", batch_size), bool(drop_remainder)
        width = size if drop else None
        fused = self._label in (
            "_MapDataset",
            "_ParallelMapDataset",
        )  # as TensorFlow fuses map and batch
        dataset = self._with(
            lambda items: grouped(items, size, drop, stacker(self), fused),
            lambda: mapped(lambda s: batched(s, width), self.element_spec),
            number_of_batches(self._size, size, drop),
        )
        stack = dataset._start

        def start() -> Iterator[Any]:
            found = self._rows()
            if found is None:
                return stack()
            rows, indices = found
            return gathered(indices(), size, drop, rows, stacker(self), fused)

        dataset._start, dataset._quiet, dataset._ragged = start, self._quiet, False
        return dataset._as(
            "_BatchDataset" if num_parallel_calls is None else "_ParallelBatchDataset"
        )

    @public
    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Elements padded to a common shape and stacked.

        Args:
            batch_size: number of elements of a batch.
            padded_shapes: structure of shapes; None for a dimension, or for all shapes, pads to
                the largest size in the batch.
            padding_values: a structure of values, or one value for all; zeros if None.
            drop_remainder: whether to drop a smaller last batch.
            name: ignored.

        Returns:
            A dataset of batches.

        Raises:
            ValueError: if a padded shape does not match its component.
        """
        size, drop = positive("padded_batch", batch_size), bool(drop_remainder)
        spec = self.element_spec
        shapes = padded_shapes_of(spec, padded_shapes)
        values = padding_of(spec, padding_values)
        width = size if drop else None

        def make(group: list[Any]) -> Any:
            columns = zip(*[flatten(element) for element in group], strict=True)
            parts = zip(columns, shapes, values, strict=True)
            return packed(group[0], iter([padded(list(c), s, v) for c, s, v in parts]))

        def batch_spec() -> Any:
            leaves = zip(flatten(spec), shapes, strict=True)
            found = [batched(TensorSpec(shape, s.dtype), width) for s, shape in leaves]
            return packed(spec, iter(found))

        return self._with(
            lambda items: grouped(items, size, drop, make),
            batch_spec,
            number_of_batches(self._size, size, drop),
        )._as("_PaddedBatchDataset")

    @public
    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Ragged tensors whose rows are elements of different sizes, `batch_size` at a time.

        Args:
            batch_size: number of elements of a batch.
            drop_remainder: whether to drop a smaller last batch.
            row_splits_dtype: int32 or int64; int64 if None.
            name: ignored.

        Returns:
            A dataset of batches. Components of fully known shape are stacked as in `batch`.
        """
        size, drop = positive("ragged_batch", batch_size), bool(drop_remainder)
        kind = as_splits_dtype(int64 if row_splits_dtype is None else row_splits_dtype)
        spec, width = self.element_spec, size if drop else None
        whole_spec = mapped(lambda s: ragged_spec(s, width, kind), spec)

        def stack_one(one: Any, batch: Any, *leaves: Any) -> Any:
            if isinstance(one, TensorSpec) and isinstance(batch, RaggedTensorSpec):
                return ragged.stacked_raggedly(leaves, batch)
            return stacked_as(one, *leaves)

        def stack(group: list[Any]) -> Any:
            return mapped(stack_one, spec, whole_spec, *group)

        dataset = self._with(
            lambda items: grouped(items, size, drop, stack),
            lambda: whole_spec,
            number_of_batches(self._size, size, drop),
        )
        dataset._ragged = False
        return dataset._as("_DenseToRaggedDataset")

    @public
    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """SparseTensors whose rows are elements of any sizes, `batch_size` at a time.

        Args:
            batch_size: number of elements of a batch.
            row_shape: shape of a row; None for a dimension takes the largest size in the batch.
            name: ignored.

        Raises:
            TypeError: if elements are not single tensors.
        """
        spec = self.element_spec
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                "`sparse_batch` requires an input dataset whose elements have a single component. "
                f"Received a dataset of {spec}."
            )
        size, shape = positive("sparse_batch", batch_size), shape_of(row_shape)
        dataset = self._with(
            lambda items: grouped(items, size, False, lambda group: sparse.spaced(group, shape)),
            lambda: SparseTensorSpec([None, *shape.as_list()], spec.dtype),
            number_of_batches(self._size, size, False),
        )
        return dataset._as("_DenseToSparseBatchDataset")

    @public
    def unbatch(self, name: str | None = None) -> Dataset:
        """The slices of the elements along their first axis."""
        spec = self.element_spec
        if any(isinstance(s, TensorSpec) and s.shape.rank == 0 for s in flatten(spec)):
            raise ValueError("unbatch: Cannot unbatch an input with scalar components.")

        def slices(element: Any) -> Iterator[Any]:
            sizes = {ragged.size_of(leaf) for leaf in flatten(element) if leaf is not None}
            if len(sizes) != 1:
                raise InvalidArgumentError(
                    f"unbatch: components must have the same first size. Received {sorted(sizes)}."
                )
            return map(ragged.rows_in(element).__getitem__, range(*sizes))

        single = mapped(lambda s: ragged.unbatched(s) if hasattr(s, "shape") else s, spec)
        dataset = self._with(
            lambda items: chain.from_iterable(map(slices, items)), lambda: single, UNKNOWN
        )
        dataset._ragged = ragged.has_rows(single)
        return dataset._as("_UnbatchDataset")

    @public
    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Batches of other sizes: `unbatch`, then `batch`.

        Args:
            batch_size: the size, or a list of sizes to cycle through; a size of zero gives an
                empty batch.
            drop_remainder: whether to drop a smaller last batch.
            name: ignored.
        """
        sizes = np.ravel(convert(batch_size)._array).tolist()
        for n in [max(sizes), *(n for n in sizes if n)]:
            positive("rebatch", n)
        drop = bool(drop_remainder)
        single = self.unbatch()

        def regroup(items: Iterator[Any]) -> Iterator[Any]:
            turn, stack, ended = 0, stacker(single), False

            def draw() -> Any:
                nonlocal ended
                item = next(items, END)
                if item is END:
                    ended = True
                    raise StopIteration
                return item

            elements = Steps(draw)

            def step() -> Any:
                nonlocal turn
                size = sizes[turn % len(sizes)]
                turn += 1
                if size == 0 and not ended:
                    return mapped(empty, single.element_spec)
                return next(grouped(elements, size, drop, stack))

            return Steps(step)

        whole_batches = drop or all(
            leaf.shape.rank and leaf.shape[0] is not None and leaf.shape[0] % max(sizes) == 0
            for leaf in flatten(self.element_spec)
            if isinstance(leaf, TensorSpec)
        )
        width = sizes[0] if whole_batches and len(set(sizes)) == 1 else None
        return single._with(
            regroup, lambda: mapped(lambda s: batched(s, width), single.element_spec), UNKNOWN
        )._as("_RebatchDataset")


def empty(spec: TensorSpec) -> Any:
    """Make a batch without elements."""
    shape = (0, *(n or 0 for n in spec.shape.as_list()))
    return eager(np.empty(shape, spec.dtype.as_numpy_dtype))


def ragged_spec(spec: Any, width: int | None, dtype: Any) -> Any:
    """The spec of a component in a batch of `ragged_batch`."""
    if isinstance(spec, TensorSpec) and spec.shape.rank is not None:
        return ragged.ragged_batched(spec, width, dtype)
    return batched(spec, width)
