"""Transformations that combine elements to datasets: windows, groups and buckets."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.base import (
    UNKNOWN,
    DatasetBase,
    as_python_int,
    make_dataset,
    make_spec_dataset,
)
from gradtape.pipeline.element.arity import report_arity
from gradtape.pipeline.element.element import (
    annotate_errors,
    batch_component_spec,
    require_callable,
)
from gradtape.pipeline.element.output_spec import infer_output
from gradtape.pipeline.element.ragged import has_ragged_rows
from gradtape.pipeline.element.structure import flatten_element, map_element, pack_element
from gradtape.pipeline.element_type import E
from gradtape.pipeline.transformation.batch import check_batch_size
from gradtape.pipeline.transformation.padding import as_padded_shape, flatten_shapes
from gradtape.pipeline.user_function import UserFunction

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset


def make_list_dataset(elements: list[Any], spec: Any) -> Dataset:
    """Make a dataset of a list of elements."""
    dataset = make_dataset(lambda: iter(elements), lambda: spec, len(elements))
    dataset._has_ragged_rows = has_ragged_rows(spec)
    return dataset


class WindowMethods(DatasetBase[E]):
    """Methods of a dataset that combine elements to datasets."""

    @public
    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of `size` elements each; for tuples and dicts, tuples and dicts of datasets.

        Args:
            size: number of elements of a window.
            shift: number of elements between the starts of two windows; `size` if None.
            stride: distance between the elements of a window.
            drop_remainder: whether to drop windows that are not full.
            name: ignored.

        Returns:
            A dataset of datasets.
        """
        n, step = as_python_int(size), as_python_int(stride)
        by = n if shift is None else as_python_int(shift)
        for what, value in (("size", n), ("shift", by), ("stride", step)):
            if value < 1:
                raise InvalidArgumentError(
                    f"window: Window {what} must be greater than zero. Received {value}."
                )
        drop = bool(drop_remainder)
        reach = (n - 1) * step + 1

        def windows(items: Iterator[Any]) -> Iterator[Any]:
            spec = self.element_spec
            buffer: deque[Any] = deque(islice(items, reach))
            while buffer and (len(buffer) == reach or not drop):
                elements = list(islice(buffer, 0, None, step))
                yield make_dataset_window(elements, spec)
                for _ in range(min(by, len(buffer))):
                    buffer.popleft()
                if by > reach:
                    next(islice(items, by - reach - 1, None), None)
                buffer.extend(islice(items, reach - len(buffer)))

        count = self._size
        if count >= 0:
            count = max(0, (count - reach) // by + 1) if drop else -(-count // by)
        return self._transform(
            windows,
            lambda: map_element(lambda s: window_component_spec(s), self.element_spec),
            count,
        )._label_as("_WindowDataset")

    @public
    def group_by_window(
        self,
        key_func: Any,
        reduce_func: Any,
        window_size: Any = None,
        window_size_func: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements grouped by key; each full group is reduced to a dataset.

        Args:
            key_func: function of an element that returns its key, a scalar int64.
            reduce_func: function of a key and the dataset of a group that returns a dataset.
            window_size: number of elements of a group.
            window_size_func: function of a key that returns the size of its groups.
            name: ignored.

        Returns:
            A dataset of the elements of the datasets that `reduce_func` returns.
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "group_by_window: Must pass either `window_size` or `window_size_func`, not both."
            )
        require_callable(key_func)
        require_callable(reduce_func)
        reduce_func = report_arity(reduce_func, "group_by_window")
        keys = UserFunction(wrap_key_function(key_func), "group_by_window, key_func")
        sizes = (
            None if window_size_func is None else UserFunction(window_size_func, "group_by_window")
        )

        def enough(key: int) -> int:
            given = window_size if sizes is None else sizes.apply(make_tensor(np.int64(key)))
            return check_batch_size("group_by_window", given)

        grouped = self._group_by_key(
            lambda element: check_group_key(keys.apply(element)), reduce_func, enough
        )
        return grouped._label_as("_GroupByWindowDataset", keys)

    def _group_by_key(self, key_of: Any, reduce_func: Any, enough: Callable[[int], int]) -> Dataset:
        """Reduce groups of `enough(key)` elements with the same key."""

        def reduce_one(key: int, group: list[Any]) -> Dataset:
            return reduce_group(reduce_func, key, make_list_dataset(group, self.element_spec))

        def groups(items: Iterator[Any]) -> Iterator[Any]:
            find = annotate_errors(key_of, "group_by_window")
            waiting: dict[int, list[Any]] = {}
            sizes: dict[int, int] = {}
            for element in items:
                key = find(element)
                if key not in waiting:
                    waiting[key], sizes[key] = [], enough(key)
                waiting[key].append(element)
                if len(waiting[key]) == sizes[key]:
                    yield from reduce_one(key, waiting.pop(key))._start()
            for key in sorted(waiting):
                yield from reduce_one(key, waiting[key])._start()

        def spec() -> Any:
            given = TensorSpec((), dtypes.int64), make_spec_dataset(self.element_spec)._type_spec
            return infer_output(reduce_func, given, lambda found: check_group(found).element_spec)

        return self._transform(groups, spec, UNKNOWN)

    @public
    def bucket_by_sequence_length(
        self,
        element_length_func: Any,
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Padded batches of elements of similar length.

        Args:
            element_length_func: function of an element that returns its length.
            bucket_boundaries: lengths at which the next bucket begins.
            bucket_batch_sizes: batch size of each bucket, one more than boundaries.
            padded_shapes: as in `padded_batch`.
            padding_values: as in `padded_batch`.
            pad_to_bucket_boundary: whether to pad to one less than the boundary of the bucket.
            no_padding: whether not to pad, because elements of a bucket have the same shape.
            drop_remainder: whether to drop batches that are not full.
            name: ignored.

        Returns:
            A dataset of batches.
        """
        sizes, bounds = list(bucket_batch_sizes), list(bucket_boundaries)
        if len(sizes) != len(bounds) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(sizes)}` and "
                f"`len(bucket_boundaries)={len(bounds)}`."
            )

        length_of = UserFunction(element_length_func, "bucket_by_sequence_length")

        def bucket(element: Any) -> int:
            return bisect_right(bounds, as_python_int(length_of.apply(element)))

        def batch(key: Any, dataset: Dataset) -> Dataset:
            size = sizes[int(key)]
            if no_padding:
                return dataset.batch(size, drop_remainder)
            shapes = bucket_shapes(dataset.element_spec, padded_shapes)
            if pad_to_bucket_boundary:
                shapes = [pad_to_boundary(shape, bounds, int(key)) for shape in shapes]
            found = pack_element(dataset.element_spec, iter(shapes))
            return dataset.padded_batch(size, found, padding_values, drop_remainder)

        grouped = self._group_by_key(
            bucket, batch, lambda key: check_batch_size("bucket_by_sequence_length", sizes[key])
        )
        grouped._spec = lambda: (
            map_element(lambda s: batch_component_spec(s, None), self.element_spec)
            if no_padding
            else bucket_batch_spec(self.element_spec, padded_shapes)
        )
        return grouped._label_as("_GroupByWindowDataset", length_of)


def wrap_key_function(key_func: Any) -> Any:
    """Wrap `key_func`: convert Python integers to int64 tensors."""

    @functools.wraps(key_func)
    def key(*element: Any) -> Any:
        given = key_func(*element)
        return make_tensor(np.int64(given)) if type(given) is int else given

    return key


def check_group_key(given: Any) -> int:
    """Check the key that the user's function returned, and convert it to an integer."""
    if getattr(given, "dtype", None) != dtypes.int64 or given.shape.rank:
        raise ValueError(
            "group_by_window: `key_func` must return a single `tf.int64` scalar tensor. "
            f"Received {given!r}."
        )
    return int(given._array)


def reduce_group(reduce_func: Any, key: int, group: Dataset) -> Dataset:
    """Call the user's function on a group; check that it returns a dataset."""
    return check_group(reduce_func(make_tensor(np.int64(key)), group))


def check_group(found: Any) -> Dataset:
    """Check that the user's function has returned a dataset."""
    if not isinstance(found, DatasetBase):
        raise TypeError(
            "group_by_window: Invalid `reduce_func`. `reduce_func` must return a `Dataset` object. "
            f"Got {type(found)}."
        )
    return found  # type: ignore[return-value]


def bucket_shapes(spec: Any, padded_shapes: Any) -> list[TensorShape]:
    """The padded shapes of the components, with unknown dimensions."""
    if padded_shapes is None:
        return [leaf.shape for leaf in flatten_element(spec)]
    return [as_padded_shape(shape) for shape in flatten_shapes(spec, padded_shapes)]


def pad_to_boundary(shape: TensorShape, bounds: list[int], bucket: int) -> TensorShape:
    """Replace unknown dimensions of a shape by the greatest length of a bucket."""
    if bucket == len(bounds):
        raise InvalidArgumentError(
            "bucket_by_sequence_length: When pad_to_bucket_boundary=True, elements must have "
            "length < max(bucket_boundaries)."
        )
    return as_padded_shape([bounds[bucket] - 1 if n is None else n for n in shape.as_list()])


def bucket_batch_spec(spec: Any, padded_shapes: Any) -> Any:
    """The spec of batches of different sizes."""
    pairs = zip(bucket_shapes(spec, padded_shapes), flatten_element(spec), strict=True)
    found = [TensorSpec([None, *shape.as_list()], leaf.dtype) for shape, leaf in pairs]
    return pack_element(spec, iter(found))


def make_dataset_window(elements: list[Any], spec: Any) -> Any:
    """Make a window: a structure like the elements, with datasets as components."""
    leaves = flatten_element(spec)
    if leaves == [spec]:
        return make_list_dataset(elements, spec)
    columns = zip(*[flatten_element(element) for element in elements], strict=True)
    datasets = [make_list_dataset(list(c), leaf) for c, leaf in zip(columns, leaves, strict=True)]
    return pack_element(spec, iter(datasets))


def window_component_spec(spec: Any) -> Any:
    """The spec of a dataset with the element spec `spec`."""
    return make_list_dataset([], spec)._type_spec
