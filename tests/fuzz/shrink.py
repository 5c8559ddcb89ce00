"""Make a failing program smaller while it fails in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy

from tests.fuzz.generator.source import Block, Program, Statement

MOST_TRIES = 400


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest program found that still fails."""
    tries = 0
    improved = True
    while improved and tries < MOST_TRIES:
        improved = False
        for candidate in list_candidates(program):
            tries += 1
            if tries >= MOST_TRIES:
                break
            if is_smaller(candidate, program) and fails(candidate):
                program, improved = candidate, True
                break
    return program


def is_smaller(candidate: Program, program: Program) -> bool:
    """Whether a program is shorter, or takes fewer derivatives."""
    text, other = candidate.render(), program.render()
    return len(text) < len(other) or (text == other and candidate.order < program.order)


def list_candidates(program: Program) -> Iterator[Program]:
    """Smaller programs, those that lose most first."""
    if program.order:
        candidate = deepcopy(program)
        candidate.order -= 1
        yield candidate
    yield program.prune()
    yield from drop_outputs(program)
    yield from inline_names(program)
    yield from drop_statements(program)
    yield from replace_statements(program)
    yield from drop_setup(program)
    yield from drop_calls(program)


def drop_calls(program: Program) -> Iterator[Program]:
    """Fewer calls."""
    for index in range(len(program.calls)):
        if len(program.calls) > 1:
            candidate = deepcopy(program)
            del candidate.calls[index]
            yield candidate


def drop_outputs(program: Program) -> Iterator[Program]:
    """Only one output: one of the present ones, or an earlier result."""
    names = re.findall(r"\bv\d+\b", program.body.ending)
    names += [statement.target for statement in program.body.statements if statement.target]
    for name in dict.fromkeys(names):
        candidate = deepcopy(program)
        candidate.body.ending = f"return {name}"
        yield candidate.prune()


def inline_names(program: Program) -> Iterator[Program]:
    """Without a statement that only gives a value another name."""
    for number, (block, _) in enumerate(program.blocks()):
        for index, statement in enumerate(block.statements):
            match = re.fullmatch(r"(\w+) = ([a-z]+\d+)", statement.text)
            if match:
                candidate = deepcopy(program)
                blocks = [inner for inner, _ in candidate.blocks()]
                del blocks[number].statements[index]
                for inner in blocks:
                    rename(inner, match[1], match[2])
                yield candidate


def rename(block: Block, old: str, new: str) -> None:
    """Use another name in the statements of a block."""
    pattern = re.compile(rf"\b{old}\b")
    block.ending = pattern.sub(new, block.ending)
    for statement in block.statements:
        statement.text = pattern.sub(new, statement.text)


def drop_statements(program: Program) -> Iterator[Program]:
    """Without one statement and all that use it."""
    for number, (block, _) in enumerate(program.blocks()):
        for index in range(len(block.statements) - 1, -1, -1):
            candidate = deepcopy(program)
            inner = next(b for k, (b, _) in enumerate(candidate.blocks()) if k == number)
            if remove(inner, index):
                yield candidate


def remove(block: Block, index: int) -> bool:
    """Remove a statement and its dependents; False if the block's ending needs them."""
    lost = {block.statements.pop(index).target} - {""}
    for statement in list(block.statements):
        if statement.names() & lost:
            block.statements.remove(statement)
            lost |= {statement.target} - {""}
    return not any(re.search(rf"\b{name}\b", block.ending) for name in lost)


def replace_statements(program: Program) -> Iterator[Program]:
    """One statement replaced by an earlier name of the same dtype and shape, or by a constant."""
    for number, (block, _) in enumerate(program.blocks()):
        for index, statement in enumerate(block.statements):
            for text in list_replacements(block, index):
                candidate = deepcopy(program)
                inner = next(b for k, (b, _) in enumerate(candidate.blocks()) if k == number)
                new = Statement(
                    statement.target, f"{statement.target} = {text}", spec=statement.spec
                )
                if new.text != statement.text:
                    inner.statements[index] = new
                    yield candidate


def list_replacements(block: Block, index: int) -> list[str]:
    """Expressions with the dtype and shape of a statement's result."""
    statement = block.statements[index]
    earlier = [s.target for s in block.statements[:index] if s.spec == statement.spec and s.target]
    texts = earlier[:2] if statement.spec else []
    if statement.literal and "tf.constant" not in statement.text[:30]:
        texts.append(statement.literal)
    return texts


def drop_setup(program: Program) -> Iterator[Program]:
    """Without variables and functions that nothing uses."""
    text = "\n".join(program.body.render(""))
    for index, statement in enumerate(program.setup):
        others = "\n".join(s.text for k, s in enumerate(program.setup) if k != index)
        name = statement.target
        if not name or re.search(rf"\b{name}\b", text + others):
            continue
        candidate = deepcopy(program)
        del candidate.setup[index]
        candidate.variables = [v for v in candidate.variables if v != name]
        yield candidate
