"""Transformations that call a function of elements: map, flat_map, interleave, scan, reduce."""

from __future__ import annotations

import os
from builtins import map as builtin_map
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from gradtape.core import dtypes
from gradtape.core.context import current_trace, use_recorders
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.spec import TensorSpec
from gradtape.core.traceback_filter import is_user_error, show_full_tracebacks
from gradtape.pipeline.base import AUTOTUNE, UNKNOWN, DatasetBase, as_python_int
from gradtape.pipeline.element.arity import report_arity
from gradtape.pipeline.element.element import (
    END,
    StepIterator,
    annotate_errors,
    require_callable,
    wrap_user_function,
)
from gradtape.pipeline.element.output_spec import infer_output
from gradtape.pipeline.element.structure import (
    as_element,
    detach_tensor,
    element_spec_of,
    map_element,
)
from gradtape.pipeline.element_type import E
from gradtape.pipeline.file_shard import FilePoint
from gradtape.pipeline.iteration import NeedsPythonCall, current_iteration, forbid_python_calls
from gradtape.pipeline.outer_tensor import read_outer
from gradtape.pipeline.transformation.scan_state import (
    check_state_dtypes,
    infer_scan_spec,
    run_scan_step,
)
from gradtape.pipeline.user_function import UserFunction
from gradtape.pipeline.worker import AdaptiveParallelMap, ParallelMap, Prefetcher

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

R = TypeVar("R")


def check_parallel_calls(op: str, num_parallel_calls: Any) -> int | None:
    """The number of parallel calls, AUTOTUNE or None.

    Raises:
        InvalidArgumentError: if it is not positive.
    """
    if num_parallel_calls is None:
        return None
    n = as_python_int(num_parallel_calls)
    if n < 1 and n != AUTOTUNE:
        raise InvalidArgumentError(
            f"{op}: num_parallel_calls must be greater than zero or AUTOTUNE. Received {n}."
        )
    return n


def make_dataset_function(map_func: Any, what: str) -> Any:
    """Wrap a user function that must return a dataset for each element."""
    apply = wrap_user_function(map_func, what)

    return lambda element: check_dataset(apply(element), what)


def check_dataset(found: Any, what: str) -> Dataset:
    """Check that a user's function has returned a dataset."""
    if not isinstance(found, DatasetBase):
        raise TypeError(
            f"{what}: Invalid `map_func`. `map_func` must return a `Dataset` object. "
            f"Got {type(found)}."
        )
    return found  # type: ignore[return-value]


class MapMethods(DatasetBase[E]):
    """Methods of a dataset that call a function of elements."""

    @public
    def map(
        self,
        map_func: Callable[..., R],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset[R]:
        """A dataset of `map_func` of each element.

        Args:
            map_func: function of an element; a tuple is unpacked into its parameters.
            num_parallel_calls: maximum number of parallel calls, each in a thread; AUTOTUNE uses
                threads if calls take longer than a millisecond.
            deterministic: whether results keep the order of elements; True if None.
            synchronous: ignored.
            use_unbounded_threadpool: ignored.
            name: ignored.

        Returns:
            A dataset.

        Note:
            The function is compiled as by `tf.function`: its Python code runs once for every shape
            of elements.
        """
        require_callable(map_func)
        count = check_parallel_calls("map", num_parallel_calls)
        traced = UserFunction(map_func)

        def start(items: Iterator[Any]) -> Iterator[Any]:
            work = current_iteration.active
            apply = annotate_errors(partial(traced.apply, work=work), "map")
            given = getattr(self._options, "deterministic", None)
            given = given if deterministic is None else deterministic
            ordered = given is None or bool(given)
            if count == AUTOTUNE:
                return AdaptiveParallelMap(apply, items, ordered)
            if count is not None and count > 1:
                return ParallelMap(apply, items, count, ordered)
            return builtin_map(apply, items)

        dataset = self._transform(
            start, lambda: traced.infer_output_spec(self.element_spec), self._size
        )
        trace_map_function(dataset)

        def rows() -> Any:
            found = self._find_rows()
            mapped = None if found is None else traced.map_rows(found[0], self.element_spec)
            return None if found is None or mapped is None else (mapped, found[1])

        dataset._find_rows = rows
        dataset._is_pure = lambda: self._is_pure() and traced.is_pure(self.element_spec)
        return dataset._label_as("_MapDataset" if count is None else "_ParallelMapDataset", traced)

    @public
    def flat_map(self, map_func: Callable[..., Dataset[R]], name: str | None = None) -> Dataset[R]:
        """The concatenation of the datasets that `map_func` returns for the elements.

        Args:
            map_func: function of an element that returns a Dataset.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> numbers = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
            >>> list(numbers.flat_map(tf.data.Dataset.from_tensor_slices).as_numpy_iterator())
            [np.int32(1), np.int32(2), np.int32(3), np.int32(4)]
        """
        require_callable(map_func)
        map_func = report_arity(map_func, "flat_map")
        point = self._make_file_point(map_func, "flat_map")

        def start(items: Iterator[Any]) -> Iterator[Any]:
            make = make_dataset_function(map_func, "flat_map")
            return chain.from_iterable(make(element)._start() for element in point.divide(items))

        dataset = self._transform(
            start, lambda: self._infer_inner_spec(map_func, "flat_map"), UNKNOWN
        )
        dataset._file_point = self._file_point or point
        return dataset._label_as("_FlatMapDataset")

    def _make_file_point(self, map_func: Any, what: str) -> FilePoint:
        """The point where names of files become datasets, if `map_func` reads files."""

        def reads_files() -> bool:
            if self.element_spec != TensorSpec((), dtypes.string):
                return False
            return bool(
                infer_output(
                    map_func,
                    self.element_spec,
                    lambda found: check_dataset(found, what)._file_point is not None,
                )
            )

        return FilePoint(lambda: self._size, reads_files)

    def _infer_inner_spec(self, map_func: Any, what: str) -> Any:
        return infer_output(
            map_func, self.element_spec, lambda found: check_dataset(found, what).element_spec
        )

    @public
    def interleave(
        self,
        map_func: Callable[..., Dataset[R]],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset[R]:
        """Interleaved elements of the datasets that `map_func` returns.

        Args:
            map_func: function of an element that returns a dataset.
            cycle_length: number of datasets to interleave; the number of processors if None.
            block_length: number of consecutive elements of one dataset; 1 if None.
            num_parallel_calls: if greater than one, a thread prefetches from each dataset of the
                cycle.
            deterministic: ignored; the order is always deterministic.
            name: ignored.

        Returns:
            A dataset.
        """
        require_callable(map_func)
        map_func = report_arity(map_func, "interleave")
        width = AUTOTUNE if cycle_length is None else as_python_int(cycle_length)
        block = 1 if block_length is None else as_python_int(block_length)
        count = check_parallel_calls("interleave", num_parallel_calls)
        if width == AUTOTUNE:
            width = os.cpu_count() or 1
        if width < 1 or block < 1:
            raise InvalidArgumentError(
                "interleave: cycle_length and block_length must be greater than zero. "
                f"Received {width} and {block}."
            )
        ahead = block if count is not None and count > 1 and width > 1 else 0
        point = self._make_file_point(map_func, "interleave")
        dataset = self._transform(
            lambda items: interleave_datasets(
                point.divide(items),
                make_dataset_function(map_func, "interleave"),
                width,
                block,
                ahead,
            ),
            lambda: self._infer_inner_spec(map_func, "interleave"),
            UNKNOWN,
        )
        dataset._file_point = self._file_point or point
        return dataset._label_as(
            "_InterleaveDataset" if count is None else "_ParallelInterleaveDataset"
        )

    @public
    def scan(self, initial_state: Any, scan_func: Any, name: str | None = None) -> Dataset:
        """The outputs of `scan_func(state, element)`, which returns a new state and an output.

        Args:
            initial_state: a structure of tensors.
            scan_func: function of a state and an element that returns the next state and an
                output.
            name: has no effect here.

        Returns:
            A Dataset of the outputs.

        Raises:
            TypeError: if it does not return a pair, or changes the dtype of the state.

        Example:
            >>> sums = tf.data.Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x))
            >>> list(sums.as_numpy_iterator())
            [np.int64(0), np.int64(1), np.int64(3), np.int64(6)]
        """
        require_callable(scan_func)
        first = as_element(initial_state)
        traced = UserFunction(scan_func, "scan")

        def outputs(items: Iterator[Any]) -> Iterator[Any]:
            state = map_element(read_outer, first)
            step = annotate_errors(lambda element: run_scan_step(traced, state, element), "scan")
            for element in items:
                state, output = step(element)
                yield output

        return self._transform(
            outputs,
            lambda: infer_scan_spec(traced, element_spec_of(first), self.element_spec),
            self._size,
        )._label_as("_ScanDataset", traced)

    @public
    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., R], name: str | None = None
    ) -> R:
        """The final state after `reduce_func(state, element)` for every element.

        Args:
            initial_state: a structure of tensors.
            reduce_func: function of a state and an element that returns the next state.
            name: has no effect here.

        Returns:
            The final state, a structure of tensors.

        Example:
            >>> tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).numpy()
            np.int64(10)
        """
        require_callable(reduce_func)
        state = as_element(initial_state)
        traced = UserFunction(reduce_func, "reduce")
        step = annotate_errors(lambda element: traced.apply((state, element)), "reduce")
        with use_recorders(current_trace()):  # no gradient flows through a pipeline
            for element in self:
                after = step(element)
                check_state_dtypes("reduce", state, after)
                state = after
        return map_element(detach_tensor, state)


def trace_map_function(dataset: Dataset) -> None:
    """Trace the function of a new dataset at once, as TensorFlow does.

    Errors of the user's code are raised. Errors of gradtape are not: they may be due to the
    placeholders, and the first element will show.
    """
    try:
        with forbid_python_calls(), show_full_tracebacks():
            _ = dataset.element_spec
    except NeedsPythonCall:
        pass
    except Exception as error:
        if is_user_error(error):
            raise


def interleave_datasets(
    items: Iterator[Any], make: Any, width: int, block: int, ahead: int
) -> Iterator[Any]:
    """Interleave `width` datasets, `block` elements of each; replace a dataset that ends."""
    slots: list[Iterator[Any] | None] = [None] * width
    at = given = 0
    more = True

    def step() -> Any:
        nonlocal at, given, more
        while more or any(slot is not None for slot in slots):
            slot = slots[at]
            if slot is None and more:
                element = next(items, END)
                if element is END:
                    more = False
                    continue
                started = make(element)._start()
                slot = slots[at] = Prefetcher(started, ahead) if ahead else started
                given = 0
            item = END if slot is None else next(slot, END)
            if item is END:
                slots[at] = None
            given += 1
            if item is END or given == block:
                at, given = (at + 1) % width, 0
            if item is not END:
                return item
        raise StopIteration

    return StepIterator(step)
