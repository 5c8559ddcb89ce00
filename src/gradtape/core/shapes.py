"""TensorShape, which may be partially known, and functions for axes and broadcasting."""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, overload

from gradtape.core.dimension import Dimension, Size, as_size
from gradtape.core.errors import InvalidArgumentError, OperatorNotAllowedInGraphError, public


class TensorShape:
    """The shape of a tensor: its rank and sizes, as far as they are known."""

    __slots__ = ("_dims",)
    _dims: tuple[Size, ...] | None

    def __init__(self, dims: Any) -> None:
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            entries = dims if isinstance(dims, (list, tuple)) or is_iterable(dims) else (dims,)
            self._dims = tuple(as_size(size) for size in entries)

    @staticmethod
    def from_tuple(dims: tuple[Size, ...] | None) -> "TensorShape":
        """The shape with these sizes, which are not checked."""
        shape = _new_shape(TensorShape)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of axes, or None."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as Dimensions of TensorFlow 1, or None."""
        return None if self._dims is None else [Dimension(size) for size in self._dims]

    def as_list(self) -> list[Any]:  # Any: users do not check for None
        """The sizes, each an integer or None."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError if a size is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def num_elements(self) -> int | None:
        """The number of elements, or None if it is unknown."""
        return math.prod(self._dims) if self.is_fully_defined() else None  # type: ignore[arg-type]

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a fully known shape can match both.

        Args:
            other: a shape, or what can be converted to one.

        Returns:
            True if it is compatible.
        """
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None:
            return True
        return len(self._dims) == len(theirs) and all(
            x == y or x is None or y is None for x, y in zip(self._dims, theirs, strict=True)
        )

    @public
    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError if no fully known shape can match both.

        Args:
            other: a shape, or what can be converted to one.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    @public
    def merge_with(self, other: Any) -> "TensorShape":
        """The shape with every size that either shape knows.

        Args:
            other: a compatible shape, or what can be converted to one.

        Returns:
            A new `TensorShape`.
        """
        shape = as_shape(other)
        if not self.is_compatible_with(shape):
            raise ValueError(f"Shapes {self} and {shape} are not compatible")
        if self._dims is None:
            return shape
        if shape._dims is None:
            return self
        pairs = zip(self._dims, shape._dims, strict=True)
        return TensorShape.from_tuple(tuple(y if x is None else x for x, y in pairs))

    @public
    def concatenate(self, other: Any) -> "TensorShape":
        """The axes of this shape, then those of `other`; unknown if either is.

        Args:
            other: a shape, or what can be converted to one.

        Returns:
            A new `TensorShape`.
        """
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return unknown_shape()
        return TensorShape.from_tuple(self._dims + other._dims)

    __add__ = concatenate

    def __radd__(self, other: Any) -> "TensorShape":
        return as_shape(other).concatenate(self)

    @public
    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if both ranks are known and differ.

        Args:
            other: a shape, or what can be converted to one.
        """
        other = as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    @public
    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if the rank is known and is not `rank`.

        Args:
            rank: the expected rank.
        """
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    @public
    def with_rank(self, rank: int) -> "TensorShape":
        """This shape, or one of `rank` unknown sizes if the rank is unknown.

        Args:
            rank: the expected rank.

        Returns:
            A `TensorShape` of this rank.
        """
        self.assert_has_rank(rank)
        return unknown_shape(rank) if self._dims is None else self

    @public
    def with_rank_at_least(self, rank: int) -> "TensorShape":
        """This shape, if its rank may be `rank` or more.

        Args:
            rank: the least rank.

        Returns:
            This `TensorShape`.
        """
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    @public
    def with_rank_at_most(self, rank: int) -> "TensorShape":
        """This shape, if its rank may be `rank` or less.

        Args:
            rank: the greatest rank.

        Returns:
            This `TensorShape`.
        """
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    @public
    def most_specific_compatible_shape(self, other: Any) -> "TensorShape":
        """The sizes that both shapes share; the others are unknown.

        Args:
            other: a shape, or what can be converted to one.

        Returns:
            A `TensorShape` of unknown rank if the ranks differ.
        """
        mine, theirs = self._dims, as_shape(other)._dims
        if mine is None or theirs is None or len(mine) != len(theirs):
            return unknown_shape()
        return TensorShape.from_tuple(
            tuple(x if x == y else None for x, y in zip(mine, theirs, strict=True))
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> "TensorShape | None":
        """The most specific shape that describes this one and all of `others`.

        Args:
            others: a sequence of shapes.

        Returns:
            A `TensorShape`.
        """
        if not all(isinstance(other, TensorShape) for other in others):
            return None
        shape = self
        for other in others:
            shape = shape.most_specific_compatible_shape(other)
        return shape

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` describes every shape that this one describes.

        Args:
            other: another `TensorShape`.

        Returns:
            True if `other` is at least as general as this shape.
        """
        return isinstance(other, TensorShape) and (
            other.most_specific_compatible_shape(self) == other
        )

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        """Whether the rank is known."""
        return self._dims is not None

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    @overload
    def __getitem__(self, key: slice) -> "TensorShape": ...

    @overload
    def __getitem__(self, key: int) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        if self._dims is not None:
            found = self._dims[key]
            return TensorShape.from_tuple(found) if isinstance(key, slice) else found
        if not isinstance(key, slice):
            return None
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = 0 if key.start is None else key.start
        if key.stop is None or start < 0 or key.stop < 0:
            return unknown_shape()
        return unknown_shape(key.stop - start)

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> tuple[type["TensorShape"], tuple[tuple[Size, ...] | None]]:
        return TensorShape, (self._dims,)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)


_new_shape: Callable[[type[TensorShape]], TensorShape] = object.__new__


def as_shape(shape: Any) -> TensorShape:
    """`shape` as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of unknown rank, or of `rank` unknown sizes."""
    return TensorShape.from_tuple(None if rank is None else (None,) * rank)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two shapes broadcast to, as far as it is known."""
    x, y = as_shape(shape_x), as_shape(shape_y)
    if x._dims is None or y._dims is None:
        return unknown_shape()
    pairs = list(zip_longest(reversed(x._dims), reversed(y._dims), fillvalue=1))
    if any(a != b and not {a, b} & {1, None} for a, b in pairs):
        raise ValueError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension "
            f"pair they are either equal or one of them is 1. Received: {x} and {y}."
        )
    return TensorShape.from_tuple(tuple(_broadcast_size(a, b) for a, b in reversed(pairs)))


def _broadcast_size(x: Size, y: Size) -> Size:
    """The size that compatible `x` and `y` broadcast to."""
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    known = x or y or 0
    return known if known > 1 else None  # an unknown size next to 0 is 0 or 1


def normalize_axis(axis: Any, rank: int, op: str) -> int:
    """`axis` as a negative number, for an input of `rank` axes; -1 is the last axis."""
    try:
        position = operator.index(axis)
    except OperatorNotAllowedInGraphError:
        raise
    except TypeError:
        kind = InvalidArgumentError if getattr(axis, "ndim", 0) else TypeError
        raise kind(f"{op}: axis must be an integer. Received {axis!r:.60}.") from None
    if not -rank <= position < rank:
        raise InvalidArgumentError(
            f"{op}: axis must lie in [{-rank}, {rank}). Received {position} for an input with "
            f"{rank} dimension(s)."
        )
    return position - rank if position >= 0 else position


def is_iterable(value: Any) -> bool:
    """Whether a value has entries: not a scalar tensor or array, nor a string."""
    if getattr(value, "shape", None) == ():
        return False
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def normalize_axes(axis: Any, rank: int, op: str) -> tuple[int, ...]:
    """One or several axes as negative numbers; all axes for None."""
    if axis is None:
        return tuple(range(-rank, 0))
    if isinstance(axis, int) or not is_iterable(axis):
        return (normalize_axis(axis, rank, op),)
    axes = tuple(normalize_axis(entry, rank, op) for entry in axis)
    if len(set(axes)) < len(axes):
        raise InvalidArgumentError(f"{op}: the axes must be unique. Received axes {axis}.")
    return axes
