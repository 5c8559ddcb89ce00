"""Code generation: one flat Python function for a program, with its data as closure variables."""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any

import numpy as np

from gradtape.compile.numpy.errstate import SILENT, hush, unhush
from gradtape.compile.numpy.program import Call, Operand, Program
from gradtape.core.dispatch import recover
from gradtape.graph.graph import Effect

KEYWORD_OUT = {np.maximum, np.minimum}  # NumPy warns about a third position
LARGE = 1 << 16  # bytes; values of this size are deleted after their last read

NAMES = {"plan", "make", "f", "token", "mine", "calls", "late", "error", "s"}


class Writer:
    """Writes the lines of a function and collects the objects that they refer to.

    Attributes:
        space: objects by their name in the source.
        named: names of objects, by id.
        late: whether calls are collected in a list instead of executed.
        local: within a block, names of values (by number) and constants (by id).
    """

    def __init__(self, program: Program) -> None:
        """Start without lines."""
        self.program = program
        self.space: dict[str, Any] = {"recover": recover}
        self.space |= {"hush": hush, "unhush": unhush, "SILENT": SILENT}
        self.named: dict[Any, str] = {}
        self.lines: list[str] = []
        self.depth = 3
        self.late = False
        self.local: dict[int, str] = {}

    def add(self, line: str) -> None:
        """Append a line."""
        self.lines.append("    " * self.depth + line)

    def name(self, thing: Any, hint: str) -> str:
        """The name of an object in the source; `hint` is used if it is free."""
        found = self.named.get(id(thing))
        if found is None:
            found = hint if hint.isidentifier() and not iskeyword(hint) else "f"
            if found in self.space or found in NAMES:
                found = f"{found}_{len(self.space)}"
            self.named[id(thing)] = found
            self.space[found] = thing
        return found

    def operand(self, operand: Operand) -> str:
        """The source of an operand."""
        if type(operand) is int:
            if operand in self.local:
                return self.local[operand]
            if operand in self.program.into:
                return f"v{self.program.into[operand]}"
            if operand in self.program.bound:
                return self.name(self.program.bound[operand], f"b{operand}")
            return f"v{operand}"
        if id(operand) in self.local:
            return self.local[id(operand)]
        if type(operand) is tuple:
            return f"({''.join(self.operand(o) + ', ' for o in operand)})"
        return self.literal(operand.raw)

    def literal(self, value: Any) -> str:
        """The source of a constant: a literal, or the name of an object."""
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        if type(value) is tuple and all(type(v) is int for v in value):
            return repr(value)
        if type(value) is float and value == value and abs(value) != float("inf"):
            return repr(value)
        return self.name(value, f"c{len(self.space)}")

    def target(self, call: Call) -> str | None:
        """The source of the existing array that a call writes to, or None."""
        (out,) = call.outs
        if out in self.local or out in self.program.bound or out in self.program.into:
            return self.operand(out)
        return None

    def write(self, call: Call) -> None:
        """Append a call with the method for its kind, `write_<kind>`."""
        getattr(self, f"write_{call.kind}")(call)

    def result(self, call: Call, text: str) -> None:
        """Append an assignment of `text` to the result."""
        self.add(f"v{call.outs[0]} = {text}")

    def write_ufunc(self, call: Call) -> None:
        """Append a ufunc call, with `out` if the result has a buffer."""
        fn = self.name(call.fn, call.fn.__name__)
        args = ", ".join([self.operand(a) for a in call.args])
        target = self.target(call)
        if self.late:
            self.add(f"late(({fn}, {args}, {target}))")
        elif target is None:
            self.result(call, f"{fn}({args})")
        else:
            self.add(f"{fn}({args}, {'out=' if call.fn in KEYWORD_OUT else ''}{target})")

    def write_product(self, call: Call) -> None:
        """Append a matrix product."""
        self.write_ufunc(call)

    def write_cast(self, call: Call) -> None:
        """Append a conversion to another dtype."""
        x, dtype = [self.operand(a) for a in call.args]
        target = self.target(call)
        if target is None:
            self.result(call, f"{x}.astype({dtype})")
        else:
            a, kind = call.args
            source = self.program.known[a] if type(a) is int else a.raw
            safe = np.can_cast(source.dtype, kind.raw, "same_kind")
            casting = "" if safe else ", 'unsafe'"
            self.add(f"{self.name(np.copyto, 'copyto')}({target}, {x}{casting})")

    def write_put(self, call: Call) -> None:
        """Append `put` on a copy of the array, or on the array itself if the plan overwrites it."""
        x, places, values = [self.operand(a) for a in call.args]
        target = self.target(call)
        if target is None:
            target = f"v{call.outs[0]}"
            self.add(f"{target} = {x}.copy()")
        elif not same_memory(self.program.bound, call):
            self.add(f"{self.name(np.copyto, 'copyto')}({target}, {x})")
        self.add(f"{target}.put({places}, {values})")

    def write_fill(self, call: Call) -> None:
        """Append a broadcast that is copied into a buffer."""
        copyto = self.name(np.copyto, "copyto")
        self.add(f"{copyto}({self.target(call)}, {self.operand(call.args[0])})")

    def write_reduce(self, call: Call) -> None:
        """Append a reduction, without trailing default arguments."""
        fn = self.reducer(call)
        x, axis, dtype, keepdims, *initial = [self.operand(a) for a in call.args]
        target = self.target(call)
        args = [x, axis, dtype, target or "None", keepdims, *initial]
        while not initial and len(args) > 2 and args[-1] in ("None", "False"):
            args.pop()
        text = f"{fn}({', '.join(args)})"
        if target is None:
            self.result(call, text)
        else:
            self.add(text)

    def write_operator(self, call: Call) -> None:
        """Append an operator on scalars."""
        args = [self.operand(a) for a in call.args]
        if call.fn == "abs":
            self.result(call, f"abs({args[0]})")
        elif len(args) == 1:
            self.result(call, f"{'-' if call.fn == 'neg' else call.fn}{args[0]}")
        else:
            a, b = [f"({x})" if x.startswith("-") else x for x in args]  # -2 ** x is not (-2) ** x
            self.result(call, f"{a} {call.fn} {b}")

    def write_view(self, call: Call) -> None:
        """Append a view, or another call of a method or function."""
        x, *args = [self.operand(a) for a in call.args]
        rank = len(self.program.known[call.args[0]].shape) if type(call.args[0]) is int else 0
        if call.fn is np.broadcast_to:
            return self.write_repeated(call, x)
        if type(call.fn) is not str:
            text = f"{self.name(call.fn, call.fn.__name__)}({', '.join([x, *args])})"
        elif call.fn == "[]":
            text = f"{x}[{args[0]}]"
        elif call.fn in ("real", "imag"):
            text = f"{x}.{call.fn}"
        elif rank == 2 and (call.fn == "swapaxes" or args == ["(1, 0)"]):
            text = f"{x}.T"
        else:
            text = f"{x}.{call.fn}({', '.join(args)})"
        self.result(call, text)
        return None

    def write_call(self, call: Call) -> None:
        """Append a call that makes a new array; `concatenate` and `where` can use a buffer."""
        target = self.target(call)
        if target is None:
            return self.write_view(call)
        if call.fn is np.concatenate:
            args = [self.operand(a) for a in call.args]
            return self.add(f"{self.name(call.fn, 'concatenate')}({', '.join(args)}, {target})")
        copyto = self.name(np.copyto, "copyto")
        condition, a, b = [self.operand(x) for x in call.args]
        self.add(f"{copyto}({target}, {b})")
        self.add(f"{copyto}({target}, {a}, where={condition})")
        return None

    def write_blocks(self, call: Call) -> None:
        """Append a loop over blocks; its temporaries are buffers of the plan."""
        assert call.static is not None
        static, full = call.static, call.static["shape"]
        totals = [c for c in call.body if c.kind == "reduce"]
        ends = {c.outs[0] for c in totals}
        for out in call.outs:
            placed = out in self.program.bound or out in self.program.into
            if out not in ends and not placed:
                empty, dtype = self.name(np.empty, "empty"), self.program.known[out].dtype
                self.add(f"v{out} = {empty}({full!r}, {self.literal(dtype)})")
        local: dict[int, str] = {n: f"t{place}" for n, place in static["temps"].items()}
        sliced: dict[str, str] = {}  # arrays that each block slices: name in the loop → source
        for a in dict.fromkeys([*call.outs, *(a for c in call.body for a in c.args)]):
            number = a if type(a) is int else id(a)
            if number in local or a in ends or not self.is_cut(a, full):
                continue
            local[number] = f"i{len(sliced)}"
            sliced[local[number]] = self.flattened(a) if static["flat"] else self.operand(a)
        for c in totals:
            self.add(f"p{c.outs[0]} = []")
        temps = [f"t{i}" for i in range(len(static["arrays"]))]
        pieces = blocks_of(static["count"], static["rows"], static["arrays"])
        self.add(
            f"for {', '.join(['s', *temps])}, in {self.name(pieces, f'blocks{len(self.space)}')}:"
        )
        self.depth += 1
        self.local = local
        for name, source in sliced.items():
            self.add(f"{name} = {source}[s]")
        for c in call.body:
            if c.kind == "reduce":
                text = f"{self.reducer(c)}({self.operand(c.args[0])}, None)"
                self.add(f"p{c.outs[0]}.append({text})")
            else:
                self.write(c)
        self.depth -= 1
        self.local = {}
        for c in totals:
            self.add(f"v{c.outs[0]} = {self.reducer(c)}(p{c.outs[0]})")

    def collected(self, calls: list[Call]) -> str:
        """The source of the deferred calls: a tuple, or the name of a list if there are blocks."""
        if any(call.kind == "blocks" for call in calls):
            self.add("calls = []")
            self.add("late = calls.append")
            self.late = True
            for call in calls:
                self.write(call)
            return "calls"
        text = ""
        for call in calls:
            operands = [self.operand(a) for a in (*call.args, *call.outs)]
            text += f"({', '.join([self.name(call.fn, call.fn.__name__), *operands])}), "
        return f"({text})"

    def is_cut(self, a: Operand, full: tuple[int, ...]) -> bool:
        """Whether an operand of a chain must be sliced for each block."""
        if type(a) is int:
            shape = self.program.known[a].shape
        else:
            shape = a.raw.shape if type(a.raw) is np.ndarray else ()
        return len(shape) == len(full) and (shape[0] > 1 or full[0] == 1)

    def flattened(self, a: Operand) -> str:
        """The name of an operand flattened to one axis; a buffer is flattened only once."""
        array = self.program.bound.get(a) if type(a) is int else a.raw
        if array is not None and array.flags.c_contiguous:
            return self.name(array.reshape(-1), f"f{len(self.space)}")
        name = f"x{a if type(a) is int else len(self.space)}"
        self.add(f"{name} = {self.operand(a)}.ravel()")
        return name

    def reducer(self, call: Call) -> str:
        """The name of the `reduce` method of a call's ufunc."""
        name = f"{call.fn.__name__}_reduce"
        self.space[name] = call.fn.reduce
        return name

    def write_repeated(self, call: Call, x: str) -> None:
        """Append a broadcast; filling a small array takes a tenth of the time of `broadcast_to`."""
        known = self.program.known[call.outs[0]]
        shape = self.operand(call.args[1])
        if known.size > 16384:
            self.result(call, f"{self.name(np.broadcast_to, 'broadcast_to')}({x}, {shape})")
        else:
            empty, dtype = self.name(np.empty, "empty"), self.literal(known.dtype)
            self.result(call, f"{empty}({shape}, {dtype})")
            self.add(f"v{call.outs[0]}[...] = {x}")

    def write_opaque(self, call: Call) -> None:
        """Append the call of a kernel; its errors become TensorFlow's errors."""
        op = call.fn
        args = [self.operand(a) for a in call.args]
        static = [f"{name}={self.literal(value)}" for name, value in (call.static or {}).items()]
        kernel = self.name(op.kernel, op.name)
        text = f"{kernel}({', '.join(args + static)})"
        outs = "".join(f"v{o}, " for o in call.outs)
        left = f"{outs} = " if op.outputs and outs else f"v{call.outs[0]} = " if outs else ""
        if isinstance(op, Effect):
            self.add(f"{left}{text}")
            return
        raws = f"({''.join(a + ', ' for a in args)})"
        again = f"recover(error, {self.name(op, f'{op.name}_op')}, {raws}, "
        again += f"{self.name(call.static or {}, f's{len(self.space)}')})"
        self.add("try:")
        self.add(f"    {left}{text}")
        self.add("except Exception as error:")
        self.add(f"    {left}{again}")


class Busy(list[object]):
    """The calls that are running a plan: the first owns its buffers, the others do without."""


def generate(program: Program, spare: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Generate the function of a program, from raw inputs to a tuple of raw outputs.

    With `spare`, only one call at a time uses the function; concurrent calls go to `spare`. For a
    program with commits the function returns (outputs, commit calls).
    """
    writer = Writer(program)
    dying = last_reads(program)
    for i, call in enumerate(program.calls):
        writer.write(call)
        if dying[i]:
            writer.add(f"del {', '.join(f'v{n}' for n in dying[i])}")
    returned = f"({''.join(writer.operand(o) + ', ' for o in program.outputs)})"
    if program.commits:
        returned = f"{returned}, {writer.collected(program.commits)}"
    space = writer.space
    inputs = ", ".join(f"v{i}" for i in program.inputs)
    start, end = [], ["            unhush(token)"]
    if spare:
        busy = Busy()
        space |= {"busy": busy, "enter": busy.append, "leave": busy.remove, "spare": spare}
        start = [
            "            enter(mine)",
            "            if busy[0] is not mine:",
            f"                return spare({inputs})",
        ]
        # Python handles signals after calls: the owner is released wherever an interrupt lands.
        end = [
            "            try:",
            "                unhush(token)",
            "            finally:",
            "                if mine in busy:",
            "                    leave(mine)",
        ]
    lines = [
        f"def make({', '.join(space)}):",
        f"    def plan({inputs}):",
        *(["        mine = object()"] if spare else []),
        "        token = hush(SILENT)",
        "        try:",
        *start,
        *writer.lines,
        f"            return {returned}",
        "        finally:",
        *end,
        "    return plan",
    ]
    made: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<gradtape plan>", "exec"), made)
    function: Callable[..., Any] = made["make"](*space.values())
    return function


def same_memory(bound: dict[int, Any], call: Call) -> bool:
    """Whether a call writes over its first operand."""
    return call.args[0] in bound and bound[call.args[0]] is bound[call.outs[0]]


def blocks_of(count: int, rows: int, arrays: list[Any]) -> list[tuple[Any, ...]]:
    """A slice and the temporaries for each block; the last block may be shorter."""
    found = []
    for start in range(0, count, rows):
        stop = min(start + rows, count)
        temps = arrays if stop - start == rows else [a[: stop - start] for a in arrays]
        found.append((slice(start, stop), *temps))
    return found


def last_reads(program: Program) -> list[list[int]]:
    """For each call, the large values computed by the run that no later call reads."""
    seen = {o for o in program.outputs if type(o) is int} | set(program.inputs) | set(program.bound)
    seen.update(i for call in program.commits for i in call.reads())
    last: list[list[int]] = []
    for call in reversed(program.calls):
        dying = []
        for number in dict.fromkeys((*call.outs, *call.reads())):
            if number not in seen:
                seen.add(number)
                known = program.known[number]
                if known.size * known.dtype.itemsize >= LARGE:
                    dying.append(number)
        last.append(dying)
    last.reverse()
    return last
