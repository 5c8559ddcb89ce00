"""The source of a random program as a tree of statements, and its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field

MARK = re.compile(r"(\s*)<(\d+)>")
NAME = re.compile(r"\b[a-z]+\d+\b")
INDENT = "    "
PREAMBLE = """import numpy as np
from numpy import inf, nan

import gradtape as tf
"""


@dataclass
class Block:
    """An indented list of statements; `ending` is the line that uses their results."""

    statements: list[Statement]
    ending: str

    def render(self, hook: str) -> list[str]:
        """The lines of the block."""
        lines = [line for statement in self.statements for line in statement.render(hook)]
        return [*lines, *self.ending.splitlines()]


@dataclass
class Statement:
    """One step of a program.

    Attributes:
        target: the name that it defines, or "" if it only has an effect.
        text: its source; a line `<k>` stands for the lines of block k.
        blocks: the bodies of its functions, branches and loops.
        spec: dtype and shape of the value, if it is a tensor.
        literal: source of a constant with the value that it had when it was drawn, or "".
    """

    target: str
    text: str
    blocks: list[Block] = field(default_factory=list)
    spec: tuple[str, tuple[int, ...]] | None = None
    literal: str = ""

    def render(self, hook: str = "") -> list[str]:
        """The lines of the statement; `hook` names a function that every result goes through."""
        lines = []
        for line in self.text.splitlines():
            mark = MARK.fullmatch(line)
            if mark:
                inner = self.blocks[int(mark[2])].render(hook)
                lines += [mark[1] + part for part in inner]
            else:
                lines.append(line)
        if hook and self.target and self.spec:
            lines.append(f"{self.target} = {hook}({self.target})")
        return lines

    def names(self) -> set[str]:
        """Every name in the statement, those of its blocks included."""
        return set(NAME.findall("\n".join(self.render())))


@dataclass
class Program:
    """A random program.

    Attributes:
        setup: statements of `make`: seeds, variables, generators, functions.
        body: the function that is called; its ending returns the results.
        parameters: names of the arguments.
        calls: for each call the source of each argument.
        variables: names of the state that is compared after each call.
        order: 0 compares values, 1 also gradients, 2 also gradients of gradients.
        decorator: how the body becomes a `tf.function`; if empty, only what it calls is one.
        traits: what the comparison has to know, see `comparison.py`.
    """

    setup: list[Statement]
    body: Block
    parameters: list[str]
    calls: list[list[str]]
    variables: list[str]
    order: int
    decorator: str
    traits: frozenset[str]

    def render(self, hook: str = "") -> str:
        """The source: `make` returns a function and its state, `make_calls` the arguments."""
        lines = [PREAMBLE, "", "def make():"]
        inner = [line for statement in self.setup for line in statement.render()]
        if self.decorator:
            inner.append(self.decorator)
        inner.append(f"def f({', '.join(self.parameters)}):")
        inner += [INDENT + line for line in self.body.render(hook)]
        inner.append(f"return f, [{', '.join(self.variables)}]")
        lines += [INDENT + line for line in inner]
        lines += ["", "", f"def make_calls({', '.join(self.variables)}):", f"{INDENT}return ["]
        lines += [f"{INDENT * 2}[{', '.join(call)}]," for call in self.calls]
        lines.append(f"{INDENT}]")
        return "\n".join(lines) + "\n"

    def blocks(self) -> Iterator[tuple[Block, bool]]:
        """Every block of the program, outer ones first; whether it is the outermost one."""
        yield self.body, True
        todo = [*self.setup, *self.body.statements]
        while todo:
            statement = todo.pop(0)
            for block in statement.blocks:
                yield block, False
                todo += block.statements

    def prune(self) -> Program:
        """A copy without statements whose results nothing uses; graphs do not run them either."""
        copy = deepcopy(self)
        while sum(prune_block(block, copy) for block, _ in copy.blocks()):
            pass
        return copy


def prune_block(block: Block, program: Program) -> bool:
    """Remove statements of a block that nothing uses; whether there were any."""
    text = program.render()
    kept = [s for s in block.statements if not s.target or is_used(s, text)]
    changed = len(kept) < len(block.statements)
    block.statements[:] = kept
    return changed


def is_used(statement: Statement, text: str) -> bool:
    """Whether the name that a statement defines occurs outside of it."""
    name = re.compile(rf"\b{statement.target}\b")
    return len(name.findall(text)) > len(name.findall("\n".join(statement.render())))
