"""Functions of elements: map, flat_map, interleave, scan, reduce."""

from __future__ import annotations

import os
from builtins import map as each
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from gradtape.core.errors import InvalidArgumentError, is_users, public, whole_tracebacks
from gradtape.pipeline.base import AUTOTUNE, UNKNOWN, Base, whole
from gradtape.pipeline.current_pass import NotQuietly, ongoing, quietly
from gradtape.pipeline.element.element import END, Steps, applied, called, noted, require_callable
from gradtape.pipeline.element.output_spec import probed
from gradtape.pipeline.element.structure import as_element, flatten, spec_of
from gradtape.pipeline.user_function import Traced
from gradtape.pipeline.worker import Ahead, SideBySide, WhenItPays

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset


def parallel(op: str, num_parallel_calls: Any) -> int | None:
    """How many calls at a time; AUTOTUNE stays what it is."""
    if num_parallel_calls is None:
        return None
    n = whole(num_parallel_calls)
    if n < 1 and n != AUTOTUNE:
        raise InvalidArgumentError(
            f"{op}: num_parallel_calls must be greater than zero or AUTOTUNE. Received {n}."
        )
    return n


def inner(map_func: Any, what: str) -> Any:
    """A function that makes datasets of elements, which are checked."""
    apply = applied(map_func, what)

    def start(element: Any) -> Dataset:
        made = apply(element)
        if not isinstance(made, Base):
            raise TypeError(
                f"{what}: Invalid `map_func`. `map_func` must return a `Dataset` object. "
                f"Got {type(made)}."
            )
        return made  # type: ignore[return-value]

    return start


class Maps(Base):
    """The methods that call a function on elements."""

    @public
    def map(
        self,
        map_func: Any,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """A dataset of `map_func` of each element.

        Args:
            map_func: function of an element; a tuple is spread over its parameters.
            num_parallel_calls: how many calls may run at a time, each in a thread; AUTOTUNE uses
                threads when calls take longer than a millisecond.
            deterministic: whether results keep the order of elements; True if None.
            synchronous: accepted for TensorFlow's sake.
            use_unbounded_threadpool: accepted for TensorFlow's sake.
            name: accepted for TensorFlow's sake.

        Returns:
            A dataset.

        Note:
            The function is compiled as `tf.function` does it: its Python runs once for every shape
            of elements.
        """
        require_callable(map_func)
        count = parallel("map", num_parallel_calls)
        traced = Traced(map_func)

        def start(items: Iterator[Any]) -> Iterator[Any]:
            work = ongoing.now
            apply = noted(lambda element: traced.of(element, work), "map")
            given = getattr(self._options, "deterministic", None)
            given = given if deterministic is None else deterministic
            ordered = given is None or bool(given)
            if count == AUTOTUNE:
                return WhenItPays(apply, items, ordered)
            if count is not None and count > 1:
                return SideBySide(apply, items, count, ordered)
            return each(apply, items)

        def spec() -> Any:
            found = traced.returns(self.element_spec)
            if found is not None:
                return found
            return probed(lambda e: spec_of(called(traced.tried, e)), self.element_spec)

        made = self._with(start, spec, self._size)
        look_at(made)

        def rows() -> Any:
            found = self._rows()
            mapped = None if found is None else traced.over(found[0], self.element_spec)
            return None if found is None or mapped is None else (mapped, found[1])

        made._rows = rows
        made._quiet = lambda: self._quiet() and traced.is_pure(self.element_spec)
        return made._as("_MapDataset" if count is None else "_ParallelMapDataset", traced)

    @public
    def flat_map(self, map_func: Any, name: str | None = None) -> Dataset:
        """The datasets that `map_func` makes of the elements, one after another."""
        require_callable(map_func)

        def start(items: Iterator[Any]) -> Iterator[Any]:
            make = inner(map_func, "flat_map")
            return chain.from_iterable(make(element)._start() for element in items)

        made = self._with(start, lambda: self._inner_spec(map_func, "flat_map"), UNKNOWN)
        return made._as("_FlatMapDataset")

    def _inner_spec(self, map_func: Any, what: str) -> Any:
        return probed(lambda e: inner(map_func, what)(e).element_spec, self.element_spec)

    @public
    def interleave(
        self,
        map_func: Any,
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements of the datasets that `map_func` makes, taken in turns.

        Args:
            map_func: function that makes a dataset of an element.
            cycle_length: of how many datasets at a time; as many as there are processors if None.
            block_length: how many elements of each before it is the next one's turn; 1 if None.
            num_parallel_calls: if a number greater than one, each dataset of the cycle is read
                ahead by a thread of its own.
            deterministic: accepted; the order is always the same.
            name: accepted for TensorFlow's sake.

        Returns:
            A dataset.
        """
        require_callable(map_func)
        width = AUTOTUNE if cycle_length is None else whole(cycle_length)
        block = 1 if block_length is None else whole(block_length)
        count = parallel("interleave", num_parallel_calls)
        if width == AUTOTUNE:
            width = os.cpu_count() or 1
        if width < 1 or block < 1:
            raise InvalidArgumentError(
                "interleave: cycle_length and block_length must be greater than zero. "
                f"Received {width} and {block}."
            )
        ahead = block if count is not None and count > 1 and width > 1 else 0
        return self._with(
            lambda items: taking_turns(items, inner(map_func, "interleave"), width, block, ahead),
            lambda: self._inner_spec(map_func, "interleave"),
            UNKNOWN,
        )._as("_InterleaveDataset" if count is None else "_ParallelInterleaveDataset")

    @public
    def scan(self, initial_state: Any, scan_func: Any, name: str | None = None) -> Dataset:
        """What `scan_func(state, element)`, which gives a state and an output, puts out.

        Raises:
            TypeError: if it does not return a pair, or changes the dtype of the state.
        """
        require_callable(scan_func)
        first = as_element(initial_state)
        traced = Traced(scan_func)

        def outputs(items: Iterator[Any]) -> Iterator[Any]:
            state = first
            step = noted(lambda element: stepped(traced, state, element), "scan")
            for element in items:
                state, output = step(element)
                yield output

        return self._with(
            outputs,
            lambda: probed(lambda e: spec_of(stepped(traced, first, e)[1]), self.element_spec),
            self._size,
        )._as("_ScanDataset", traced)

    @public
    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """The state after `reduce_func(state, element)` has seen every element."""
        require_callable(reduce_func)
        state = as_element(initial_state)
        traced = Traced(reduce_func)
        step = noted(lambda element: traced.of((state, element)), "reduce")
        for element in self:
            after = step(element)
            check_state("reduce", state, after)
            state = after
        return state


def look_at(dataset: Dataset) -> None:
    """Trace the function of a dataset that is being made, as TensorFlow does.

    What gradtape says of stand-ins for elements may be due to them; it is left to the first one.
    """
    try:
        with quietly(), whole_tracebacks():
            _ = dataset.element_spec
    except NotQuietly:
        pass
    except Exception as error:
        if is_users(error):
            raise


def stepped(scan_func: Traced, state: Any, element: Any) -> tuple[Any, Any]:
    """The state and the output after one element."""
    result = scan_func.of((state, element))
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            "scan: Invalid `scan_func`. `scan_func` should return a pair consisting of new state "
            f"and the output value. Received {type(result)}."
        )
    check_state("scan", state, result[0])
    return result


def check_state(op: str, before: Any, after: Any) -> None:
    """A state must keep its structure and dtypes."""
    old, new = flatten(before), flatten(after)
    kinds = [getattr(leaf, "dtype", None) for leaf in old]
    found = [getattr(leaf, "dtype", None) for leaf in new]
    if kinds != found:
        raise TypeError(
            f"{op}: the new state must have the dtypes of the initial state, {kinds}. "
            f"Received {found}."
        )


def taking_turns(
    items: Iterator[Any], make: Any, width: int, block: int, ahead: int
) -> Iterator[Any]:
    """Elements of `width` datasets at a time, `block` of each; one that ends is replaced."""
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
                slot = slots[at] = Ahead(started, ahead) if ahead else started
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

    return Steps(step)
