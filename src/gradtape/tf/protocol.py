"""How type checkers see the public functions that are generated rather than written out."""

from __future__ import annotations

from typing import Any, Protocol

from gradtape.core.tensor import Tensor


class Unary(Protocol):
    """A function of one tensor."""

    def __call__(self, x: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class OfInput(Protocol):
    """A function of one tensor, called `input`."""

    def __call__(self, input: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class OfFeatures(Protocol):
    """A function of one tensor, called `features`."""

    def __call__(self, features: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class Binary(Protocol):
    """A function of two tensors that broadcast."""

    def __call__(self, x: Any, y: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class OfOrdinate(Protocol):
    """A function of the coordinates of points, the second before the first."""

    def __call__(self, y: Any, x: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class OfOrder(Protocol):
    """A function of one tensor, with an order or a shape."""

    def __call__(self, a: Any, x: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class OfShift(Protocol):
    """A function of one tensor and a shift."""

    def __call__(self, x: Any, q: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class OfNumbers(Protocol):
    """A function of two tensors with numbered names."""

    def __call__(self, x1: Any, x2: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class Reduction(Protocol):
    """A reduction along axes."""

    def __call__(
        self, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
    ) -> Tensor:
        """Apply it."""


class Running(Protocol):
    """A reduction of all elements so far."""

    def __call__(
        self,
        x: Any,
        axis: Any = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Apply it."""


class OfSegments(Protocol):
    """A reduction of the rows of each segment."""

    def __call__(self, data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class OfUnsortedSegments(Protocol):
    """A reduction of the rows of each segment, in any order."""

    def __call__(
        self, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
    ) -> Tensor:
        """Apply it."""


class OfChosenRows(Protocol):
    """A reduction of chosen rows of each segment."""

    def __call__(
        self,
        data: Any,
        indices: Any,
        segment_ids: Any,
        num_segments: Any = None,
        name: str | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor:
        """Apply it."""
