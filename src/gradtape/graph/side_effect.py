"""Side effects of a graph: functions that run at every call, to check, print or call Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from gradtape.core import nest
from gradtape.core.context import current_trace, no_recording
from gradtape.core.convert import convert, is_tensor_like
from gradtape.core.ragged.tensor import RaggedTensor
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
            stage[0].run_effect(Effect(function.__name__, kernel, fails_only, key), tensors)
            return None

        return run_or_record

    return decorate


def call_on_host(function: Callable[P, R], draws: bool = False) -> Callable[P, R]:
    """Decorate a function of tensors that is no op, so that it is called at every run of a graph.

    It may return any structure of tensors, which must depend on its non-tensor arguments only. A
    function that `draws` random numbers is called at every run even if its arguments are constants.
    """
    structures: dict[Any, Any] = {}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        stage = current_trace()
        if not stage:
            return function(*args, **kwargs)
        for leaf in nest.flatten((args, kwargs)):
            if isinstance(leaf, RaggedTensor):
                convert(leaf)  # raises, so that dispatch can try the function for ragged tensors
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        places = [i for i, leaf in enumerate(leaves) if is_tensor_like(leaf)]
        tensors = [convert(leaves[i]) for i in places]
        if not draws and not any(
            isinstance(stage[0].as_traced(t), SymbolicTensor) for t in tensors
        ):
            with no_recording():
                return function(*args, **kwargs)
        rest = [repr(leaf) for leaf in leaves if not is_tensor_like(leaf)]
        key = (function, tuple(places), tuple(rest))

        def kernel(*raws: Any) -> tuple[Any, ...]:
            given = list(leaves)
            for i, raw in zip(places, raws, strict=True):
                given[i] = make_tensor(raw)
            again, named = nest.pack_sequence_as((args, kwargs), given, expand_composites=True)
            with no_recording():
                result = function(*again, **named)
            structures[key] = result
            return tuple(t._array for t in nest.flatten(result, expand_composites=True))

        kernel.parts = split_call(call, (args, kwargs), leaves, places, True)  # type: ignore[attr-defined]
        effect = Effect(function.__name__, kernel, key=key)
        describe = HOST_SPECS.get(function.__name__) if stage[0].is_abstract else None
        if describe is not None:
            (out,) = stage[0].run_effect(effect, tensors, [describe(*args, **kwargs)])
            result: R = out
            return result
        outs = stage[0].run_effect(effect, tensors)
        packed: R = nest.pack_sequence_as(structures[key], list(outs), expand_composites=True)
        return packed

    return call


HOST_SPECS: dict[str, Callable[..., Any]] = {}
"""By the name of a function on the host, the spec of its result, given its arguments."""


def describe_result(rule: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a function on the host with the spec of its result, given its arguments.

    Traces without values do not call the function.
    """

    def decorate(function: F) -> F:
        HOST_SPECS[function.__name__] = rule
        return function

    return decorate
