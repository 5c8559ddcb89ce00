"""Base class of datasets: how to start an iteration, the element spec, and the size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.pipeline.element.random_access import Rows
from gradtape.pipeline.options import Options
from gradtape.pipeline.transformation.random_choice import Chance

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2

Start = Callable[[], Iterator[Any]]


class Base(CompositeTensor, Iterable[Any]):
    """State and construction of datasets, shared by the classes that define the methods.

    Attributes:
        _start: starts an iteration. Creating an iterator calls it, and it calls the `_start` of its
            input datasets, so that random orders are fixed at that moment, as in TensorFlow.
        _rows: called at the start of an iteration. If the elements are rows of tensors, it returns
            the rows and a function that starts an iteration over their indices; otherwise None.
            Transformations that only select or reorder elements work on the indices.
        _ragged: whether a tensor of an element may be a row of a ragged tensor. Only then must
            `batch` know the element spec, to stack such rows to a ragged tensor again.
        _seeds: the random sources of this dataset and its input datasets.
        _label: TensorFlow's class name for this dataset.
        _quiet: called at the start of an iteration: whether elements are computed from data in
            memory by graphs without side effects, so that the time of computation does not matter.
    """

    kind: ClassVar[Any]  # set to Dataset where that is defined

    def __init__(
        self,
        start: Start,
        spec: Callable[[], Any],
        size: int,
        options: Options | None = None,
    ) -> None:
        """Called by the methods that make datasets, not by users."""
        self._start = start
        self._spec = spec
        self._known: Any = None
        self._size = size
        self._options = options or Options()
        self._rows: Callable[[], tuple[Rows, Start] | None] = nothing
        self._quiet: Callable[[], bool] = never
        self._ragged = False
        self._seeds: tuple[Chance, ...] = ()
        self._label = "_VariantDataset" if type(self) is Base.kind else type(self).__name__

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        if self._known is None:
            self._known = self._spec()
        return self._known

    def _with(
        self,
        transform: Callable[[Iterator[Any]], Iterator[Any]],
        spec: Callable[[], Any] | None,
        size: int,
    ) -> Dataset:
        """Make a dataset whose iterations are `transform` of iterations over this one."""
        dataset: Dataset = Base.kind(
            lambda: transform(self._start()), spec or self._own_spec, size, self._options
        )
        dataset._seeds, dataset._ragged = self._seeds, self._ragged
        return dataset

    def _as(self, kind: str, *seeds: Chance) -> Dataset:
        """Set TensorFlow's class name, add random sources, and return this dataset."""
        self._label, self._seeds = kind, self._seeds + seeds
        return self  # type: ignore[return-value]

    def _chosen(self, transform: Callable[[Iterator[Any]], Iterator[Any]], size: int) -> Dataset:
        """`_with` for a `transform` that does not read elements: it may work on indices."""
        dataset = self._with(transform, None, size)
        dataset._quiet = self._quiet
        dataset._by_rows(self, lambda indices: lambda: transform(indices()))
        return dataset

    def _by_rows(self, before: Base, changed: Callable[[Start], Start]) -> None:
        """Use the rows of the dataset `before`, with its indices transformed by `changed`."""
        start = self._start

        def rows() -> tuple[Rows, Start] | None:
            found = before._rows()
            return None if found is None else (found[0], changed(found[1]))

        def elements() -> Iterator[Any]:
            found = rows()
            if found is None or not found[0].at_hand:
                return start()
            return map(found[0].__getitem__, found[1]())

        self._rows, self._start = rows, elements

    def _own_spec(self) -> Any:
        return self.element_spec


def nothing() -> None:
    """The default of `_rows`: elements are not rows of tensors."""


def never() -> bool:
    """The default of `_quiet`: computing elements may have side effects."""
    return False


def always() -> bool:
    """A value of `_quiet`: all elements are in memory."""
    return True


def made(
    start: Start,
    spec: Callable[[], Any],
    size: int,
    options: Any = None,
    before: Iterable[Base] = (),
) -> Dataset:
    """Make a dataset with the input datasets `before`."""
    dataset: Dataset = Base.kind(start, spec, size, options)
    dataset._seeds = tuple([seeds for other in before for seeds in other._seeds])
    dataset._ragged = any(other._ragged for other in before)
    return dataset


def whole(value: Any) -> int:
    """Convert a number or a tensor to a Python integer."""
    return int(convert(value))
