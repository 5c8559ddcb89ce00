"""Batches: elements stacked, padded, taken apart and put together anew."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import DataLossError, InvalidArgumentError, public
from gradtape.core.ragged.row_partition import as_splits_dtype
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor, eager
from gradtape.pipeline.base import UNKNOWN, Base, whole
from gradtape.pipeline.element import ragged, sparse
from gradtape.pipeline.element.element import END, Steps, batched, stacked_as, stacker
from gradtape.pipeline.element.random_access import Rows
from gradtape.pipeline.element.structure import flatten, mapped, packed

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


def padded_shapes_of(spec: Any, padded_shapes: Any) -> list[TensorShape]:
    """The shape that each component is padded to."""
    leaves = flatten(spec)
    for leaf in leaves:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                "padded_batch: components must be tensors. Received what is described by "
                f"{leaf!r}. Use batch."
            )
    if padded_shapes is None:
        for leaf in leaves:
            if leaf.shape.rank is None:
                raise ValueError(
                    "padded_batch: give `padded_shapes`, because a component has unknown rank."
                )
        return [leaf.shape for leaf in leaves]
    given = [padded_shapes] if len(leaves) == 1 else flatten_shapes(padded_shapes)
    if len(leaves) == 1 and isinstance(padded_shapes, tuple) and len(padded_shapes) == 1:
        inner = padded_shapes[0]
        given = [inner] if isinstance(inner, (list, tuple, TensorShape)) else given
    if len(given) != len(leaves):
        raise ValueError(f"padded_batch: {len(leaves)} components, but {len(given)} padded shapes.")
    shapes = [shape_of(shape) for shape in given]
    for shape, leaf in zip(shapes, leaves, strict=True):
        if leaf.shape.rank is not None and not fits(leaf.shape, shape):
            raise ValueError(
                f"padded_batch: The padded shape {shape} is not compatible with the shape "
                f"{leaf.shape} of the corresponding input component."
            )
    return shapes


def shape_of(shape: Any) -> TensorShape:
    """A shape given in one of many ways; -1 is unknown."""
    if isinstance(shape, TensorShape):
        return shape
    sizes = shape._array.tolist() if isinstance(shape, EagerTensor) else list(shape)
    return TensorShape([None if n is None or int(n) < 0 else int(n) for n in sizes])


def flatten_shapes(shapes: Any) -> list[Any]:
    """The shapes in a structure of them; a tuple of numbers is a shape."""
    if isinstance(shapes, dict):
        return [leaf for key in sorted(shapes) for leaf in flatten_shapes(shapes[key])]
    numbers = isinstance(shapes, tuple) and all(n is None or isinstance(n, int) for n in shapes)
    if isinstance(shapes, tuple) and not numbers:
        return [leaf for child in shapes for leaf in flatten_shapes(child)]
    if shapes == ():
        return [TensorShape([])]
    return [shapes]


def fits(shape: TensorShape, into: TensorShape) -> bool:
    """Whether a component of `shape` can be padded to `into`."""
    if shape.rank != into.rank:
        return False
    sizes = zip(shape.as_list(), into.as_list(), strict=True)
    return all(a is None or b is None or a <= b for a, b in sizes)


def padding_of(spec: Any, values: Any) -> list[Any]:
    """What each component is padded with, raw."""
    leaves = flatten(spec)
    if values is None:
        given: list[Any] = [None] * len(leaves)
    elif isinstance(values, (tuple, dict)):
        given = flatten(values)
    else:
        given = [values] * len(leaves)
    found = []
    for value, leaf in zip(given, leaves, strict=True):
        blank = b"" if leaf.dtype.name == "string" else 0
        plain = value is None or isinstance(value, (int, float, str, bytes))
        padding = convert(blank if value is None else value, leaf.dtype if plain else None)
        if padding.dtype != leaf.dtype:
            raise TypeError(
                f"padded_batch: a padding value of {padding.dtype.name} does not fit a component "
                f"of {leaf.dtype.name}."
            )
        found.append(padding._array)
    return found


def padded(leaves: list[Any], shape: TensorShape, value: Any) -> Any:
    """One component of a batch, padded."""
    arrays = [np.asarray(leaf._array) for leaf in leaves]
    sizes = shape.as_list() if shape.rank is not None else [None] * arrays[0].ndim
    largest = [max(array.shape[i] for array in arrays) for i in range(len(sizes))]
    target = [n if n is not None else most for n, most in zip(sizes, largest, strict=True)]
    if any(most > n for n, most in zip(target, largest, strict=True)):
        raise DataLossError(
            "padded_batch: Attempted to pad to a smaller size than the input element. "
            f"An element of {largest} does not fit {target}."
        )
    out = np.full((len(arrays), *target), value, arrays[0].dtype)
    for i, array in enumerate(arrays):
        where: Any = (i, *(slice(n) for n in array.shape))
        out[where] = array
    return eager(out)
