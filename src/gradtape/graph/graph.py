"""The graph of a trace: a list of primitive applications on numbered values.

A value is an integer; a `Constant` holds a raw array that is the same in every run. Every value has
a spec (shape and dtype). Nodes are in execution order. A node whose op is an `Effect` must run
exactly once and in order; all other nodes are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.primitive import Primitive, Spec
from gradtape.core.user_location import Location


class Constant:
    """A raw array, or a Python number, that is the same in every run."""

    __slots__ = ("raw", "uid")

    def __init__(self, raw: Any, uid: int = 0) -> None:
        """Hold `raw`, which must not be written to; `uid` is that of the tensor it comes from."""
        self.raw = raw
        self.uid = uid

    def __repr__(self) -> str:
        """The value if it is short, else its shape."""
        shape = getattr(self.raw, "shape", ())
        return repr(self.raw) if not shape else f"const{list(shape)}"


Operand = int | Constant


class Effect:
    """An op with a side effect: it calls Python, prints, checks a value or draws an element.

    Attributes:
        name: for printing.
        kernel: called with the raw inputs; returns a tuple of raw arrays.
        fails_only: whether its only possible effect is to raise an error (an assertion).
        replayed: whether a rerun of the same call takes the logged results instead of calling the
            kernel again.
        key: equal for effects that do the same.
        has_fixed_shapes: whether the shapes of the results follow from those of the inputs.
    """

    outputs = True
    variadic = True
    core = None
    rules: tuple[Any, ...] = (None,)

    __slots__ = ("fails_only", "has_fixed_shapes", "is_replayed", "kernel", "key", "name")

    def __init__(
        self,
        name: str,
        kernel: Callable[..., tuple[Any, ...]],
        fails_only: bool = False,
        key: Any = None,
    ) -> None:
        """An effect called `name` that runs `kernel`; effects with equal `key`s do the same."""
        self.key = (name, kernel if key is None else key)
        self.name = name
        self.kernel = kernel
        self.fails_only = fails_only
        self.is_replayed = not fails_only
        self.has_fixed_shapes = False

    def __repr__(self) -> str:
        """The name."""
        return f"<effect {self.name}>"


class Node:
    """One application of a primitive or effect.

    Attributes:
        op: a Primitive or an Effect.
        inputs: operands, in the order of the kernel's positional parameters.
        static: keyword arguments of the kernel.
        outputs: numbers of the values it computes; the kernel returns a tuple if `op.outputs`.
        location: code and instruction of the user's line that applied it.
    """

    __slots__ = ("inputs", "location", "op", "outputs", "static")

    def __init__(
        self,
        op: Primitive | Effect,
        inputs: tuple[Operand, ...],
        static: dict[str, Any],
        outputs: tuple[int, ...],
        location: Location = (None, -1),
    ) -> None:
        """`op` applied to `inputs` computes `outputs`."""
        self.location = location
        self.op = op
        self.inputs = inputs
        self.static = static
        self.outputs = outputs

    @property
    def is_effect(self) -> bool:
        """Whether the node has a side effect."""
        return isinstance(self.op, Effect)

    def reads(self) -> list[int]:
        """Numbers of the values it reads."""
        numbers = []
        for operand in self.inputs:
            if type(operand) is int:
                numbers.append(operand)  # a comprehension is another call
        return numbers


class Graph:
    """Nodes between inputs and outputs.

    Attributes:
        inputs: numbers of the values that the caller passes.
        nodes: in the order of the run.
        outputs: operands that are returned, in order.
        specs: shape and dtype of every value.
    """

    __slots__ = ("__weakref__", "inputs", "nodes", "outputs", "specs")

    def __init__(
        self,
        inputs: Iterable[int],
        nodes: Iterable[Node],
        outputs: Iterable[Operand],
        specs: dict[int, Spec],
    ) -> None:
        """Make a graph of these parts."""
        self.inputs = list(inputs)
        self.nodes = list(nodes)
        self.outputs = list(outputs)
        self.specs = specs

    def live_nodes(self) -> list[Node]:
        """Nodes that an output or an effect depends on."""
        return self.find_live()[0]

    def find_live(self) -> tuple[list[Node], set[int]]:
        """The live nodes, and the numbers of the values that they read or that are outputs."""
        wanted = {o for o in self.outputs if type(o) is int}
        kept = []
        for node in reversed(self.nodes):
            if type(node.op) is Effect or not wanted.isdisjoint(node.outputs):
                kept.append(node)
                wanted.update(node.reads())
        kept.reverse()
        return kept, wanted

    def pretty(self) -> str:
        """The graph as readable lines."""
        lines = [f"inputs: {', '.join(self.describe_value(i) for i in self.inputs) or 'none'}"]
        for node in self.nodes:
            outs = ", ".join(self.describe_value(o) for o in node.outputs)
            args = [self.format_operand(i) for i in node.inputs]
            args += [f"{name}={value!r}" for name, value in node.static.items()]
            call = f"{node.op.name}({', '.join(args)})"
            lines.append(f"  {outs} = {call}" if outs else f"  {call}")
        lines.append(
            f"return {', '.join(self.format_operand(o) for o in self.outputs) or 'nothing'}"
        )
        return "\n".join(lines)

    def format_operand(self, operand: Operand) -> str:
        """A value's name."""
        return f"v{operand}" if type(operand) is int else repr(operand)

    def describe_value(self, number: int) -> str:
        """A value's name, dtype and shape."""
        shape, dtype = self.specs[number]
        return f"v{number}:{dtype}{list(shape)}"
