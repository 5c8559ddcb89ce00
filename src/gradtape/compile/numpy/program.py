"""A program: a list of NumPy calls on numbered values.

Passes map a program to another program; `codegen` turns the last one into a Python function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gradtape.graph.graph import Constant

Operand = Any  # the number of a value, a Constant, or a tuple of operands


class ValueSpec(NamedTuple):
    """Shape and dtype of a value; `array` is False for a NumPy scalar."""

    shape: tuple[int, ...]
    dtype: Any
    is_array: bool

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size


class NumpyCall:
    """One call of NumPy, or of an opaque kernel.

    Kinds, and what `fn` is for each:

    | kind | `fn` | result |
    |---|---|---|
    | `ufunc` | a ufunc | elementwise; may be written to a buffer, also in place |
    | `cast` | `"astype"` of (x, dtype) | as for `ufunc` |
    | `reduce` | a ufunc, of (x, axis, dtype, keepdims[, initial]) | may be written to a buffer |
    | `product` | `np.dot` or `np.matmul` | may be written to a buffer |
    | `put` | `"put"` of (x, places, values) | a copy, or `x` itself overwritten |
    | `view` | the name of a method, `"[]"`, or a function | shares memory with its first operand |
    | `operator` | an operator symbol, on NumPy scalars | a scalar |
    | `call` | the name of a method, `"[]"`, or a function | a new array or scalar |
    | `opaque` | the Primitive or Effect | may share memory with any operand; may raise |
    | `blocks` | None; `body` runs for one block of elements after another | values of the body |
    | `prepared` | None; its argument is a call that was prepared, a tuple | writes to an input |
    | `fill` | `np.broadcast_to` | a broadcast that is copied into a buffer |

    Only opaque calls may fail on values.
    """

    __slots__ = ("args", "body", "fn", "kind", "outs", "static")

    def __init__(
        self,
        kind: str,
        fn: Any,
        args: tuple[Operand, ...],
        outs: tuple[int, ...],
        static: dict[str, Any] | None = None,
        body: Any = None,
    ) -> None:
        """`fn` of `args` computes `outs`."""
        self.kind = kind
        self.fn = fn
        self.args = args
        self.outs = outs
        self.static = static
        self.body = body

    def reads(self) -> list[int]:
        """Numbers of the values it reads, with repetitions."""
        found = []
        for a in self.args:
            if type(a) is int:
                found.append(a)
            elif type(a) is tuple:
                found += [b for b in a if type(b) is int]
        return found

    def replace(self, **changes: Any) -> NumpyCall:
        """The same call with some attributes changed."""
        parts = {name: getattr(self, name) for name in NumpyCall.__slots__} | changes
        return NumpyCall(**parts)

    def substitute(self, names: dict[int, Operand]) -> NumpyCall:
        """The same call with operands replaced according to `names`."""
        if names.keys().isdisjoint(self.reads()):
            return self
        args = substitute_operands(self.args, names)
        return NumpyCall(self.kind, self.fn, args, self.outs, self.static, self.body)

    @property
    def is_effect(self) -> bool:
        """Whether the call has a side effect."""
        return self.kind == "opaque" and hasattr(self.fn, "fails_only")

    @property
    def name(self) -> str:
        """The name of the function, for printing."""
        if self.kind == "reduce":
            return f"{self.fn.__name__}.reduce"
        return (
            self.fn if type(self.fn) is str else getattr(self.fn, "__name__", None) or self.fn.name
        )


ELEMENTWISE_KINDS = frozenset({"ufunc", "cast"})
KINDS_WITH_OUT = frozenset({"ufunc", "cast", "reduce", "product", "put"})


class Program:
    """Calls between inputs and outputs.

    Attributes:
        inputs: numbers of the values that the caller passes.
        calls: calls in execution order.
        outputs: operands that are returned.
        specs: shape, dtype and kind of every value.
        arena: how the memory of large buffers is laid out; None without buffers.
        buffers: buffers of the plan, by number of the value; every run allocates all other values.
        precomputed_views: views of buffers, which are made only once.
        commit_calls: ufunc calls that the caller runs at the end.
        overwrites: results of `commit_calls` that overwrite an input: number of the result → of the
            input.
    """

    __slots__ = (
        "arena",
        "buffers",
        "calls",
        "commit_calls",
        "inputs",
        "outputs",
        "overwrites",
        "precomputed_views",
        "specs",
    )

    def __init__(
        self,
        inputs: Iterable[int],
        calls: list[NumpyCall],
        outputs: Iterable[Operand],
        known: dict[int, ValueSpec],
        bound: dict[int, Any] | None = None,
    ) -> None:
        """Make a program of these parts."""
        self.arena: Any = None
        self.buffers = bound or {}
        self.precomputed_views: list[NumpyCall] = []
        self.commit_calls: list[NumpyCall] = []
        self.overwrites: dict[int, int] = {}
        self.inputs = list(inputs)
        self.calls = calls
        self.outputs = list(outputs)
        self.specs = known

    def with_calls(
        self, calls: list[NumpyCall], names: dict[int, Operand] | None = None
    ) -> Program:
        """The same program with other calls; `names` replaces outputs that were eliminated."""
        outputs = self.outputs
        if names:
            outputs = [names.get(o, o) if type(o) is int else o for o in outputs]
        program = Program(self.inputs, calls, outputs, self.specs, self.buffers)
        program.commit_calls, program.overwrites = self.commit_calls, self.overwrites
        return program

    def pretty(self) -> str:
        """The program as readable lines."""
        lines = [f"inputs: {', '.join(self.describe_value(i) for i in self.inputs) or 'none'}"]
        lines += [
            f"  once: {line}" for call in self.precomputed_views for line in self.format_call(call)
        ]
        for call in self.calls:
            lines += [f"  {line}" for line in self.format_call(call)]
        lines += [
            f"  at last: {line}" for call in self.commit_calls for line in self.format_call(call)
        ]
        lines += [f"  v{old} is overwritten by v{new}" for new, old in self.overwrites.items()]
        lines.append(f"return {', '.join(format_operand(o) for o in self.outputs) or 'nothing'}")
        return "\n".join(lines)

    def format_call(self, call: NumpyCall) -> list[str]:
        """A call as readable lines."""
        outs = ", ".join(self.describe_value(o) for o in call.outs)
        if call.kind == "blocks":
            assert call.static is not None
            head = f"{outs} = in blocks of {call.static['rows']} of {call.static['count']}:"
            return [head, *(f"  {line}" for inner in call.body for line in self.format_call(inner))]
        static = [f"{name}={value!r}" for name, value in (call.static or {}).items()]
        text = f"{call.name}({', '.join([format_operand(a) for a in call.args] + static)})"
        return [f"{outs} = {text}" if outs else text]

    def describe_value(self, number: int) -> str:
        """A value's name, dtype and shape."""
        shape, dtype, _ = self.specs[number]
        return f"v{number}:{dtype}{list(shape)}"


def substitute_operands(
    args: tuple[Operand, ...], names: dict[int, Operand]
) -> tuple[Operand, ...]:
    """The operands with numbers replaced according to `names`."""
    return tuple(
        [
            names.get(a, a)
            if type(a) is int
            else substitute_operands(a, names)
            if type(a) is tuple
            else a
            for a in args
        ]
    )


def format_operand(operand: Operand) -> str:
    """An operand as readable text."""
    if type(operand) is tuple:
        return f"({', '.join(format_operand(o) for o in operand)})"
    return f"v{operand}" if type(operand) is int else repr(operand)


def run_call(call: NumpyCall, args: list[Any]) -> Any:
    """Run a call on raw `args`; not for opaque calls and blocks."""
    kind, fn = call.kind, call.fn
    if kind == "ufunc":
        return fn(*args)
    if kind == "cast":
        return args[0].astype(args[1])
    if kind == "reduce":
        x, axis, dtype, keepdims, *initial = args
        return fn.reduce(x, axis, dtype, None, keepdims, *initial)
    if kind == "operator":
        return OPERATORS[fn](*args)
    if fn == "[]":
        return args[0][args[1]]
    if kind == "put":
        out = args[0].copy()
        out.put(*args[1:])
        return out
    if type(fn) is str:
        found = getattr(args[0], fn)
        return found(*args[1:]) if callable(found) else found
    return fn(*args)


OPERATORS: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "neg": lambda a: -a,
    "abs": abs,
    "~": lambda a: ~a,
}


def broadcast_shape(shapes: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which these shapes broadcast, with a fast path for equal shapes."""
    distinct = {s for s in shapes if s}
    if len(distinct) < 2:
        return next(iter(distinct), ())
    return np.broadcast_shapes(*distinct)


def is_constant(operand: Operand) -> bool:
    """Whether an operand is a constant, or a tuple of constants."""
    return type(operand) is Constant or (
        type(operand) is tuple and all(type(o) is Constant for o in operand)
    )


def constant_value(operand: Operand) -> Any:
    """The raw value of a constant operand."""
    return tuple([o.raw for o in operand]) if type(operand) is tuple else operand.raw
