"""Call signatures, for type checkers, of the public functions that factories generate."""

from __future__ import annotations

from typing import Any, Protocol

from gradtape.core.tensor import Tensor


class UnaryOp(Protocol):
    """A function of one tensor."""

    def __call__(self, x: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class UnaryInputOp(Protocol):
    """A function of one tensor whose parameter is named `input`."""

    def __call__(self, input: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class UnaryFeaturesOp(Protocol):
    """A function of one tensor whose parameter is named `features`."""

    def __call__(self, features: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class BinaryOp(Protocol):
    """A function of two tensors that broadcast."""

    def __call__(self, x: Any, y: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class BinaryYXOp(Protocol):
    """A function of coordinates with `y` before `x`, such as `atan2`."""

    def __call__(self, y: Any, x: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class BinaryAXOp(Protocol):
    """A function of a parameter `a` and a tensor `x`, such as `igamma` and `polygamma`."""

    def __call__(self, a: Any, x: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class BinaryXQOp(Protocol):
    """A function of a tensor `x` and a shift `q`, such as `zeta`."""

    def __call__(self, x: Any, q: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class BinaryX1X2Op(Protocol):
    """A function of two tensors named `x1` and `x2`."""

    def __call__(self, x1: Any, x2: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class ReductionOp(Protocol):
    """A reduction along axes."""

    def __call__(
        self, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
    ) -> Tensor:
        """Apply it."""


class CumulativeOp(Protocol):
    """A cumulative reduction along an axis."""

    def __call__(
        self,
        x: Any,
        axis: Any = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        """Apply it."""


class SegmentOp(Protocol):
    """A reduction of the rows of each segment; segment ids are sorted."""

    def __call__(self, data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        """Apply it."""


class UnsortedSegmentOp(Protocol):
    """A reduction of the rows of each segment; segment ids come in any order."""

    def __call__(
        self, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
    ) -> Tensor:
        """Apply it."""


class SparseSegmentOp(Protocol):
    """A reduction of the rows that `indices` selects, for each segment."""

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
