"""Sizes as trees: the polynomials of `core.dims`, in which each unknown is a size of a value.

A size is `{"$dim": terms}`. A term is `[coefficient, factors]`. A factor is `[number, axis]`, the
size of a value along an axis; `[number, null]`, an integer value; or `{"//": [a, b]}` with one of
the functions in `SIZE_FUNCTIONS`. Products are never multiplied out, so that a tree is not larger
than its file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.dims import Dim, SizeSource, make_compound, make_dim
from gradtape.core.size_atom import Atom, Compound, Unknown
from gradtape.core.size_context import Assumption, SizeContext
from gradtape.core.size_function import SIZE_FUNCTIONS
from gradtape.tf.saved_model.failure import CannotSave, MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_FACTORS, MAX_INTEGER, MAX_RANK, MAX_TERMS
from gradtape.tf.saved_model.tree_check import (
    expect_bool,
    expect_choice,
    expect_dict,
    expect_int,
    expect_list,
    expect_number,
)

COMPARISONS = ("==", "<")


class DimEncoder:
    """Encodes sizes of one graph, given where its unknowns are found."""

    def __init__(self, sources: dict[Unknown, SizeSource]) -> None:
        """For these unknowns."""
        self.sources = sources

    def encode(self, size: Any) -> Any:
        """A size as a tree; a number stays a number.

        Raises:
            CannotSave: if it depends on a size that is not found in a value of the graph.
        """
        if type(size) is not Dim:
            return int(size)
        if len(size.terms) > MAX_TERMS or any(len(m) > MAX_FACTORS for m, _ in size.terms):
            raise CannotSave(f"the size {size!r:.60} is too long an expression")
        terms = [[c, [self.encode_factor(atom) for atom in m]] for m, c in size.terms]
        return {"$dim": terms}

    def encode_factor(self, atom: Atom) -> Any:
        """A factor of a term."""
        if isinstance(atom, Compound):
            return {atom.kind: [self.encode(atom.a), self.encode(atom.b)]}
        assert isinstance(atom, Unknown)
        if atom not in self.sources:
            raise CannotSave(f"it depends on the size {atom}, which is not that of a value")
        return list(self.sources[atom])

    def encode_assumption(self, assumption: Assumption) -> list[Any]:
        """An assumption: the kind of the comparison with zero, the size, and the answer."""
        return [assumption.kind, self.encode(assumption.dim), assumption.answer]


class DimDecoder:
    """Decodes sizes of one graph.

    Attributes:
        sources: where the unknowns are found.
    """

    def __init__(
        self,
        check_source: Callable[[int], None] | None = None,
        names: dict[int, str] | None = None,
    ) -> None:
        """Start without unknowns.

        Args:
            check_source: raises if there is no value of a number.
            names: names of the arguments of the graph, by number.
        """
        self.context = SizeContext(with_hints=False)
        self.context.freeze()
        self.check_source = check_source
        self.names = names or {}
        self.known: dict[SizeSource, Dim] = {}
        self.sources: dict[Unknown, SizeSource] = {}

    def decode(self, inner: Any) -> Any:
        """The size of a tree, without its tag."""
        terms = expect_list(inner)
        if not 0 < len(terms) <= MAX_TERMS:
            raise MalformedModel(f"a size has 1 to {MAX_TERMS} terms. Received {len(terms)}")
        made: dict[Any, int] = {}
        for term in terms:
            coefficient, factors = expect_list(term, 2)
            if len(expect_list(factors)) > MAX_FACTORS:
                raise MalformedModel(f"a term has at most {MAX_FACTORS} factors")
            atoms = sorted(map(self.decode_factor, factors), key=lambda atom: atom.order)
            made[tuple(atoms)] = expect_int(coefficient, -MAX_INTEGER, MAX_INTEGER)
        return make_dim(made)

    def decode_factor(self, tree: Any) -> Atom:
        """A factor of a term."""
        if isinstance(tree, dict):
            ((kind, operands),) = expect_one_key(tree).items()
            a, b = (self.decode_operand(one) for one in expect_list(operands, 2))
            if type(a) is not Dim and type(b) is not Dim:
                raise MalformedModel(f"an expression of sizes has a size. Received {shorten(tree)}")
            size = make_compound(expect_choice(kind, SIZE_FUNCTIONS, "function of sizes"), a, b)
        else:
            number, axis = expect_list(tree, 2)
            place = None if axis is None else expect_int(axis, 0, MAX_RANK - 1)
            size = self.find_unknown((expect_number(number), place))
        atom: Atom = size.terms[0][0][0]
        return atom

    def decode_operand(self, tree: Any) -> Any:
        """An operand of a function of sizes: a number or a size."""
        if isinstance(tree, dict):
            return self.decode(expect_dict(tree, "$dim")["$dim"])
        return expect_int(tree, -MAX_INTEGER, MAX_INTEGER)

    def find_unknown(self, source: SizeSource) -> Dim:
        """The unknown that is found there."""
        if source not in self.known:
            if self.check_source is not None:
                self.check_source(source[0])
            number, axis = source
            name = f"{self.names[number]}.shape[{axis}]" if number in self.names else ""
            made = self.known[source] = self.context.make_unknown(name, from_data=not name)
            (unknown,) = made.terms[0][0]
            assert isinstance(unknown, Unknown)
            self.sources[unknown] = source
        return self.known[source]

    def decode_assumption(self, tree: Any) -> Assumption | None:
        """An assumption; None if it is about numbers only, and holds.

        Raises:
            MalformedModel: if it is about numbers, and does not hold.
        """
        kind, size, answer = expect_list(tree, 3)
        expect_choice(kind, COMPARISONS, "comparison of sizes")
        dim = self.decode_operand(size)
        if type(dim) is Dim:
            return Assumption(kind, dim, expect_bool(answer))
        if (dim == 0 if kind == "==" else dim < 0) is not expect_bool(answer):
            raise MalformedModel(f"an assumption does not hold. Received {shorten(tree)}")
        return None


def expect_one_key(tree: dict[str, Any]) -> dict[str, Any]:
    """A dict with one key."""
    if len(tree) != 1:
        raise MalformedModel(f"a dict with one key is expected. Received {shorten(tree)}")
    return tree
