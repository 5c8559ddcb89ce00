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
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.ragged.row_partition import as_splits_dtype
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.base import UNKNOWN, DatasetBase, as_python_int, as_static_size
from gradtape.pipeline.element import ragged, sparse
from gradtape.pipeline.element.element import (
    END,
    StepIterator,
    batch_component_spec,
    make_stacker,
    stack_component_as,
)
from gradtape.pipeline.element.random_access import Rows
from gradtape.pipeline.element.structure import flatten_element, map_element, pack_element
from gradtape.pipeline.element_type import E
from gradtape.pipeline.transformation.padding import (
    as_padded_shape,
    as_padding_values,
    check_padded_shapes,
    pad_component,
)

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset


def check_batch_size(op: str, size: Any) -> int:
    """The batch size as a Python integer.

    Raises:
        InvalidArgumentError: if it is not positive.
    """
    n = as_python_int(size)
    if n < 1:
        raise InvalidArgumentError(f"{op}: Batch size must be greater than zero. Received {n}.")
    return n


def group_items(
    items: Iterator[Any], size: int, drop: bool, make: Any, fused: bool = False
) -> Iterator[Any]:
    """Yield `make` of `size` items at a time; if `fused`, a failing item drops its whole batch."""

    def step() -> Any:
        group: list[Any] = []
        try:
            group.extend(islice(items, size))
        except Exception as error:
            if is_from_signal_handler(error):
                raise
            for _ in range(len(group) + 1, size if fused else 0):
                with contextlib.suppress(Exception):
                    next(items)
            raise
        if not group or (drop and len(group) < size):
            raise StopIteration
        return make(group)

    return StepIterator(step)


def gather_batches(
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
            return rows.gather_batch(group)
        except Exception as error:
            if rows.is_in_memory or is_from_signal_handler(error):
                raise
        elements = []
        for at, index in enumerate(group, 1):
            rest = [] if fused else group[at:]
            elements.append(rows[index])
        return make(elements)

    return StepIterator(step)


def count_batches(n: int, size: int, drop: bool) -> int:
    """Number of batches of `n` elements; `n` may be unknown or infinite."""
    return n if n < 0 else n // size if drop else -(-n // size)


class BatchMethods(DatasetBase[E]):
    """Methods of a dataset that make and split batches."""

    @public
    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset[E]:
        """Stacked elements, `batch_size` at a time; the last batch may be smaller.

        Args:
            batch_size: the number of elements of a batch.
            drop_remainder: whether to drop a last batch that is smaller.
            num_parallel_calls: has no effect here.
            deterministic: has no effect here.
            name: has no effect here.

        Returns:
            A Dataset.

        Raises:
            InvalidArgumentError: if the size is not positive, or elements differ in shape.

        Example:
            >>> list(tf.data.Dataset.range(5).batch(2).as_numpy_iterator())
            [array([0, 1]), array([2, 3]), array([4])]
        """
        size, drop = check_batch_size("batch", batch_size), bool(drop_remainder)
        width = as_static_size(size) if drop else None
        fused = self._tensorflow_name in (
            "_MapDataset",
            "_ParallelMapDataset",
        )  # as TensorFlow fuses map and batch
        dataset = self._transform(
            lambda items: group_items(items, size, drop, make_stacker(self), fused),
            lambda: map_element(lambda s: batch_component_spec(s, width), self.element_spec),
            count_batches(self._size, size, drop),
        )
        stack = dataset._start

        def start() -> Iterator[Any]:
            found = self._find_rows()
            if found is None:
                return stack()
            rows, indices = found
            return gather_batches(indices(), size, drop, rows, make_stacker(self), fused)

        dataset._start, dataset._is_pure, dataset._has_ragged_rows = start, self._is_pure, False
        dataset._batch_size = size
        return dataset._label_as(
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
    ) -> Dataset[E]:
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
        size, drop = check_batch_size("padded_batch", batch_size), bool(drop_remainder)
        spec = self.element_spec
        shapes = check_padded_shapes(spec, padded_shapes)
        values = as_padding_values(spec, padding_values)
        width = as_static_size(size) if drop else None

        def make(group: list[Any]) -> Any:
            columns = zip(*[flatten_element(element) for element in group], strict=True)
            parts = zip(columns, shapes, values, strict=True)
            return pack_element(group[0], iter([pad_component(list(c), s, v) for c, s, v in parts]))

        def batch_spec() -> Any:
            leaves = zip(flatten_element(spec), shapes, strict=True)
            found = [batch_component_spec(TensorSpec(shape, s.dtype), width) for s, shape in leaves]
            return pack_element(spec, iter(found))

        dataset = self._transform(
            lambda items: group_items(items, size, drop, make),
            batch_spec,
            count_batches(self._size, size, drop),
        )
        dataset._batch_size = size
        return dataset._label_as("_PaddedBatchDataset")

    @public
    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = None,
        name: str | None = None,
    ) -> Dataset[E]:
        """Ragged tensors whose rows are elements of different sizes, `batch_size` at a time.

        Args:
            batch_size: number of elements of a batch.
            drop_remainder: whether to drop a smaller last batch.
            row_splits_dtype: int32 or int64; int64 if None.
            name: ignored.

        Returns:
            A dataset of batches. Components of fully known shape are stacked as in `batch`.
        """
        size, drop = check_batch_size("ragged_batch", batch_size), bool(drop_remainder)
        kind = as_splits_dtype(int64 if row_splits_dtype is None else row_splits_dtype)
        spec, width = self.element_spec, size if drop else None
        whole_spec = map_element(lambda s: spec_of_ragged_batch(s, width, kind), spec)

        def stack_one(one: Any, batch: Any, *leaves: Any) -> Any:
            if isinstance(one, TensorSpec) and isinstance(batch, RaggedTensorSpec):
                return ragged.stack_as_ragged(leaves, batch)
            return stack_component_as(one, *leaves)

        def stack(group: list[Any]) -> Any:
            return map_element(stack_one, spec, whole_spec, *group)

        dataset = self._transform(
            lambda items: group_items(items, size, drop, stack),
            lambda: whole_spec,
            count_batches(self._size, size, drop),
        )
        dataset._has_ragged_rows = False
        return dataset._label_as("_DenseToRaggedDataset")

    @public
    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset[E]:
        """SparseTensors whose rows are elements of any sizes, `batch_size` at a time.

        Args:
            batch_size: number of elements of a batch.
            row_shape: shape of a row; None for a dimension takes the largest size in the batch.
            name: ignored.

        Returns:
            A Dataset of SparseTensors.

        Raises:
            TypeError: if elements are not single tensors.
        """
        spec = self.element_spec
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                "`sparse_batch` requires an input dataset whose elements have a single component. "
                f"Received a dataset of {spec}."
            )
        size, shape = check_batch_size("sparse_batch", batch_size), as_padded_shape(row_shape)
        dataset = self._transform(
            lambda items: group_items(
                items, size, False, lambda group: sparse.stack_dense_as_sparse(group, shape)
            ),
            lambda: SparseTensorSpec([None, *shape.as_list()], spec.dtype),
            count_batches(self._size, size, False),
        )
        return dataset._label_as("_DenseToSparseBatchDataset")

    @public
    def unbatch(self, name: str | None = None) -> Dataset[E]:
        """The slices of the elements along their first axis.

        Args:
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> list(tf.data.Dataset.range(4).batch(3).unbatch().as_numpy_iterator())
            [np.int64(0), np.int64(1), np.int64(2), np.int64(3)]
        """
        spec = self.element_spec
        if any(isinstance(s, TensorSpec) and s.shape.rank == 0 for s in flatten_element(spec)):
            raise ValueError("unbatch: Cannot unbatch an input with scalar components.")

        def slices(element: Any) -> Iterator[Any]:
            sizes = {
                ragged.first_axis_size(leaf)
                for leaf in flatten_element(element)
                if leaf is not None
            }
            if len(sizes) != 1:
                raise InvalidArgumentError(
                    f"unbatch: components must have the same first size. Received {sorted(sizes)}."
                )
            return map(ragged.make_rows(element).__getitem__, range(*sizes))

        single = map_element(lambda s: ragged.unbatch_spec(s) if hasattr(s, "shape") else s, spec)
        dataset = self._transform(
            lambda items: chain.from_iterable(map(slices, items)), lambda: single, UNKNOWN
        )
        dataset._has_ragged_rows = ragged.has_ragged_rows(single)
        return dataset._label_as("_UnbatchDataset")

    @public
    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset[E]:
        """Batches of other sizes: `unbatch`, then `batch`.

        Args:
            batch_size: the size, or a list of sizes to cycle through; a size of zero gives an
                empty batch.
            drop_remainder: whether to drop a smaller last batch.
            name: ignored.

        Returns:
            A Dataset.
        """
        sizes = np.ravel(convert(batch_size)._array).tolist()
        for n in [max(sizes), *(n for n in sizes if n)]:
            check_batch_size("rebatch", n)
        drop = bool(drop_remainder)
        single = self.unbatch()

        def regroup(items: Iterator[Any]) -> Iterator[Any]:
            turn, stack, ended = 0, make_stacker(single), False

            def draw() -> Any:
                nonlocal ended
                item = next(items, END)
                if item is END:
                    ended = True
                    raise StopIteration
                return item

            elements = StepIterator(draw)

            def step() -> Any:
                nonlocal turn
                size = sizes[turn % len(sizes)]
                turn += 1
                if size == 0 and not ended:
                    return map_element(make_empty_batch, single.element_spec)
                return next(group_items(elements, size, drop, stack))

            return StepIterator(step)

        whole_batches = drop or all(
            leaf.shape.rank and leaf.shape[0] is not None and leaf.shape[0] % max(sizes) == 0
            for leaf in flatten_element(self.element_spec)
            if isinstance(leaf, TensorSpec)
        )
        width = sizes[0] if whole_batches and len(set(sizes)) == 1 else None
        return single._transform(
            regroup,
            lambda: map_element(lambda s: batch_component_spec(s, width), single.element_spec),
            UNKNOWN,
        )._label_as("_RebatchDataset")


def make_empty_batch(spec: TensorSpec) -> Any:
    """Make a batch without elements."""
    shape = (0, *(n or 0 for n in spec.shape.as_list()))
    return make_tensor(np.empty(shape, spec.dtype.as_numpy_dtype))


def spec_of_ragged_batch(spec: Any, width: int | None, dtype: Any) -> Any:
    """The spec of a component in a batch of `ragged_batch`."""
    if isinstance(spec, TensorSpec) and spec.shape.rank is not None:
        return ragged.ragged_spec_of_batch(spec, width, dtype)
    return batch_component_spec(spec, width)
