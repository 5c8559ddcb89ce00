"""Code generation: one flat Python function for a program, with its data as closure variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.compile.numpy.call_writer import CallWriter
from gradtape.compile.numpy.program import Program
from gradtape.core.generated_code import execute_source

MIN_DELETED_BYTES = 1 << 16  # bytes; values of this size are deleted after their last read


class BufferOwner(list[object]):
    """The calls that are running a plan: the first owns its buffers, the others do without."""


def generate_function(
    program: Program, spare: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Generate the function of a program, from raw inputs to a tuple of raw outputs.

    With `spare`, only one call at a time uses the function; concurrent calls go to `spare`. For a
    program with commits the function returns (outputs, commit calls).
    """
    writer = CallWriter(program)
    dying = find_last_reads(program)
    for i, call in enumerate(program.calls):
        writer.write(call)
        if dying[i]:
            writer.add_line(f"del {', '.join(f'v{n}' for n in dying[i])}")
    returned = f"({''.join(writer.operand_source(o) + ', ' for o in program.outputs)})"
    if program.commit_calls:
        returned = f"{returned}, {writer.collect_commits(program.commit_calls)}"
    space = writer.namespace
    inputs = ", ".join(f"v{i}" for i in program.inputs)
    start, end = [], ["            reset_float_errors(token)"]
    if spare:
        busy = BufferOwner()
        space |= {"busy": busy, "enter": busy.append, "leave": busy.remove, "spare": spare}
        start = [
            "            enter(mine)",
            "            if busy[0] is not mine:",
            f"                return spare({inputs})",
        ]
        # Python handles signals after calls: the owner is released wherever an interrupt lands.
        end = [
            "            try:",
            "                reset_float_errors(token)",
            "            finally:",
            "                if mine in busy:",
            "                    leave(mine)",
        ]
    lines = [
        f"def make({', '.join(space)}):",
        f"    def plan({inputs}):",
        *(["        mine = object()"] if spare else []),
        "        token = set_float_errors(IGNORE_ALL)",
        "        try:",
        *start,
        *writer.lines,
        f"            return {returned}",
        "        finally:",
        *end,
        "    return plan",
    ]
    made: dict[str, Any] = {}
    execute_source("plan", "\n".join([*lines, ""]), made)
    function: Callable[..., Any] = made["make"](*space.values())
    return function


def find_last_reads(program: Program) -> list[list[int]]:
    """For each call, the large values computed by the run that no later call reads."""
    seen = (
        {o for o in program.outputs if type(o) is int} | set(program.inputs) | set(program.buffers)
    )
    seen.update(i for call in program.commit_calls for i in call.reads())
    last: list[list[int]] = []
    for call in reversed(program.calls):
        dying = []
        for number in dict.fromkeys((*call.outs, *call.reads())):
            if number not in seen:
                seen.add(number)
                known = program.specs[number]
                if known.size * known.dtype.itemsize >= MIN_DELETED_BYTES:
                    dying.append(number)
        last.append(dying)
    last.reverse()
    return last
