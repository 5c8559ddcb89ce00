"""Fits a template to an op: replaces words of its text and compiles it under its own line numbers.

A template is an ordinary function in a file of its own, such as `template.py`. Names in capitals
are flags, which become True or False, or expressions. Calls such as `kernel(x_)` are replaced by
what they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import Any


class Template:
    """A function of a template file: its lines, and the number of lines above it."""

    def __init__(self, path: str, name: str) -> None:
        """Read the function `name` of the file at `path`."""
        text = read_template_file(path)
        start = text.index(f"def {name}(")
        self.path = path
        self.name = name
        self.lines = text[start:].partition("\n\n\n")[0].rstrip().split("\n")
        self.lines_above = text.count("\n", 0, start)
        self.resolved: dict[tuple[Any, ...], str] = {}

    def resolve(self, flags: Mapping[str, bool]) -> str:
        """The text with flags replaced by their values and without the blocks that are False."""
        key = tuple(flags.values())
        text = self.resolved.get(key)
        if text is None:
            text = "\n".join(blank_dead_blocks(self.lines, [f for f in flags if not flags[f]]))
            for flag, value in flags.items():
                if value:
                    text = text.replace(f"{flag} and ", "")
                text = text.replace(flag, str(value))
            text = text.replace(" and (not False or local.device is None)", "")
            self.resolved[key] = text
        return text


@cache
def read_template_file(path: str) -> str:
    """The text of a template file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


@cache
def find_template(path: str, name: str) -> Template:
    """The template `name` in the file at `path`."""
    return Template(path, name)


def blank_dead_blocks(lines: list[str], false: list[str]) -> list[str]:
    """Blank the blocks whose condition begins with a false flag, which makes compiling faster.

    The compiler would drop them, too. A block with an `else` stays.
    """
    kept = list(lines)
    starts = tuple(
        f"{word} {flag}{end}" for word in ("if", "elif") for flag in false for end in (":", " and ")
    )
    for i in range(len(kept) - 1, 0, -1):
        code = kept[i].lstrip()
        if code.startswith(starts):
            indent = len(kept[i]) - len(code)
            end = i + 1
            while end < len(kept) and (indent_of(kept[end]) > indent or kept[end].lstrip() == "):"):
                end += 1
            follows = kept[end].lstrip() if end < len(kept) else ""
            if code.startswith("elif") or not follows.startswith(("elif", "else")):
                kept[i:end] = [""] * (end - i)
    return kept


def indent_of(line: str) -> int:
    """The number of spaces before the code of a line; that of a blank line is unlimited."""
    return len(line) - len(line.lstrip()) if line else 1 << 16


def compile_template(template: Template, text: str, names: Mapping[str, str]) -> FunctionType:
    """Compile a specialised text; `names` renames its variables.

    Returns:
        A function without a namespace of its own: take its code and its defaults.
    """
    made: dict[str, Any] = {}
    exec(compile("\n" * template.lines_above + text, template.path, "exec"), made)
    made.pop("__builtins__")
    (function,) = made.values()
    code: CodeType = function.__code__
    renamed = tuple([names.get(name, name) for name in code.co_varnames])
    if renamed != code.co_varnames:
        function.__code__ = code.replace(co_varnames=renamed)
    found: FunctionType = function
    return found
