"""What every dataset is: a way to start a pass, a spec of its elements, and their number."""

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
    """What the methods of a dataset, which are sorted by subject, build upon.

    Attributes:
        _start: starts a pass. It is called when an iterator is made, and calls that of the dataset
            before it, so that random orders are fixed then, as in TensorFlow.
        _rows: asked when a pass begins. Where elements are rows of tensors, it gives them and what
            starts a pass over their indices; otherwise None. Transformations that only choose or
            order elements work on indices.
        _ragged: whether a tensor of an element may be the row of a ragged one, which `batch` makes
            of them again; only then does it have to ask for the spec of elements.
        _seeds: what is random in the passes, here and in the datasets that this one is made of.
        _label: TensorFlow's name for this kind of dataset.
        _quiet: asked when a pass begins: whether elements are made out of what is in memory by
            graphs without effects, so that nobody can tell when.
    """

    kind: ClassVar[Any]  # Dataset, once it is defined

    def __init__(
        self,
        start: Start,
        spec: Callable[[], Any],
        size: int,
        options: Options | None = None,
    ) -> None:
        """Made by the methods, not directly."""
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
        """What describes the elements."""
        if self._known is None:
            self._known = self._spec()
        return self._known

    def _with(
        self,
        transform: Callable[[Iterator[Any]], Iterator[Any]],
        spec: Callable[[], Any] | None,
        size: int,
    ) -> Dataset:
        """A dataset of what `transform` makes of a pass over this one."""
        made: Dataset = Base.kind(
            lambda: transform(self._start()), spec or self._own_spec, size, self._options
        )
        made._seeds, made._ragged = self._seeds, self._ragged
        return made

    def _as(self, kind: str, *seeds: Chance) -> Dataset:
        """This dataset, known to be of a `kind`, with `seeds` of its own."""
        self._label, self._seeds = kind, self._seeds + seeds
        return self  # type: ignore[return-value]

    def _chosen(self, transform: Callable[[Iterator[Any]], Iterator[Any]], size: int) -> Dataset:
        """The same for a `transform` that looks at no element: it may as well get indices."""
        made = self._with(transform, None, size)
        made._quiet = self._quiet
        made._by_rows(self, lambda indices: lambda: transform(indices()))
        return made

    def _by_rows(self, before: Base, changed: Callable[[Start], Start]) -> None:
        """Pass on the rows of the dataset `before`, in an order that is `changed`."""
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
    """Elements that are not rows."""


def never() -> bool:
    """Elements that somebody may watch being made."""
    return False


def always() -> bool:
    """Elements that are there already."""
    return True


def made(
    start: Start,
    spec: Callable[[], Any],
    size: int,
    options: Any = None,
    before: Iterable[Base] = (),
) -> Dataset:
    """A new dataset, made of those `before` it."""
    dataset: Dataset = Base.kind(start, spec, size, options)
    dataset._seeds = tuple([seeds for other in before for seeds in other._seeds])
    dataset._ragged = any(other._ragged for other in before)
    return dataset


def whole(value: Any) -> int:
    """A Python integer, out of a number or a tensor."""
    return int(convert(value))
