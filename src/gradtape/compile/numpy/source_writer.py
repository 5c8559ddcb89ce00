"""Names and operands in the source of a plan."""

from __future__ import annotations

import builtins
import re
from keyword import iskeyword
from typing import Any

from gradtape.compile.numpy.program import NumpyCall, Operand, Program
from gradtape.core.dispatch import explain_kernel_error
from gradtape.core.float_errors import IGNORE_ALL, reset_float_errors, set_float_errors
from gradtape.core.identifier import check_identifier

# Names that every plan may use for itself: its functions and variables, and Python's functions.
RESERVED_NAMES = {"plan", "make", "f", "token", "mine", "calls", "late", "error", "s"}
RESERVED_NAMES |= {"busy", "enter", "leave", "spare", *dir(builtins)}
VALUE_NAME = re.compile(r"[vtipx]\d+")  # variables of a plan: a letter and a number


class SourceWriter:
    """Writes the lines of a function and collects the objects that they refer to.

    Attributes:
        namespace: objects by their name in the source.
        names: names of objects, by id.
        reducers: names of the `reduce` methods of ufuncs.
        collects_calls: whether calls are collected in a list instead of executed.
        block_names: within a block, names of values (by number) and constants (by id).
    """

    def __init__(self, program: Program) -> None:
        """Start without lines."""
        self.program = program
        self.namespace: dict[str, Any] = {"explain_kernel_error": explain_kernel_error}
        self.namespace |= {
            "set_float_errors": set_float_errors,
            "reset_float_errors": reset_float_errors,
            "IGNORE_ALL": IGNORE_ALL,
        }
        self.names: dict[Any, str] = {}
        self.reducers: dict[Any, str] = {}
        self.lines: list[str] = []
        self.depth = 3
        self.collects_calls = False
        self.block_names: dict[int, str] = {}

    def add_line(self, line: str) -> None:
        """Append a line."""
        self.lines.append("    " * self.depth + line)

    def name_object(self, thing: Any, hint: str) -> str:
        """The name of an object in the source; `hint` is used if it is free."""
        found = self.names.get(id(thing))
        if found is None:
            found = self.names[id(thing)] = self.make_name(hint)
            self.namespace[found] = thing
        return found

    def make_name(self, hint: str) -> str:
        """A name like `hint` that nothing else in the source has."""
        name = hint if hint.isidentifier() and not iskeyword(hint) else "f"
        number = len(self.namespace)
        while name in self.namespace or name in RESERVED_NAMES or VALUE_NAME.fullmatch(name):
            name = f"{hint if hint.isidentifier() else 'f'}_{number}"
            number += 1
        return check_identifier(name)

    def name_reducer(self, call: NumpyCall) -> str:
        """The name of the `reduce` method of a call's ufunc."""
        found = self.reducers.get(call.fn)
        if found is None:
            found = self.reducers[call.fn] = self.make_name(f"{call.fn.__name__}_reduce")
            self.namespace[found] = call.fn.reduce
        return found

    def operand_source(self, operand: Operand) -> str:
        """The source of an operand."""
        if type(operand) is int:
            if operand in self.block_names:
                return self.block_names[operand]
            if operand in self.program.overwrites:
                return f"v{self.program.overwrites[operand]}"
            if operand in self.program.buffers:
                return self.name_object(self.program.buffers[operand], f"b{operand}")
            return f"v{operand}"
        if id(operand) in self.block_names:
            return self.block_names[id(operand)]
        if type(operand) is tuple:
            return f"({''.join(self.operand_source(o) + ', ' for o in operand)})"
        return self.literal_source(operand.raw)

    def literal_source(self, value: Any) -> str:
        """The source of a constant: a literal number, or the name of an object.

        A string is never a literal, so that no text of a file becomes source.
        """
        if value is None or type(value) in (bool, int):
            return repr(value)
        if type(value) is tuple and all(type(v) is int for v in value):
            return repr(value)
        if type(value) is float and value == value and abs(value) != float("inf"):
            return repr(value)
        return self.name_object(value, f"c{len(self.namespace)}")

    def target_array(self, call: NumpyCall) -> str | None:
        """The source of the existing array that a call writes to, or None."""
        (out,) = call.outs
        if out in self.block_names or out in self.program.buffers or out in self.program.overwrites:
            return self.operand_source(out)
        return None

    def flatten_operand(self, a: Operand) -> str:
        """The name of an operand flattened to one axis; a buffer is flattened only once."""
        array = self.program.buffers.get(a) if type(a) is int else a.raw
        if array is not None and array.flags.c_contiguous:
            return self.name_object(array.reshape(-1), f"f{len(self.namespace)}")
        name = f"x{a if type(a) is int else len(self.namespace)}"
        self.add_line(f"{name} = {self.operand_source(a)}.ravel()")
        return name
