"""Base class of datasets: how to start an iteration, the element spec, and the size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn

from gradtape.core import nest
from gradtape.core.argument import as_index
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.ledger import ledger
from gradtape.core.origin import note_dataset
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.graph.guard import ValueRead
from gradtape.pipeline.element.random_access import Rows
from gradtape.pipeline.element_type import E
from gradtape.pipeline.file_shard import FilePoint
from gradtape.pipeline.options import Options
from gradtape.pipeline.transformation.random_choice import RandomSource

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2

Start = Callable[[], Iterator[Any]]


class DatasetBase(CompositeTensor, Iterable[E], Generic[E]):
    """State and construction of datasets, shared by the classes that define the methods.

    Attributes:
        _start: starts an iteration. Creating an iterator calls it, and it calls the `_start` of its
            input datasets, so that random orders are fixed at that moment, as in TensorFlow.
        _find_rows: called at the start of an iteration. If the elements are rows of tensors, it
            returns the rows and a function that starts an iteration over their indices; otherwise
            None. Transformations that only select or reorder elements work on the indices.
        _has_ragged_rows: whether a tensor of an element may be a row of a ragged tensor. Only then
            must `batch` know the element spec, to stack such rows to a ragged tensor again.
        _random_sources: the random sources of this dataset and its input datasets.
        _file_point: where the names of files become their contents; None if there is no such place,
            or several.
        _tensorflow_name: TensorFlow's class name for this dataset.
        _inputs: the datasets from which this one is made.
        _batch_size: the number of rows of a full batch, if this dataset makes batches.
        _is_pure: called at the start of an iteration: whether elements are computed from data in
            memory by graphs without side effects, so that the time of computation does not matter.
    """

    dataset_class: ClassVar[Any]  # set to Dataset where that is defined

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
        self._cached_spec: Any = None
        self._size = size if type(size) is int else UNKNOWN
        self._options = options or Options()
        self._find_rows: Callable[[], tuple[Rows, Start] | None] = has_no_rows
        self._is_pure: Callable[[], bool] = is_never_pure
        self._has_ragged_rows = False
        self._random_sources: tuple[RandomSource, ...] = ()
        self._file_point: FilePoint | None = None
        self._inputs: tuple[DatasetBase, ...] = ()
        self._batch_size: int | None = None
        self._tensorflow_name = (
            "_VariantDataset" if type(self) is DatasetBase.dataset_class else type(self).__name__
        )
        if ledger.active:
            note_dataset(self)

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        if self._cached_spec is None:
            self._cached_spec = self._spec()
        return self._cached_spec

    def _transform(
        self,
        transform: Callable[[Iterator[Any]], Iterator[Any]],
        spec: Callable[[], Any] | None,
        size: int,
    ) -> Dataset:
        """Make a dataset whose iterations are `transform` of iterations over this one."""
        dataset: Dataset = DatasetBase.dataset_class(
            lambda: transform(self._start()), spec or self._get_element_spec, size, self._options
        )
        dataset._random_sources, dataset._has_ragged_rows = (
            self._random_sources,
            self._has_ragged_rows,
        )
        dataset._file_point, dataset._inputs = self._file_point, (self,)
        return dataset

    def _label_as(self, kind: str, *seeds: RandomSource) -> Dataset:
        """Set TensorFlow's class name, add random sources, and return this dataset."""
        self._tensorflow_name, self._random_sources = kind, self._random_sources + seeds
        return self  # type: ignore[return-value]

    def _select(self, transform: Callable[[Iterator[Any]], Iterator[Any]], size: int) -> Dataset:
        """`_with` for a `transform` that does not read elements: it may work on indices."""
        dataset = self._transform(transform, None, size)
        dataset._is_pure = self._is_pure
        dataset._use_rows_of(self, lambda indices: lambda: transform(indices()))
        return dataset

    def _use_rows_of(self, before: DatasetBase, changed: Callable[[Start], Start]) -> None:
        """Use the rows of the dataset `before`, with its indices transformed by `changed`."""
        start = self._start

        def rows() -> tuple[Rows, Start] | None:
            found = before._find_rows()
            return None if found is None else (found[0], changed(found[1]))

        def elements() -> Iterator[Any]:
            found = rows()
            if found is None or not found[0].is_in_memory:
                return start()
            return map(found[0].__getitem__, found[1]())

        self._find_rows, self._start = rows, elements

    def _get_element_spec(self) -> Any:
        return self.element_spec


def has_no_rows() -> None:
    """The default of `_rows`: elements are not rows of tensors."""


def is_never_pure() -> bool:
    """The default of `_is_pure`: computing elements may have side effects."""
    return False


def is_always_pure() -> bool:
    """A value of `_is_pure`: all elements are in memory."""
    return True


def has_no_value(element: Any) -> bool:
    """Whether an element has tensors of a trace without values."""
    leaves = nest.flatten(element, expand_composites=True)
    return any(isinstance(t, SymbolicTensor) and t._array.trace.is_abstract for t in leaves)


def as_static_size(size: Any) -> int | None:
    """A size in an element spec; None if it is unknown."""
    return size if type(size) is int else None


def make_spec_dataset(spec: Any) -> Dataset:
    """Make a dataset that has only a spec, in a trace without values."""
    return make_dataset(refuse_iteration, lambda: spec, UNKNOWN)


def refuse_iteration() -> NoReturn:
    """Refuse to start an iteration over a dataset that has only a spec."""
    raise ValueRead("elements of a dataset")


def make_dataset(
    start: Start,
    spec: Callable[[], Any],
    size: int,
    options: Any = None,
    before: Iterable[DatasetBase] = (),
) -> Dataset:
    """Make a dataset with the input datasets `before`."""
    dataset: Dataset = DatasetBase.dataset_class(start, spec, size, options)
    dataset._inputs = before = tuple(before)
    dataset._random_sources = tuple([seeds for other in before for seeds in other._random_sources])
    dataset._has_ragged_rows = any(other._has_ragged_rows for other in before)
    points = [other._file_point for other in before]
    dataset._file_point = points[0] if len(points) == 1 else None
    return dataset


def as_python_int(value: Any) -> int:
    """Convert an integer or a scalar tensor of one to a Python integer.

    In a trace without values, a tensor gives an unknown positive size.
    """
    if has_no_value(value):
        unknown: Any = value._array.trace.sizes.make_unknown(least=1, from_data=True)
        return unknown
    number = as_index(convert(value), "A number of elements")
    if number >= 2**63:
        raise ValueError(f"A number of elements must be below 2**63. Received {number}.")
    return number
