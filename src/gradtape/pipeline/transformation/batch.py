"""Batches: elements stacked, padded, taken apart and put together anew."""

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
    """The size of a batch, checked."""
    n = whole(size)
    if n < 1:
        raise InvalidArgumentError(f"{op}: Batch size must be greater than zero. Received {n}.")
    return n


def grouped(
    items: Iterator[Any], size: int, drop: bool, make: Any, fused: bool = False
) -> Iterator[Any]:
    """`make` of `size` items at a time; if `fused`, an item that fails takes its batch with it."""

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
    """Batches of rows at once; where one fails, element by element, to fail at that element."""
    left: list[Any] = []  # what comes after an element that has failed

    def step() -> Any:
        nonlocal left
        group, left = [*left, *islice(indices, size - len(left))], []
        if not group or (drop and len(group) < size):
            raise StopIteration
        try:
            return rows.batch(group)
        except Exception:
            if rows.at_hand:
                raise
        elements = []
        for at, index in enumerate(group, 1):
            left = [] if fused else group[at:]
            elements.append(rows[index])
        return make(elements)

    return Steps(step)


def number_of_batches(n: int, size: int, drop: bool) -> int:
    """How many batches `n` elements make, which may be unknown or infinite."""
    return n if n < 0 else n // size if drop else -(-n // size)


class Batches(Base):
    """The methods that make and undo batches."""

    @public
    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements stacked, `batch_size` at a time; the last batch may be smaller, or is dropped.

        Raises:
            InvalidArgumentError: if the size is not positive, or elements differ in shape.
        """
        size, drop = positive("batch", batch_size), bool(drop_remainder)
        width = size if drop else None
        fused = self._label in ("_MapDataset", "_ParallelMapDataset")  # as TensorFlow does
        made = self._with(
            lambda items: grouped(items, size, drop, stacker(self), fused),
            lambda: mapped(lambda s: batched(s, width), self.element_spec),
            number_of_batches(self._size, size, drop),
        )
        stack = made._start

        def start() -> Iterator[Any]:
            found = self._rows()
            if found is None:
                return stack()
            rows, indices = found
            return gathered(indices(), size, drop, rows, stacker(self), fused)

        made._start, made._quiet, made._ragged = start, self._quiet, False
        return made._as("_BatchDataset" if num_parallel_calls is None else "_ParallelBatchDataset")

    @public
    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Elements stacked after each has been padded to a common shape.

        Args:
            batch_size: how many elements a batch has.
            padded_shapes: structure of shapes; None in one, or None for it, pads to the largest of
                the batch.
            padding_values: what to pad with: a structure, or one value; zeros if None.
            drop_remainder: whether to leave out a last batch that is smaller.
            name: accepted for TensorFlow's sake.

        Returns:
            A dataset of batches.

        Raises:
            ValueError: if a padded shape does not fit its component.
        """
        size, drop = positive("padded_batch", batch_size), bool(drop_remainder)
        spec = self.element_spec
        shapes = padded_shapes_of(spec, padded_shapes)
        values = padding_of(spec, padding_values)
        width = size if drop else None

        def make(group: list[Any]) -> Any:
            columns = zip(*[flatten(element) for element in group], strict=True)
            each = zip(columns, shapes, values, strict=True)
            return packed(group[0], iter([padded(list(c), s, v) for c, s, v in each]))

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
        """Elements of different sizes as the rows of ragged tensors, `batch_size` at a time.

        Args:
            batch_size: how many elements a batch has.
            drop_remainder: whether to leave out a last batch that is smaller.
            row_splits_dtype: int32 or int64; int64 if None.
            name: accepted for TensorFlow's sake.

        Returns:
            A dataset of batches. Components whose sizes are all known are stacked as by `batch`.
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

        made = self._with(
            lambda items: grouped(items, size, drop, stack),
            lambda: whole_spec,
            number_of_batches(self._size, size, drop),
        )
        made._ragged = False
        return made._as("_DenseToRaggedDataset")

    @public
    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """Elements, single tensors of any sizes, as SparseTensors, `batch_size` at a time.

        Args:
            batch_size: how many elements a batch has.
            row_shape: the shape that an element may fill; None in it: as far as the largest goes.
            name: accepted for TensorFlow's sake.

        Raises:
            TypeError: if elements are not single tensors.
        """
        spec = self.element_spec
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                "`sparse_batch` requires an input dataset whose elements have a single component. "
                f"The elements of this one are {spec}."
            )
        size, shape = positive("sparse_batch", batch_size), shape_of(row_shape)
        made = self._with(
            lambda items: grouped(items, size, False, lambda group: sparse.spaced(group, shape)),
            lambda: SparseTensorSpec([None, *shape.as_list()], spec.dtype),
            number_of_batches(self._size, size, False),
        )
        return made._as("_DenseToSparseBatchDataset")

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
                    f"unbatch: components differ in their first size. Received {sorted(sizes)}."
                )
            return map(ragged.rows_in(element).__getitem__, range(*sizes))

        single = mapped(lambda s: ragged.unbatched(s) if hasattr(s, "shape") else s, spec)
        made = self._with(
            lambda items: chain.from_iterable(map(slices, items)), lambda: single, UNKNOWN
        )
        made._ragged = ragged.has_rows(single)
        return made._as("_UnbatchDataset")

    @public
    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Batches of other sizes: `unbatch`, then `batch`.

        Args:
            batch_size: the size, or a list of sizes that are gone through over and over; a size of
                zero gives an empty batch.
            drop_remainder: whether to leave out a last batch that is smaller.
            name: accepted for TensorFlow's sake.
        """
        sizes = np.ravel(convert(batch_size)._array).tolist()
        for n in [max(sizes), *(n for n in sizes if n)]:
            positive("rebatch", n)
        drop = bool(drop_remainder)
        single = self.unbatch()

        def regrouped(items: Iterator[Any]) -> Iterator[Any]:
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
            regrouped, lambda: mapped(lambda s: batched(s, width), single.element_spec), UNKNOWN
        )._as("_RebatchDataset")


def empty(spec: TensorSpec) -> Any:
    """A batch without elements."""
    shape = (0, *(n or 0 for n in spec.shape.as_list()))
    return eager(np.empty(shape, spec.dtype.as_numpy_dtype))


def ragged_spec(spec: Any, width: int | None, dtype: Any) -> Any:
    """What `ragged_batch` makes of a component."""
    if isinstance(spec, TensorSpec) and spec.shape.rank is not None:
        return ragged.ragged_batched(spec, width, dtype)
    return batched(spec, width)
