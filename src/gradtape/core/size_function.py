"""Functions of sizes beside arithmetic: maximum, minimum, broadcasting and evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.dims import Dim, _divide_unchecked, _term_key, interval_of, make_compound
from gradtape.core.size_atom import Atom, Compound, Unknown

Env = dict["Unknown", Any]


"""Sizes of unknowns, each an int or a Dim of another context."""


class SizeMismatchError(Exception):
    """Two sizes do not broadcast."""


def evaluate(x: Any, env: Env) -> Any:
    """The size `x` with the sizes of `env` in place of unknowns: an int if all are there."""
    if type(x) is not Dim:
        return x
    total: Any = 0
    for monomial, c in x.terms:
        product: Any = c
        for atom in monomial:
            product = product * evaluate_atom(atom, env)
        total = total + product
    return total


def evaluate_atom(atom: Atom, env: Env) -> Any:
    """The value of an atom, an int or a Dim; an unknown that is not in `env` stays."""
    if isinstance(atom, Compound):
        return SIZE_FUNCTIONS[atom.kind](evaluate(atom.a, env), evaluate(atom.b, env))
    assert isinstance(atom, Unknown)
    value = env.get(atom)
    return Dim((((atom,), 1),)) if value is None else value


def unknowns_in_dim(x: Any) -> set[Unknown]:
    """The unknowns of which a size is made."""
    found: set[Unknown] = set()
    for monomial, _ in x.terms if type(x) is Dim else ():
        for atom in monomial:
            if isinstance(atom, Compound):
                found |= unknowns_in_dim(atom.a) | unknowns_in_dim(atom.b)
            elif isinstance(atom, Unknown):
                found.add(atom)
    return found


def _sort_operands(a: Any, b: Any) -> tuple[Any, Any]:
    """The operands of a commutative function in a fixed order: numbers last."""
    if type(a) is not Dim:
        return b, a
    if type(b) is Dim and [_term_key(t) for t in b.terms] < [_term_key(t) for t in a.terms]:
        return b, a
    return a, b


def max_size(a: Any, b: Any) -> Any:
    """The larger of two sizes, which records no assumption."""
    if type(a) is int and type(b) is int:
        return max(a, b)
    low, high = interval_of(a - b)
    if low is not None and low >= 0:
        return a
    if high is not None and high <= 0:
        return b
    return make_compound("max", *_sort_operands(a, b))


def min_size(a: Any, b: Any) -> Any:
    """The smaller of two sizes, which records no assumption."""
    if type(a) is int and type(b) is int:
        return min(a, b)
    low, high = interval_of(a - b)
    if low is not None and low >= 0:
        return b
    if high is not None and high <= 0:
        return a
    return make_compound("min", *_sort_operands(a, b))


def broadcast_sizes(a: Any, b: Any) -> Any:
    """The size that two sizes broadcast to, which records no assumption.

    Next to a size of 2 or more, an unknown size is 1 or equal to it. Kernels check that.
    """
    if type(a) is int and type(b) is int:
        if a != b and a != 1 and b != 1:
            raise SizeMismatchError(f"Sizes {a} and {b} do not broadcast.")
        return b if a == 1 else a
    for x, y in ((a, b), (b, a)):
        low, high = interval_of(x)
        if low == high == 1:
            return y
        if (low is not None and low >= 2) or high == 0:
            return x
    if interval_of((a if type(a) is Dim else b).context.simplify(a - b)) == (0, 0):
        return a
    return make_compound("broadcast", *_sort_operands(a, b))


SIZE_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "//": lambda a, b: _divide_unchecked(a, b)[0],
    "%": lambda a, b: _divide_unchecked(a, b)[1],
    "max": max_size,
    "min": min_size,
    "broadcast": broadcast_sizes,
}


"""The functions that make compound atoms, by the kind of the atom."""
