"""The source of each kind of call: one method `write_<kind>` of `CallWriter`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.program import NumpyCall, Operand
from gradtape.compile.numpy.source_writer import SourceWriter
from gradtape.core.identifier import check_identifier
from gradtape.graph.graph import Effect

KEYWORD_OUT_UFUNCS = {np.maximum, np.minimum}  # NumPy warns about a third position


class CallWriter(SourceWriter):
    """Writes calls as lines of source."""

    def write(self, call: NumpyCall) -> None:
        """Append a call with the method for its kind, `write_<kind>`."""
        getattr(self, f"write_{call.kind}")(call)

    def assign_result(self, call: NumpyCall, text: str) -> None:
        """Append an assignment of `text` to the result."""
        self.add_line(f"v{call.outs[0]} = {text}")

    def write_ufunc(self, call: NumpyCall) -> None:
        """Append a ufunc call, with `out` if the result has a buffer."""
        fn = self.name_object(call.fn, call.fn.__name__)
        args = ", ".join([self.operand_source(a) for a in call.args])
        target = self.target_array(call)
        if self.collects_calls:
            self.add_line(f"late(({fn}, {args}, {target}))")
        elif target is None:
            self.assign_result(call, f"{fn}({args})")
        else:
            self.add_line(
                f"{fn}({args}, {'out=' if call.fn in KEYWORD_OUT_UFUNCS else ''}{target})"
            )

    def write_product(self, call: NumpyCall) -> None:
        """Append a matrix product."""
        self.write_ufunc(call)

    def write_cast(self, call: NumpyCall) -> None:
        """Append a conversion to another dtype."""
        x, dtype = [self.operand_source(a) for a in call.args]
        target = self.target_array(call)
        if target is None:
            self.assign_result(call, f"{x}.astype({dtype})")
        else:
            a, kind = call.args
            source = self.program.specs[a] if type(a) is int else a.raw
            safe = np.can_cast(source.dtype, kind.raw, "same_kind")
            casting = "" if safe else ", 'unsafe'"
            self.add_line(f"{self.name_object(np.copyto, 'copyto')}({target}, {x}{casting})")

    def write_put(self, call: NumpyCall) -> None:
        """Append `put` on a copy of the array, or on the array itself if the plan overwrites it."""
        x, places, values = [self.operand_source(a) for a in call.args]
        target = self.target_array(call)
        if target is None:
            target = f"v{call.outs[0]}"
            self.add_line(f"{target} = {x}.copy()")
        elif not has_same_memory(self.program.buffers, call):
            self.add_line(f"{self.name_object(np.copyto, 'copyto')}({target}, {x})")
        self.add_line(f"{target}.put({places}, {values})")

    def write_prepared(self, call: NumpyCall) -> None:
        """Append a prepared call of the commit."""
        self.add_line(f"late({self.operand_source(call.args[0])})")

    def write_fill(self, call: NumpyCall) -> None:
        """Append a broadcast that is copied into a buffer."""
        copyto = self.name_object(np.copyto, "copyto")
        self.add_line(f"{copyto}({self.target_array(call)}, {self.operand_source(call.args[0])})")

    def write_reduce(self, call: NumpyCall) -> None:
        """Append a reduction, without trailing default arguments."""
        fn = self.name_reducer(call)
        x, axis, dtype, keepdims, *initial = [self.operand_source(a) for a in call.args]
        target = self.target_array(call)
        args = [x, axis, dtype, target or "None", keepdims, *initial]
        while not initial and len(args) > 2 and args[-1] in ("None", "False"):
            args.pop()
        text = f"{fn}({', '.join(args)})"
        if target is None:
            self.assign_result(call, text)
        else:
            self.add_line(text)

    def write_operator(self, call: NumpyCall) -> None:
        """Append an operator on scalars."""
        args = [self.operand_source(a) for a in call.args]
        if call.fn == "abs":
            self.assign_result(call, f"abs({args[0]})")
        elif len(args) == 1:
            self.assign_result(call, f"{'-' if call.fn == 'neg' else call.fn}{args[0]}")
        else:
            a, b = [f"({x})" if x.startswith("-") else x for x in args]  # -2 ** x is not (-2) ** x
            self.assign_result(call, f"{a} {call.fn} {b}")

    def write_view(self, call: NumpyCall) -> None:
        """Append a view, or another call of a method or function."""
        x, *args = [self.operand_source(a) for a in call.args]
        rank = len(self.program.specs[call.args[0]].shape) if type(call.args[0]) is int else 0
        if call.fn is np.broadcast_to:
            return self.write_broadcast(call, x)
        if type(call.fn) is not str:
            text = f"{self.name_object(call.fn, call.fn.__name__)}({', '.join([x, *args])})"
        elif call.fn == "[]":
            text = f"{x}[{args[0]}]"
        elif call.fn in ("real", "imag"):
            text = f"{x}.{call.fn}"
        elif rank == 2 and (call.fn == "swapaxes" or (call.fn, *args) == ("transpose", "(1, 0)")):
            text = f"{x}.T"
        else:
            text = f"{x}.{check_identifier(call.fn)}({', '.join(args)})"
        self.assign_result(call, text)
        return None

    def write_call(self, call: NumpyCall) -> None:
        """Append a call that makes a new array; `concatenate` and `where` can use a buffer."""
        target = self.target_array(call)
        if target is None:
            return self.write_view(call)
        if call.fn is np.concatenate:
            args = [self.operand_source(a) for a in call.args]
            return self.add_line(
                f"{self.name_object(call.fn, 'concatenate')}({', '.join(args)}, {target})"
            )
        copyto = self.name_object(np.copyto, "copyto")
        condition, a, b = [self.operand_source(x) for x in call.args]
        self.add_line(f"{copyto}({target}, {b})")
        self.add_line(f"{copyto}({target}, {a}, where={condition})")
        return None

    def write_blocks(self, call: NumpyCall) -> None:
        """Append a loop over blocks; its temporaries are buffers of the plan."""
        assert call.static is not None
        static, full = call.static, call.static["shape"]
        totals = [c for c in call.body if c.kind == "reduce"]
        ends = {c.outs[0] for c in totals}
        for out in call.outs:
            placed = out in self.program.buffers or out in self.program.overwrites
            if out not in ends and not placed:
                empty, dtype = self.name_object(np.empty, "empty"), self.program.specs[out].dtype
                self.add_line(f"v{out} = {empty}({full!r}, {self.literal_source(dtype)})")
        local: dict[int, str] = {n: f"t{place}" for n, place in static["temps"].items()}
        sliced: dict[str, str] = {}  # arrays that each block slices: name in the loop → source
        for a in dict.fromkeys([*call.outs, *(a for c in call.body for a in c.args)]):
            number = a if type(a) is int else id(a)
            if number in local or a in ends or not self.is_sliced(a, full):
                continue
            local[number] = f"i{len(sliced)}"
            sliced[local[number]] = (
                self.flatten_operand(a) if static["flat"] else self.operand_source(a)
            )
        for c in totals:
            self.add_line(f"p{c.outs[0]} = []")
        temps = [f"t{i}" for i in range(len(static["arrays"]))]
        pieces = split_into_blocks(static["count"], static["rows"], static["arrays"])
        self.add_line(
            f"for {', '.join(['s', *temps])}, in "
            f"{self.name_object(pieces, f'blocks{len(self.namespace)}')}:"
        )
        self.depth += 1
        self.block_names = local
        for name, source in sliced.items():
            self.add_line(f"{name} = {source}[s]")
        for c in call.body:
            if c.kind == "reduce":
                text = f"{self.name_reducer(c)}({self.operand_source(c.args[0])}, None)"
                self.add_line(f"p{c.outs[0]}.append({text})")
            else:
                self.write(c)
        self.depth -= 1
        self.block_names = {}
        for c in totals:
            self.add_line(f"v{c.outs[0]} = {self.name_reducer(c)}(p{c.outs[0]})")

    def collect_commits(self, calls: list[NumpyCall]) -> str:
        """The source of the deferred calls: a tuple, or the name of a list if there are blocks."""
        if any(call.kind == "blocks" for call in calls):
            self.add_line("calls = []")
            self.add_line("late = calls.append")
            self.collects_calls = True
            for call in calls:
                self.write(call)
            return "calls"
        text = ""
        for call in calls:
            if call.kind == "prepared":
                text += f"{self.operand_source(call.args[0])}, "
                continue
            operands = [self.operand_source(a) for a in (*call.args, *call.outs)]
            text += f"({', '.join([self.name_object(call.fn, call.fn.__name__), *operands])}), "
        return f"({text})"

    def is_sliced(self, a: Operand, full: tuple[int, ...]) -> bool:
        """Whether an operand of a chain must be sliced for each block."""
        if type(a) is int:
            shape = self.program.specs[a].shape
        else:
            shape = a.raw.shape if type(a.raw) is np.ndarray else ()
        return len(shape) == len(full) and (shape[0] > 1 or full[0] == 1)

    def write_broadcast(self, call: NumpyCall, x: str) -> None:
        """Append a broadcast; filling a small array takes a tenth of the time of `broadcast_to`."""
        known = self.program.specs[call.outs[0]]
        shape = self.operand_source(call.args[1])
        if known.size > 16384:
            self.assign_result(
                call, f"{self.name_object(np.broadcast_to, 'broadcast_to')}({x}, {shape})"
            )
        else:
            empty, dtype = self.name_object(np.empty, "empty"), self.literal_source(known.dtype)
            self.assign_result(call, f"{empty}({shape}, {dtype})")
            self.add_line(f"v{call.outs[0]}[...] = {x}")

    def write_opaque(self, call: NumpyCall) -> None:
        """Append the call of a kernel; its errors become TensorFlow's errors."""
        op = call.fn
        args = [self.operand_source(a) for a in call.args]
        static = [
            f"{check_identifier(name)}={self.literal_source(value)}"
            for name, value in (call.static or {}).items()
        ]
        kernel = self.name_object(op.kernel, op.name)
        text = f"{kernel}({', '.join(args + static)})"
        outs = "".join(f"v{o}, " for o in call.outs)
        left = f"{outs} = " if op.outputs and outs else f"v{call.outs[0]} = " if outs else ""
        if isinstance(op, Effect):
            self.add_line(f"{left}{text}")
            return
        raws = f"({''.join(a + ', ' for a in args)})"
        again = f"explain_kernel_error(error, {self.name_object(op, f'{op.name}_op')}, {raws}, "
        again += f"{self.name_object(call.static or {}, f's{len(self.namespace)}')})"
        self.add_line("try:")
        self.add_line(f"    {left}{text}")
        self.add_line("except Exception as error:")
        self.add_line(f"    {left}{again}")


def has_same_memory(bound: dict[int, Any], call: NumpyCall) -> bool:
    """Whether a call writes over its first operand."""
    return call.args[0] in bound and bound[call.args[0]] is bound[call.outs[0]]


def split_into_blocks(count: int, rows: int, arrays: list[Any]) -> list[tuple[Any, ...]]:
    """A slice and the temporaries for each block; the last block may be shorter."""
    found = []
    for start in range(0, count, rows):
        stop = min(start + rows, count)
        temps = arrays if stop - start == rows else [a[: stop - start] for a in arrays]
        found.append((slice(start, stop), *temps))
    return found
