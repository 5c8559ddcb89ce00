"""Side effects of a graph: functions that run at every call, to check, print or call Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from gradtape.core import nest
from gradtape.core.context import current_trace, no_recording
from gradtape.core.convert import convert, is_tensor_like
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import make_tensor
from gradtape.graph.graph import Effect

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")


class TensorSlot:
    """Marks the place of a tensor in the saved arguments of a side effect."""

    def __init__(self, position: int) -> None:
        """Stand for the tensor at this position among the inputs of the node."""
        self.position = position


def split_call(function: Any, given: Any, leaves: list[Any], places: list[int], gives: bool) -> Any:
    """A call as (function, arguments with a `TensorSlot` for each tensor, whether it has results).

    None if there are composite arguments.
    """
    if len(nest.flatten(given)) != len(leaves):
        return None
    positions = {place: k for k, place in enumerate(places)}
    filled = [TensorSlot(positions[i]) if i in positions else leaf for i, leaf in enumerate(leaves)]
    return function, nest.pack_sequence_as(given, filled), gives


def side_effect(fails_only: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a function of tensors that returns nothing, to run at every call of a graph.

    With `fails_only` the function's only effect is to raise; on constants it then runs during
    tracing only.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run_or_record(*args: Any, **kwargs: Any) -> None:
            stage = current_trace()
            if not stage:
                return function(*args, **kwargs)
            leaves = nest.flatten((args, kwargs), expand_composites=True)
            places = [i for i, leaf in enumerate(leaves) if is_tensor_like(leaf)]
            tensors = [convert(leaves[i]) for i in places]
            lifted = [stage[0].as_traced(t) for t in tensors]
            if fails_only and not any(isinstance(t, SymbolicTensor) for t in lifted):
                return function(*args, **kwargs)

            def kernel(*raws: Any) -> tuple[Any, ...]:
                given = list(leaves)
                for i, raw in zip(places, raws, strict=True):
                    given[i] = make_tensor(raw)
                again, named = nest.pack_sequence_as((args, kwargs), given, expand_composites=True)
                with no_recording():
                    function(*again, **named)
                return ()

            kernel.parts = split_call(run_or_record, (args, kwargs), leaves, places, False)  # type: ignore[attr-defined]
            rest = [leaf for leaf in leaves if not is_tensor_like(leaf)]
            key = (function, tuple(places), tuple(rest))
            stage[0].run_effect(Effect(function.__name__, kernel, fails_only, key), tensors, ())
            return None

        return run_or_record

    return decorate
