"""What every dataset is: a way to start a pass, a spec of its elements, and their number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from gradtape.core.composite import CompositeTensor
from gradtape.core.convert import convert
from gradtape.pipeline.element import Rows
from gradtape.pipeline.options import Options

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
        _rows: where elements are rows of tensors: the tensors, and what starts a pass over the
            indices of the rows. Transformations that only choose or order elements work on indices.
        _ragged: whether a tensor of an element may be the row of a ragged one, which `batch` makes
            of them again; only then does it have to ask for the spec of elements.
    """

    kind: ClassVar[Any]  # Dataset, once it is defined

    def __init__(
        self,
        start: Start,
        spec: Callable[[], Any],
        size: int,
        options: Options | None = None,
        rows: tuple[Rows, Start] | None = None,
    ) -> None:
        """Made by the methods, not directly."""
        self._start = start
        self._spec = spec
        self._known: Any = None
        self._size = size
        self._options = options or Options()
        self._rows = rows
        self._ragged = False

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
        made._ragged = self._ragged
        return made

    def _chosen(self, transform: Callable[[Iterator[Any]], Iterator[Any]], size: int) -> Dataset:
        """The same for a `transform` that looks at no element: it may as well get indices."""
        made = self._with(transform, None, size)
        if self._rows is not None:
            rows, indices = self._rows
            made._rows = rows, lambda: transform(indices())
            made._start = lambda: map(rows.__getitem__, transform(indices()))
        return made

    def _own_spec(self) -> Any:
        return self.element_spec


def made(
    start: Start,
    spec: Callable[[], Any],
    size: int,
    options: Any = None,
    among: Iterable[Base] = (),
) -> Dataset:
    """A new dataset, whose elements come from those of `among`."""
    dataset: Dataset = Base.kind(start, spec, size, options)
    dataset._ragged = any(one._ragged for one in among)
    return dataset


def whole(value: Any) -> int:
    """A Python integer, out of a number or a tensor."""
    return int(convert(value))
