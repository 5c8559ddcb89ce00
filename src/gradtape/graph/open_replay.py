"""OpenReplay: replays a graph of unknown sizes on tensors, eagerly or inside any trace.

The sizes of the tensors take the place of the unknown sizes. In a trace they may be symbolic sizes
of that trace. A size that only the data determines is known when the value exists that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.context import local
from gradtape.core.dims import Dim, SizeSource, decide
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.size_atom import Unknown
from gradtape.core.size_context import Assumption
from gradtape.core.size_function import Env, SizeMismatchError, evaluate
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.control_node import COND, has_one_shape
from gradtape.graph.graph import Node
from gradtape.graph.replay import lookup_operand, replay_node, tensor_at
from gradtape.graph.specialise import node_unknowns, specialise_node


class ViolatedAssumption(InvalidArgumentError):  # noqa: N818  users see the base class
    """Sizes are not among those that a graph was made for."""


ViolatedAssumption.__name__ = ViolatedAssumption.__qualname__ = InvalidArgumentError.__name__
ViolatedAssumption.__module__ = InvalidArgumentError.__module__


class OpenReplay:
    """One replay of a graph.

    Attributes:
        values: tensors by number.
        sizes: the sizes that are known so far, by unknown.
    """

    def __init__(
        self,
        sources: dict[Unknown, SizeSource],
        run_effect: Callable[[Node, tuple[Any, ...]], tuple[Tensor, ...]],
        install: Callable[[int, Any], Tensor],
        assumptions: Iterable[Assumption] = (),
    ) -> None:
        """Start without values.

        Args:
            sources: where each unknown size is found.
            run_effect: returns the results of an effect, given the node and its arguments.
            install: returns the new version of a variable, given its key and the value.
            assumptions: what must hold for the sizes.
        """
        self.values: dict[int, Any] = {}
        self.sizes: Env = {}
        self.run_effect, self.install = run_effect, install
        self.unchecked = list(assumptions)
        self.unknowns: dict[int, list[tuple[Unknown, int | None]]] = {}
        for unknown, (number, axis) in sources.items():
            self.unknowns.setdefault(number, []).append((unknown, axis))

    def add_values(self, numbers: Iterable[int], tensors: Iterable[Any]) -> None:
        """Add values, and the sizes that are found in them."""
        for number, tensor in zip(numbers, tensors, strict=True):
            self.values[number] = tensor
            for unknown, axis in self.unknowns.get(number, ()):
                self.sizes[unknown] = find_size(tensor, unknown, axis)

    def check_assumptions(self) -> None:
        """Check the assumptions about sizes that are known by now.

        Raises:
            ViolatedAssumption: if one does not hold.
        """
        rest = []
        for assumption in self.unchecked:
            if assumption.unknowns() <= self.sizes.keys():
                check_assumption(assumption, self.sizes)
            else:
                rest.append(assumption)
        self.unchecked = rest

    def run(self, nodes: Iterable[Node]) -> None:
        """Apply nodes in order; their results are in `values` afterwards."""
        for node in nodes:
            if node_unknowns(node):
                node = specialise_node(node, self.sizes)
            if node.op is COND and must_choose_branch(node):
                self.run_branch(node)
            else:
                replay_node(node, self.values, self.run_effect, self.install)
            if self.unknowns.keys() & set(node.outputs):
                self.add_values(node.outputs, [self.values[o] for o in node.outputs])
                self.check_assumptions()

    def run_branch(self, node: Node) -> None:
        """Apply the branch of a `cond` that its predicate chooses, node by node."""
        pred, *args = (lookup_operand(self.values, operand) for operand in node.inputs)
        graph = node.static["branches"][0 if read_predicate(pred) else 1].existing_graph
        inner = OpenReplay({}, self.run_effect, self.install)
        inner.add_values(graph.inputs, args)
        inner.run(graph.nodes)
        results = [tensor_at(inner.values, operand) for operand in graph.outputs]
        self.values.update(zip(node.outputs, results, strict=True))


def must_choose_branch(node: Node) -> bool:
    """Whether Python must choose the branch: the shapes differ, and there are values."""
    recorders = local.recorders
    if recorders and recorders[0].is_trace and getattr(recorders[0], "is_abstract", False):
        return False
    return not has_one_shape(node.static["branches"])


def read_predicate(pred: Any) -> bool:
    """The value of a predicate; a trace guards it."""
    return bool(pred._array if isinstance(pred, Tensor) else pred)


def find_size(value: Any, unknown: Unknown, axis: int | None) -> Any:
    """A size of a value, or the size that a value is.

    Raises:
        InvalidArgumentError: if it is negative.
    """
    tensor = value if isinstance(value, Tensor) else make_tensor(value)
    if axis is not None:
        return tensor._array.shape[axis]
    held = tensor._array
    size = held.trace.read_integer(held) if isinstance(tensor, SymbolicTensor) else int(held)
    if type(size) is int and size < 0:
        raise InvalidArgumentError(f"The size {unknown} must not be negative. Received {size}.")
    return size


def check_assumption(assumption: Assumption, sizes: Env) -> None:
    """Check what was assumed about sizes; in a trace it becomes an assumption of that trace.

    Raises:
        ViolatedAssumption: if it does not hold.
    """
    kind, answer = assumption.kind, assumption.answer
    try:
        value = evaluate(assumption.dim, sizes)
        if type(value) is Dim and kind == "==" and answer:
            holds = bool(value.context.assume_equal(value, 0))
        else:
            holds = decide(value, kind) is answer
    except (SizeMismatchError, ZeroDivisionError):
        holds = False
    if not holds:
        unknowns = sorted(assumption.unknowns(), key=repr)
        given = ", ".join(f"{u} = {show_size(sizes[u])}" for u in unknowns)
        raise ViolatedAssumption(
            f"The function was saved for sizes with {assumption!r}. Received {given}. Pass other "
            "sizes, or save the function with a signature that states these."
        )


def show_size(size: Any) -> str:
    """A size for a message; a symbolic one is that of the traced call."""
    hints = size.context.hints if type(size) is Dim else None
    return str(size if hints is None else evaluate(size, hints))
