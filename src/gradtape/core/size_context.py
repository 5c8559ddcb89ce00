"""`SizeContext`: the unknown sizes of one trace, and what is assumed about them.

A comparison of sizes that cannot be proved is decided. With hints (the sizes of the call that is
traced) the answer is that of the call. Without hints it is that of large sizes which have nothing
in common. Each answer is recorded as an `Assumption`. A graph serves other sizes only if they
satisfy all its assumptions (`SizeContext.holds`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradtape.core.dims import Dim, UnknownSizeError, bound_atom, interval_of, make_dim
from gradtape.core.interval import Interval, largest, smallest
from gradtape.core.size_atom import Atom, Compound, Terms, Unknown
from gradtape.core.size_function import Env, SizeMismatchError, evaluate, unknowns_in_dim

# Sizes that stand for unknown ones where there are no hints
GENERIC_SIZES = (1009, 2003, 3001, 4001, 5003, 6007, 7001, 8009, 9001, 10007, 11003, 12007)
GENERIC_STEP = 2310
# The same for sizes that only data determines: they are mostly parts of others
GENERIC_FOUND_SIZES = (23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)
MAX_ATTEMPTS = 16  # calls of a function that fails, with other answers to its decisions


class Assumption:
    """A decided comparison: whether `dim` equals zero ("==") or is negative ("<")."""

    __slots__ = ("answer", "dim", "kind")

    def __init__(self, kind: str, dim: Dim, answer: bool) -> None:
        """Record that the comparison has this answer."""
        self.kind, self.dim, self.answer = kind, dim, answer

    def check(self, env: Env) -> bool | None:
        """Whether the assumption holds; None if `env` does not determine it."""
        try:
            value = evaluate(self.dim, env)
        except (SizeMismatchError, ZeroDivisionError):
            return False
        if type(value) is Dim:
            return None
        return bool((value == 0 if self.kind == "==" else value < 0) is self.answer)

    def unknowns(self) -> set[Unknown]:
        """The unknowns that decide whether it holds."""
        return unknowns_in_dim(self.dim)

    def would_be_zero(self) -> bool:
        """Whether the assumption says that a size is not zero."""
        return (
            self.kind == "=="
            and not self.answer
            and len({c > 0 for _, c in self.dim.terms}) == 1
            and not any(_is_remainder(m) for m, _ in self.dim.terms)
        )

    def __repr__(self) -> str:
        """The comparison as Python writes it, such as `n == 7` or `m >= n + 1`."""
        left = make_dim({m: c for m, c in self.dim.terms if c > 0})
        right = make_dim({m: -c for m, c in self.dim.terms if c < 0})
        if self.kind == "==":
            return f"{left} {'==' if self.answer else '!='} {right}"
        return f"{left} {'<' if self.answer else '>='} {right}"


class SizeContext:
    """The unknown sizes of one trace, with their hints and the assumptions made about them.

    Attributes:
        hints: sizes of the traced call by unknown; None if the trace has no call.
        examples: sizes by which a trace without a call decides; others are generic.
        unknowns: all unknowns, in order of creation.
        assumptions: what was decided, in order, by comparison.
        solved: unknowns that assumptions determine: a number, or a Dim of other unknowns.
        bounds: bounds of atoms that follow from assumptions.
        compounds: compound atoms by their operands, so that equal expressions share them.
    """

    def __init__(self, with_hints: bool) -> None:
        """Make a context without unknowns; `with_hints` says whether a call gives their sizes."""
        self.hints: Env | None = {} if with_hints else None
        self.examples: Env = {}
        self.unknowns: list[Unknown] = []
        self.assumptions: dict[tuple[str, Terms], Assumption] = {}
        self.solved: dict[Unknown, Any] = {}
        self.bounds: dict[Atom, Interval] = {}
        self.compounds: dict[Any, Compound] = {}
        self._exact: dict[Atom, tuple[Any, Any]] = {}  # quotients without a remainder
        self._answers: list[bool] = []  # of the next decisions, in an attempt
        self._frozen = False

    def make_unknown(
        self, name: str = "", hint: int | None = None, least: int = 0, from_data: bool = False
    ) -> Dim:
        """Make a new unknown size; `hint` is its size in the call that is traced, or an example."""
        unknown = Unknown(self, name or f"n{len(self.unknowns)}", least, from_data)
        self.unknowns.append(unknown)
        if hint is not None:
            (self.examples if self.hints is None else self.hints)[unknown] = hint
        return Dim((((unknown,), 1),))

    def freeze(self) -> None:
        """End the trace: drop the hints, and raise UnknownSizeError at any new decision.

        Hints are sizes of one call. A later decision by them would be wrong for other sizes.
        """
        self.hints = None
        self._frozen = True

    @property
    def is_frozen(self) -> bool:
        """Whether the trace has ended, so that nothing can be assumed."""
        return self._frozen

    def prove(self, kind: str, dim: Any) -> bool | None:
        """Whether `dim` equals zero ("==") or is negative ("<"), if it follows; else None."""
        x = self.simplify(dim)
        low, high = interval_of(x)
        if kind == "<":
            if high is not None and high < 0:
                return True
            return False if low is not None and low >= 0 else None
        if low == high == 0:
            return True
        outside = (low is not None and low > 0) or (high is not None and high < 0)
        return False if outside or _has_no_root(x) else None

    def decide(self, kind: str, dim: Dim) -> bool:
        """As `prove`, but answer what does not follow, and record the answer as an assumption."""
        proved = self.prove(kind, dim)
        if proved is not None:
            return proved
        x, negated = normalize_comparison(kind, self.simplify(dim))
        known = self.assumptions.get((kind, x.terms))
        if known is None:
            known = Assumption(kind, x, self._choose_answer(kind, x))
            self._record(known)
        return known.answer is not negated

    def assume_equal(self, a: Any, b: Any) -> bool:
        """Assume that two sizes are equal; return False if that contradicts what is known."""
        difference = a - b
        if type(difference) is not Dim:
            return bool(difference == 0)
        proved = self.prove("==", difference)
        if proved is not None:
            return proved
        x, _ = normalize_comparison("==", self.simplify(difference))
        known = self.assumptions.get(("==", x.terms))
        if known is None and self.hints is not None:
            return self.decide("==", x)
        if known is None:
            self._refuse_if_frozen(x)
            self._record(Assumption("==", x, True))
        return known is None or known.answer

    def pin(self, dim: Dim) -> int:
        """The size in the traced call, which is assumed from now on."""
        x = self.simplify(dim)
        if type(x) is not Dim:
            return int(x)
        value = x if self.hints is None else evaluate(x, self.hints)
        if type(value) is Dim:
            raise UnknownSizeError(
                f"The size {dim} must be a number here, but it is unknown while only shapes are "
                "inferred. Give the size in the signature, or use the function of tf."
            )
        self._record(Assumption("==", normalize_comparison("==", x - value)[0], True))
        return int(value)

    def holds(self, env: Env) -> bool:
        """Whether the sizes of `env` satisfy all assumptions that they determine."""
        return self.find_violation(env) is None

    def find_violation(self, env: Env) -> Assumption | None:
        """The first assumption that the sizes of `env` contradict."""
        return next((a for a in self.assumptions.values() if a.check(env) is False), None)

    def assumptions_about_data(self) -> list[Assumption]:
        """Assumptions about sizes that only the data determines, to be checked while running."""
        return [a for a in self.assumptions.values() if any(u.from_data for u in a.unknowns())]

    @contextlib.contextmanager
    def attempt(self, answers: Sequence[bool] = ()) -> Iterator[list[Assumption]]:
        """Answer the next decisions as `answers` says; if the body raises, forget its assumptions.

        Yields a list. At the end of the body, also by an exception, it has all new assumptions.
        """
        before = dict(self.assumptions), dict(self.solved), dict(self.bounds), dict(self._exact)
        scripted, self._answers = self._answers, list(answers)
        made: list[Assumption] = []
        try:
            yield made
        except BaseException:
            made += [a for key, a in self.assumptions.items() if key not in before[0]]
            self.assumptions, self.solved, self.bounds, self._exact = before
            raise
        else:
            made += [a for key, a in self.assumptions.items() if key not in before[0]]
        finally:
            self._answers = scripted

    def search_answers(self, function: Callable[[], Any], settled: int) -> tuple[Any] | None:
        """Call a function that failed again, with other answers to its decisions.

        The assumptions after the first `settled` ones are those of the failed call. A size is never
        chosen to be zero. Returns (result,), or None if the function fails for all answers.
        """
        failed = list(self.assumptions.values())[settled:]
        if self._frozen or not failed:
            return None
        self.forget(failed)
        scripts = list_other_answers(failed, 0)
        for _ in range(MAX_ATTEMPTS):
            if not scripts:
                break
            script = scripts.pop(0)
            made: list[Assumption] = []
            try:
                with self.attempt(script) as made:
                    return (function(),)
            except Exception:
                scripts += list_other_answers(made, len(script))
        for assumption in failed:
            self._record(assumption)
        return None

    def forget(self, assumptions: Iterable[Assumption]) -> None:
        """Drop assumptions, and what was learnt from them."""
        dropped = set(map(id, assumptions))
        kept = [a for a in self.assumptions.values() if id(a) not in dropped]
        self.assumptions, self.solved, self.bounds, self._exact = {}, {}, {}, {}
        for assumption in kept:
            self._record(assumption)

    def simplify(self, dim: Any) -> Any:
        """`dim` with what assumptions determine: solved unknowns and exact quotients."""
        if type(dim) is not Dim:
            return dim
        if self.solved:
            dim = evaluate(dim, self.solved)
        for quotient, (a, b) in self._exact.items():
            if type(dim) is Dim:
                dim = _multiply_out(dim, quotient, a, b)
        return dim

    def generic_env(self) -> Env:
        """Large sizes without common factors, within the known bounds."""
        env = {}
        for i, unknown in enumerate(self.unknowns):
            turn, position = divmod(i, len(GENERIC_SIZES))
            sizes = GENERIC_FOUND_SIZES if unknown.from_data else GENERIC_SIZES
            low, high = bound_atom(unknown)
            size = sizes[position] + turn * GENERIC_STEP
            env[unknown] = largest(smallest(self.examples.get(unknown, size), high), low) or 0
        return env

    def _choose_answer(self, kind: str, dim: Dim) -> bool:
        self._refuse_if_frozen(dim)
        if self._answers:
            return self._answers.pop(0)
        env = self.generic_env()
        if self.hints is not None:
            env.update(self.hints)
        try:
            value = evaluate(dim, env)
        except (SizeMismatchError, ZeroDivisionError):
            return False
        return bool(value == 0 if kind == "==" else value < 0)

    def _refuse_if_frozen(self, dim: Dim) -> None:
        if self._frozen:
            raise UnknownSizeError(
                f"The size {dim} was compared after the end of its trace. Use the sizes of a call."
            )

    def _record(self, assumption: Assumption) -> None:
        kind, dim, answer = assumption.kind, assumption.dim, assumption.answer
        self.assumptions[kind, dim.terms] = assumption
        if kind == "==" and answer:
            self._solve(dim)
        else:
            self._learn_bound(kind, dim, answer)

    def _solve(self, dim: Dim) -> None:
        """Learn from `dim == 0`: a solution for an unknown, or that a quotient is exact."""
        unknown, value = solve_for_unknown(dim)
        if unknown is not None:
            rest = {u: evaluate(x, {unknown: value}) for u, x in self.solved.items()}
            self.solved = {**rest, unknown: value}
            return
        monomial, _ = dim.terms[0]
        if len(dim.terms) == 1 and _is_remainder(monomial):
            remainder: Any = monomial[0]
            quotient = remainder.a // remainder.b
            if type(quotient) is Dim and len(quotient.terms) == len(quotient.terms[0][0]) == 1:
                self._exact[quotient.terms[0][0][0]] = (remainder.a, remainder.b)

    def _learn_bound(self, kind: str, dim: Dim, answer: bool) -> None:
        """Learn from an inequality of one atom and a number."""
        monomial, c = dim.terms[0]
        rest = dim.terms[1:]
        if len(monomial) != 1 or len(rest) > 1 or (rest and rest[0][0]) or abs(c) != 1:
            return
        atom, constant = monomial[0], rest[0][1] if rest else 0
        low, high = bound_atom(atom)
        if kind == "==":  # the atom is not -c * constant
            excluded = -c * constant
            low = excluded + 1 if low == excluded else low
            high = excluded - 1 if high == excluded else high
        elif (c > 0) is answer:
            high = smallest(high, -constant - 1 if answer else constant)
        else:
            low = largest(low, constant + 1 if answer else -constant)
        self.bounds[atom] = low, high


def list_other_answers(made: list[Assumption], start: int) -> list[list[bool]]:
    """Scripts of answers that differ from those of `made` in the last one, latest first."""
    answers = [a.answer for a in made]
    return [
        [*answers[:i], not answers[i]]
        for i in reversed(range(start, len(made)))
        if not made[i].would_be_zero()
    ]


def normalize_comparison(kind: str, dim: Dim) -> tuple[Dim, bool]:
    """The simplest Dim that is zero ("==") or negative ("<") where `dim` is, or where it is not.

    The second result says which: True if the answers are opposite. The first coefficient of the
    Dim is positive, so that a comparison has one form.
    """
    sign = -1 if dim.terms[0][1] < 0 else 1
    common = math.gcd(*[c for monomial, c in dim.terms if monomial])
    if kind == "==":
        return Dim(tuple([(m, sign * c // common) for m, c in dim.terms])), False
    constant = dict(dim.terms).get((), 0)
    if sign < 0:  # x < 0 is the opposite of -x - 1 < 0
        constant = -constant - 1
    # common * x + constant < 0 means that x + constant // common < 0
    terms = {m: sign * c // common for m, c in dim.terms if m}
    return make_dim({**terms, (): constant // common}), sign < 0


def solve_for_unknown(dim: Dim) -> tuple[Unknown | None, Any]:
    """An unknown and its value where `dim` is zero; the newest that occurs once, linearly."""
    for monomial, c in reversed(dim.terms):
        if len(monomial) != 1 or abs(c) != 1 or not isinstance(monomial[0], Unknown):
            continue
        value = make_dim({m: -c * k for m, k in dim.terms if m != monomial})
        if monomial[0] not in unknowns_in_dim(value):
            return monomial[0], value
    return None, None


def _is_remainder(monomial: tuple[Atom, ...]) -> bool:
    return len(monomial) == 1 and isinstance(monomial[0], Compound) and monomial[0].kind == "%"


def _has_no_root(x: Any) -> bool:
    """Whether the coefficients share a factor that the constant lacks, so that `x` is not zero."""
    if type(x) is not Dim or x.terms[-1][0]:
        return False
    return bool(x.terms[-1][1] % math.gcd(*[c for monomial, c in x.terms if monomial]))


def _multiply_out(dim: Dim, quotient: Atom, a: Any, b: Any) -> Any:
    """Replace `quotient * b` by `a`, which is a multiple of `b`."""
    total: Any = 0
    for monomial, c in dim.terms:
        term: Any = make_dim({monomial: c})
        if quotient in monomial:
            factors = list(monomial)
            factors.remove(quotient)
            rest, left = divmod(make_dim({tuple(factors): c}), b)
            term = rest * a if type(left) is int and left == 0 else term
        total = total + term
    return total
