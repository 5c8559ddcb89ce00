"""`Dim`, a symbolic size: a polynomial with integer coefficients over atoms.

An atom is an unknown size, or the floor division, remainder, maximum, minimum or broadcast of two
expressions. Arithmetic is exact and gives normal forms: `n + n` is `2*n`, `2*n//2` is `n`, and
`n - n` is the int 0. A `Dim` is never a constant: such an expression is a plain `int`.

A `Dim` is not an `int`, so that C code cannot read a value unseen. `__index__` pins the size to
its hint, and comparisons that cannot be proved are decided by a `SizeContext`, which records the
answer as an assumption (`core/size_context.py`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from gradtape.core.interval import INTERVALS, Interval, largest, multiply_intervals, smallest
from gradtape.core.ports import SizePort
from gradtape.core.size_atom import Atom, Compound, Monomial, Terms

SizeSource = tuple[int, int | None]
"""Where a size is found: the number of a value and an axis; None if the value is the size."""


class UnknownSizeError(Exception):
    """A number is needed where a size is not known.

    It derives from no other class, so that handlers of TypeError and ValueError do not catch it.
    """


class Dim:
    """A size that is an expression of unknowns; see the module.

    Attributes:
        terms: pairs of a monomial (a tuple of atoms in order) and a coefficient that is not zero,
            sorted; the constant has the monomial `()` and comes last.
    """

    __slots__ = ("_hash", "terms")
    __array_ufunc__ = None  # NumPy's scalars and arrays leave operators to this class
    terms: Terms

    def __init__(self, terms: Terms) -> None:
        """Take sorted terms; `make_dim` sorts them."""
        self.terms = terms
        self._hash = 0

    @property
    def context(self) -> Any:
        """The SizeContext of the first unknown."""
        return self.terms[0][0][0].context

    def __add__(self, other: Any) -> Any:
        other = as_operand(other)
        terms = dict(self.terms)
        if type(other) is int:
            terms[()] = terms.get((), 0) + other
        elif type(other) is Dim:
            for monomial, c in other.terms:
                terms[monomial] = terms.get(monomial, 0) + c
        else:
            return compute_pinned(operator.add, self, other)
        return make_dim(terms)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Dim(tuple([(monomial, -c) for monomial, c in self.terms]))

    def __pos__(self) -> Dim:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __sub__(self, other: Any) -> Any:
        other = as_operand(other)
        if type(other) is int or type(other) is Dim:
            return self + (-other)
        return compute_pinned(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        other = as_operand(other)
        if type(other) is int:
            return Dim(tuple([(m, c * other) for m, c in self.terms])) if other else 0
        if type(other) is not Dim:
            return compute_pinned(operator.mul, self, other)
        terms: dict[Monomial, int] = {}
        for m, c in self.terms:
            for n, d in other.terms:
                key = tuple(sorted(m + n, key=_order_of))
                terms[key] = terms.get(key, 0) + c * d
        return make_dim(terms)

    __rmul__ = __mul__

    def __pow__(self, exponent: Any) -> Any:
        result: Any = 1
        for _ in range(exponent):
            result = result * self
        return result

    def __floordiv__(self, other: Any) -> Any:
        return divide(self, other)[0]

    def __rfloordiv__(self, other: Any) -> Any:
        return divide(other, self)[0]

    def __mod__(self, other: Any) -> Any:
        return divide(self, other)[1]

    def __rmod__(self, other: Any) -> Any:
        return divide(other, self)[1]

    def __divmod__(self, other: Any) -> Any:
        return divide(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return divide(other, self)

    def __truediv__(self, other: Any) -> Any:
        return compute_pinned(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return compute_pinned(lambda a, b: b / a, self, other)

    def __eq__(self, other: object) -> Any:
        if type(other) is Dim and self.terms == other.terms:
            return True
        difference = self.__sub__(other)
        if difference is NotImplemented:
            return NotImplemented
        return decide(difference, "==")

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    def __lt__(self, other: Any) -> Any:
        return decide(self - other, "<")

    def __ge__(self, other: Any) -> Any:
        return not decide(self - other, "<")

    def __gt__(self, other: Any) -> Any:
        return decide(other - self, "<")

    def __le__(self, other: Any) -> Any:
        return not decide(other - self, "<")

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash(self.terms) or 1
        return self._hash

    def __bool__(self) -> bool:
        return not decide(self, "==")

    def __index__(self) -> int:
        """Pin the size: return its hint, and assume that the size equals it."""
        pinned: int = self.context.pin(self)
        return pinned

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The size as a scalar tensor of the trace."""
        return SizePort.make_scalar(self, dtype)

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: Any) -> Dim:
        return self

    def __repr__(self) -> str:
        text = " + ".join(_show_term(m, c) for m, c in self.terms)
        return text.replace("+ -", "- ")


def _show_term(monomial: Monomial, c: int) -> str:
    factors = "*".join(map(repr, monomial))
    if not factors:
        return str(c)
    return {1: factors, -1: f"-{factors}"}.get(c, f"{c}*{factors}")


def _order_of(atom: Atom) -> int:
    return atom.order


def _term_key(term: tuple[Monomial, int]) -> tuple[int, list[int]]:
    return -len(term[0]), [atom.order for atom in term[0]]


def make_dim(terms: dict[Monomial, int]) -> Any:
    """The sum of these terms: a Dim, or an int if it is constant."""
    kept = [(monomial, c) for monomial, c in terms.items() if c]
    if not kept:
        return 0
    if len(kept) == 1:
        return Dim(tuple(kept)) if kept[0][0] else kept[0][1]
    kept.sort(key=_term_key)
    return Dim(tuple(kept))


def as_operand(value: Any) -> Any:
    """`value` as an int if it is an integer of NumPy or a bool; any other value unchanged."""
    if type(value) is int or type(value) is Dim:
        return value
    if isinstance(value, int):
        return int(value)
    if getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u") and value.shape == ():
        return operator.index(value)
    return value


def compute_pinned(function: Callable[[Any, Any], Any], a: Dim, b: Any) -> Any:
    """Compute with the pinned sizes: with floats and arrays there is no symbolic arithmetic."""
    if isinstance(b, (float, complex)) or hasattr(b, "__array__"):
        return function(int(a), b)
    if isinstance(b, (int, Dim)):
        return function(int(a), int(b))
    return NotImplemented


def decide(difference: Any, kind: str) -> bool:
    """Whether `difference` equals zero ("==") or is negative ("<"); may record an assumption."""
    if type(difference) is Dim:
        answer: bool = difference.context.decide(kind, difference)
        return answer
    return bool(difference == 0 if kind == "==" else difference < 0)


# Division


def divide(a: Any, b: Any) -> Any:
    """Quotient and remainder of floor division, as by `divmod`."""
    a, b = as_operand(a), as_operand(b)
    if not all(isinstance(x, (int, Dim)) for x in (a, b)):
        pinned = [int(x) if type(x) is Dim else x for x in (a, b)]
        return divmod(pinned[0], pinned[1])
    if type(b) is Dim and decide(b, "=="):
        raise ZeroDivisionError("integer division or modulo by zero")
    return _divide_unchecked(a, b)


def _divide_unchecked(a: Any, b: Any) -> tuple[Any, Any]:
    """As `divide`, but a symbolic `b` is not compared with zero."""
    if type(b) is int:
        return divmod(a, b) if type(a) is int else _divide_by_number(a, b)
    exact = divide_exactly(a, b)
    if exact is not None:
        return exact, 0
    return make_compound("//", a, b), make_compound("%", a, b)


def _divide_by_number(a: Dim, b: int) -> tuple[Any, Any]:
    if b < 0:
        quotient, remainder = divide(-a, -b)
        return quotient, -remainder
    parts = [(monomial, divmod(c, b)) for monomial, c in a.terms]
    whole = make_dim({monomial: q for monomial, (q, _) in parts})
    rest = make_dim({monomial: r for monomial, (_, r) in parts})
    if type(rest) is int:
        return whole, rest
    low, high = interval_of(rest)
    if low is not None and low >= 0 and high is not None and high < b:
        return whole, rest
    return whole + _floor_quotient(rest, b), make_compound("%", rest, b)


def _floor_quotient(a: Dim, b: int) -> Any:
    """`a // b` without the common factor of `b` and the coefficients; floors drop the rest."""
    common = math.gcd(b, *[c for monomial, c in a.terms if monomial])
    if common == 1:
        return make_compound("//", a, b)
    reduced = make_dim({monomial: c // common for monomial, c in a.terms})
    return reduced if common == b else reduced // (b // common)


def divide_exactly(a: Any, b: Dim) -> Any:
    """The polynomial `a / b`, or None if there is none."""
    quotient: Any = 0
    while type(a) is Dim:
        factor = _divide_term(a.terms[0], b.terms[0])
        if factor is None:
            return None
        quotient = quotient + factor
        a = a - b * factor
    return quotient if a == 0 else None


def _divide_term(term: tuple[Monomial, int], divisor: tuple[Monomial, int]) -> Any:
    (monomial, c), (factors, d) = term, divisor
    left = list(monomial)
    for atom in factors:
        if atom not in left:
            return None
        left.remove(atom)
    return None if c % d else make_dim({tuple(left): c // d})


# Functions that are not polynomials


def make_compound(kind: str, a: Any, b: Any) -> Dim:
    """The Dim of one compound atom; equal operands give the same atom."""
    context = (a if type(a) is Dim else b).context
    key = kind, a.terms if type(a) is Dim else a, b.terms if type(b) is Dim else b
    atom = context.compounds.get(key)
    if atom is None:
        atom = context.compounds[key] = Compound(context, kind, a, b)
    return Dim((((atom,), 1),))


# Bounds


def interval_of(x: Any) -> Interval:
    """Known bounds of a size."""
    if type(x) is not Dim:
        return x, x
    low: int | None = 0
    high: int | None = 0
    for monomial, c in x.terms:
        ends = multiply_intervals([bound_atom(atom) for atom in monomial])
        small, large = ends if c > 0 else ends[::-1]
        low = None if low is None or small is None else low + c * small
        high = None if high is None or large is None else high + c * large
    return low, high


def bound_atom(atom: Atom) -> Interval:
    """Bounds of an atom, with those that its context has learnt from assumptions."""
    low: int | None
    high: int | None
    if isinstance(atom, Compound):
        low, high = INTERVALS[atom.kind](interval_of(atom.a), interval_of(atom.b))
    else:
        low, high = atom.least, None  # type: ignore[attr-defined]
    learnt = atom.context.bounds.get(atom)
    if learnt is None:
        return low, high
    return largest(low, learnt[0]), smallest(high, learnt[1])
