"""Shapes and other values that may hold symbolic sizes: comparison, broadcasting, substitution."""

from __future__ import annotations

from typing import Any

from gradtape.core.dims import Dim
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.size_atom import Unknown
from gradtape.core.size_function import (
    Env,
    SizeMismatchError,
    broadcast_sizes,
    evaluate,
    max_size,
    min_size,
    unknowns_in_dim,
)

Shape = tuple[Any, ...]
"""Sizes of axes, each an int or a Dim."""


def is_same_shape(a: Shape, b: Shape) -> bool:
    """Whether two shapes are equal; shapes of different ranks are, without comparing sizes.

    `a == b` of tuples compares sizes first and would record needless assumptions.
    """
    return a is b or (
        len(a) == len(b)
        # all known sizes before any unknown one
        and all(m == n for m, n in zip(a, b, strict=True) if type(m) is type(n) is int)
        and all(m == n for m, n in zip(a, b, strict=True) if not type(m) is type(n) is int)
    )


def is_identical_size(a: Any, b: Any) -> bool:
    """Whether two sizes are the same number or expression; nothing is assumed."""
    if type(a) is Dim and type(b) is Dim:
        return a.terms == b.terms
    return type(a) is type(b) and bool(a == b)


def assume_same_shape(a: Shape, b: Shape) -> bool:
    """Whether two shapes are equal; unknown sizes are assumed to be, if nothing contradicts."""
    if len(a) != len(b):
        return False
    pairs = [(m, n) for m, n in zip(a, b, strict=True) if m is not n]
    if any(m != n for m, n in pairs if type(m) is type(n) is int):
        return False
    open_pairs = [(m, n) for m, n in pairs if not type(m) is type(n) is int]
    return all((m if type(m) is Dim else n).context.assume_equal(m, n) for m, n in open_pairs)


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that shapes broadcast to; raises InvalidArgumentError if they cannot."""
    if len(shapes) == 1:
        return tuple(shapes[0])
    longest: Shape = max(shapes, key=len)
    result = list(longest)
    for shape in shapes:
        for i in range(-1, -len(shape) - 1, -1):
            a, b = result[i], shape[i]
            if a is b:
                continue
            try:
                result[i] = broadcast_sizes(a, b)
            except SizeMismatchError:
                raise InvalidArgumentError(
                    "Incompatible shapes: sizes must be equal or 1 to broadcast. Received "
                    f"{' and '.join(map(show_shape, shapes))}."
                ) from None
    return tuple(result)


def slice_size(key: slice, n: Any) -> Any:
    """The number of elements that a slice selects from an axis of size `n`."""
    if not has_dims(key) and type(n) is int:
        return len(range(*key.indices(n)))
    step = 1 if key.step is None else key.step
    if step < 0:
        start = n - 1 if key.start is None else _clip_position(key.start, n, -1, n - 1)
        stop = -1 if key.stop is None else _clip_position(key.stop, n, -1, n - 1)
        return max_size((start - stop - step - 1) // -step, 0)
    start = 0 if key.start is None else _clip_position(key.start, n, 0, n)
    stop = n if key.stop is None else _clip_position(key.stop, n, 0, n)
    return max_size((stop - start + step - 1) // step, 0)


def _clip_position(at: Any, n: Any, low: Any, high: Any) -> Any:
    """A position in an axis of size `n`, within bounds; a negative one counts from the end."""
    return min_size(max_size(at + n if at < 0 else at, low), high)


def simplify_shape(shape: Shape) -> Shape:
    """`shape` with numbers in place of symbolic sizes that assumptions determine."""
    if Dim not in map(type, shape):
        return shape
    return tuple([n.context.simplify(n) if type(n) is Dim else n for n in shape])


def resolve_size(size: Any, expected: int) -> int:
    """`size` as a number; an unknown size is assumed to be `expected`, if nothing contradicts."""
    if type(size) is Dim and not size.context.assume_equal(size, expected):
        return int(size)
    return expected if type(size) is Dim else size


def fits_shape(shape: Shape, known: Any) -> bool:
    """Whether a shape, perhaps of unknown sizes, is one that a TensorShape describes."""
    if known.rank is None:
        return True
    return len(shape) == known.rank and all(
        m is None or n == m for n, m in zip(shape, known, strict=True)
    )


def hide_dims(shape: Shape) -> tuple[int | None, ...]:
    """The shape that users see: None in place of symbolic sizes."""
    return tuple([None if type(n) is Dim else n for n in shape])


def show_shape(shape: Shape) -> str:
    """The shape as TensorFlow's messages show it, such as `[?,3]`."""
    return "[" + ",".join("?" if type(n) is Dim else str(n) for n in shape) + "]"


def has_dims(value: Any) -> bool:
    """Whether `value` is or holds a symbolic size, in tuples, lists and slices.

    Other objects may have a method `has_dims`.
    """
    kind = type(value)
    if kind is Dim:
        return True
    if kind is int or kind is str or kind is bool or value is None:
        return False
    if isinstance(value, (tuple, list)):
        return any(map(has_dims, value))
    if kind is slice:
        return Dim in (type(value.start), type(value.stop), type(value.step))
    own = getattr(kind, "has_dims", None)
    return own is not None and bool(own(value))


def substitute(value: Any, env: Env) -> Any:
    """`value` with the sizes of `env` in place of unknowns, in tuples, lists and slices.

    Other objects may have a method `substitute_dims(env)`.
    """
    kind = type(value)
    if kind is int or kind is str or kind is bool or value is None:
        return value
    if kind is Dim:
        return evaluate(value, env)
    if kind is tuple or kind is list:
        return kind([substitute(item, env) for item in value])
    if kind is slice:
        return slice(*[substitute(x, env) for x in (value.start, value.stop, value.step)])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*[substitute(item, env) for item in value])
    own = getattr(kind, "substitute_dims", None)
    return value if own is None else own(value, env)


def unknowns_in(value: Any) -> set[Unknown]:
    """The unknowns of the symbolic sizes in `value`, as `has_dims` finds them."""
    kind = type(value)
    if kind is Dim:
        return unknowns_in_dim(value)
    if isinstance(value, (tuple, list)):
        return set().union(*map(unknowns_in, value))
    if kind is slice:
        return unknowns_in((value.start, value.stop, value.step))
    own = getattr(kind, "unknowns_in_dims", None)
    return set() if own is None else own(value)


def bind_shape(shape: Shape, actual: tuple[int, ...], env: Env) -> bool:
    """Add to `env` the sizes that `actual` gives the unknowns of `shape`.

    Returns whether `actual` fits: the ranks and known sizes are equal, and an unknown has one size.
    An expression of unknowns that are not in `env` fits any size.
    """
    if len(shape) != len(actual):
        return False
    for size, given in zip(shape, actual, strict=True):
        unknown = as_unknown(size)
        if unknown is not None:
            env.setdefault(unknown, given)
        known = evaluate(size, env)
        if type(known) is not Dim and known != given:
            return False
    return True


def as_unknown(size: Any) -> Unknown | None:
    """The unknown that `size` is; None if it is a number or an expression."""
    if type(size) is not Dim or len(size.terms) > 1 or size.terms[0][1] != 1:
        return None
    monomial = size.terms[0][0]
    return monomial[0] if len(monomial) == 1 and isinstance(monomial[0], Unknown) else None
