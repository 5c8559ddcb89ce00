"""Arguments of transforms: which of them are differentiated, and by which tensors."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.argument import describe
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.ops.elementwise import identity
from gradtape.tape.source import current_value, variable_of

Argnums = int | tuple[int, ...] | list[int]


class Sources:
    """The differentiated arguments of one call.

    Attributes:
        args: all positional arguments, the differentiated ones replaced by new tensors.
        leaves: the tensors and variables to differentiate by.
    """

    def __init__(self, op: str, args: tuple[Any, ...], argnums: Argnums) -> None:
        """Choose the arguments at `argnums`.

        A new tensor takes the place of each differentiated one. So a function that also uses the
        original by closure does not get its gradient.
        """
        self.is_single = isinstance(argnums, int)
        self.positions = check_argnums(op, argnums, len(args))
        self.leaves: list[Any] = []
        self.counts: list[list[int | None]] = []
        given = list(args)
        for i in self.positions:
            flat = [self.add_leaf(op, leaf) for leaf in nest.flatten(args[i])]
            self.counts.append([count for _, count in flat])
            given[i] = nest.pack_sequence_as(args[i], [leaf for leaf, _ in flat])
        self.structures = [args[i] for i in self.positions]
        self.args = tuple(given)

    def add_leaf(self, op: str, leaf: Any) -> tuple[Any, int | None]:
        """Add the sources of one leaf; returns what to pass on, and how many a module has."""
        if variable_of(leaf) is not None:
            self.leaves.append(leaf)
            return leaf, None
        variables = getattr(leaf, "trainable_variables", None)
        if variables is not None:
            self.leaves.extend(variables)
            return leaf, len(variables)
        tensor = copy_handle(convert(leaf))
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            raise TypeError(
                f"{op}: differentiated arguments must be floating. Received {tensor.dtype.name}. "
                "Pass a float, or leave the argument out of argnums."
            )
        self.leaves.append(tensor)
        return tensor, None

    def pack(self, results: list[Any]) -> Any:
        """Results, one for each source, in the structure of the arguments.

        The variables of a module become a list.
        """
        rest = iter(results)
        packed = []
        for structure, counts in zip(self.structures, self.counts, strict=True):
            leaves = [next(rest) if n is None else [next(rest) for _ in range(n)] for n in counts]
            is_leaf = not nest.is_nested(structure)
            packed.append(leaves[0] if is_leaf else nest.pack_sequence_as(structure, leaves))
        return packed[0] if self.is_single else tuple(packed)


def check_function(op: str, function: Any, has_aux: Any = False) -> None:
    """Refuse what a transform cannot call.

    Raises:
        TypeError: if `function` is not callable, or `has_aux` not a bool.
    """
    if not callable(function):
        raise TypeError(f"{op}: function must be callable. Received {describe(function)}.")
    if not isinstance(has_aux, bool):
        raise TypeError(f"{op}: has_aux must be True or False. Received {describe(has_aux)}.")


def check_argnums(op: str, argnums: Argnums, count: int) -> list[int]:
    """The positions of the differentiated arguments.

    Raises:
        TypeError, ValueError: if they are not positions of arguments.
    """
    numbers: list[Any] = list(argnums) if isinstance(argnums, (tuple, list)) else [argnums]
    if not numbers:
        raise ValueError(f"{op}: argnums must name at least one argument. Received {argnums!r}.")
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise TypeError(
                f"{op}: argnums must be an integer or a tuple of them. Received "
                f"{describe(argnums)}."
            )
        if not -count <= number < count:
            raise ValueError(
                f"{op}: argnums must be positions of positional arguments. Received {number} in a "
                f"call with {count}."
            )
    return [number % count for number in numbers]


def copy_handle(tensor: Tensor) -> Tensor:
    """A new tensor with the same value; active recorders know where it comes from."""
    if local.recorders:
        copy: Tensor = identity(tensor)
        return copy
    return make_tensor(tensor._array)


def split_aux(op: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """The value and the auxiliary data of a result.

    Raises:
        TypeError: if `has_aux` and the result is not a pair.
    """
    if not has_aux:
        return result, None
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(
            f"{op}: with has_aux the function must return (value, aux). Received {result!r}."
        )
    return result[0], result[1]


def as_tensors(structure: Any) -> Any:
    """Convert the leaves of a structure to tensors; None stays None."""
    if type(structure) is EagerTensor:
        return structure
    return nest.map_structure(
        lambda leaf: None if leaf is None else read_or_convert(leaf), structure
    )


def read_or_convert(leaf: Any) -> Any:
    """The value of a variable, or the leaf as a tensor."""
    return current_value(leaf) if variable_of(leaf) is not None else convert(leaf)
