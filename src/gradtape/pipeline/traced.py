"""A user's function of elements, called as a compiled graph; where that cannot be, as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.composite import CompositeTensor
from gradtape.core.draws import Streams
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor
from gradtape.pipeline.ongoing import Pass, ongoing
from gradtape.pipeline.structure import flatten
from gradtape.staging.concrete import ConcreteFunction
from gradtape.staging.function import Function
from gradtape.state.seed import SEEDS
from gradtape.state.stream import take_turns


class Traced:
    """A function that `Dataset.map` and its like call for every element."""

    def __init__(self, python_function: Any) -> None:
        """Compile `python_function` when it is first called."""
        self.python_function = python_function
        name = getattr(python_function, "__name__", "map_func")
        own = python_function
        if isinstance(python_function, Function):
            own = lambda *element: python_function(*element)  # noqa: E731  a graph around its graph
        self.function = Function(own, name)
        self.function.warns = False  # a dataset that is made anew has a function of its own
        self.streams = self.function.streams = Streams((SEEDS.seed,))

    def __call__(self, *element: Any) -> Any:
        """Call the function; elements that are more than tensors go to the Python."""
        if all(is_plain(part) for part in element):
            return self.function(*element)
        return self.python_function(*element)

    def tried(self, *element: Any) -> Any:
        """Call the function on a stand-in for an element: no variable changes."""
        if not all(is_plain(part) for part in element):
            return self.python_function(*element)
        call = self.function._signature.bind(element, {})
        return self.function.compiled_for(call).tried(call)

    def returns(self, spec: Any) -> Any:
        """Specs of what it makes of elements that `spec` describes, by a trace on stand-ins.

        None if that does not tell: it looks at values, or does something besides computing.
        """
        args = spec if type(spec) is tuple else (spec,)
        if not all(
            isinstance(leaf, TensorSpec) and leaf.shape.rank is not None for leaf in flatten(spec)
        ):
            return None
        concrete = ConcreteFunction(self.function, args, {}, blindly=True)
        path = concrete._path
        if path is None or path.guards:
            return None
        found = concrete.structured_outputs
        leaves = flatten(found)
        if not leaves or not all(isinstance(leaf, TensorSpec) for leaf in leaves):
            return None
        return tuple(found) if type(found) is list else found

    def in_this_pass(self) -> Callable[..., Any]:
        """The function for the pass that is under way: its random ops begin anew with it."""
        own = ongoing.now or Pass()

        def call(*element: Any) -> Any:
            if self.streams.turn is not own:
                take_turns(self.streams, own)
            return self(*element)

        return call


def is_plain(part: Any) -> bool:
    """Whether a part of an element is a tensor or a structure of nothing else."""
    if isinstance(part, Tensor):
        return True
    if isinstance(part, dict):
        return all(map(is_plain, part.values()))
    if isinstance(part, (tuple, list)):
        return all(map(is_plain, part))
    return not isinstance(part, CompositeTensor)
