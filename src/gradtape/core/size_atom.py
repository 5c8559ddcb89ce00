"""Atoms of symbolic sizes: unknown sizes, and functions of two sizes that are no polynomials."""

from __future__ import annotations

from itertools import count
from typing import Any

Monomial = tuple["Atom", ...]


Terms = tuple[tuple[Monomial, int], ...]


_orders = count()


class Atom:
    """A factor of a term: an integer that is not known.

    Attributes:
        context: the SizeContext that decides comparisons of the atom.
        order: position in the order of creation, which sorts factors and terms.
    """

    __slots__ = ("context", "order")
    context: Any
    order: int


class Unknown(Atom):
    """A size that the caller gives, or that only the data determines.

    Attributes:
        name: how messages name it.
        least: the smallest size it may have.
        from_data: whether an op finds the size in its data, so no argument's shape gives it.
    """

    __slots__ = ("from_data", "least", "name")

    def __init__(self, context: Any, name: str, least: int, from_data: bool) -> None:
        """Make an unknown of `context`; use `SizeContext.make_unknown`."""
        self.context, self.name, self.least, self.from_data = context, name, least, from_data
        self.order = next(_orders)

    def __repr__(self) -> str:
        return self.name


class Compound(Atom):
    """A function of two expressions that is not a polynomial.

    Attributes:
        kind: the key of the function in `SIZE_FUNCTIONS`.
        a, b: the operands; each an int or a Dim, and at least one a Dim.
    """

    __slots__ = ("a", "b", "kind")

    def __init__(self, context: Any, kind: str, a: Any, b: Any) -> None:
        """Make an atom; use those in `SIZE_FUNCTIONS`, which simplify."""
        self.context, self.kind, self.a, self.b = context, kind, a, b
        self.order = next(_orders)

    def __repr__(self) -> str:
        if self.kind in ("//", "%"):
            return f"({_show_operand(self.a)} {self.kind} {_show_operand(self.b)})"
        return f"{self.kind}({self.a}, {self.b})"


def _show_operand(x: Any) -> str:
    """`x`, in parentheses if it is a Dim of more than one term or factor."""
    terms = getattr(x, "terms", ())
    is_sum = len(terms) > 1 or any(c != 1 or len(monomial) > 1 for monomial, c in terms)
    return f"({x})" if is_sum else f"{x}"
