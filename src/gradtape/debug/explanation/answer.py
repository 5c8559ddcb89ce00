"""The answer to the question why a gradient is None, as an object and as text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gradtape.core.user_location import Location
from gradtape.debug.explanation.meaning import MEANINGS, find_fix
from gradtape.debug.explanation.source_text import line_of, text_at

MAX_EXPRESSION = 40  # characters of an expression that stands for an op in a sentence
MAX_STEPS = 8  # steps of a path that the text shows


class Break:
    """One place where the gradient is lost."""

    __slots__ = ("cause", "location", "op")

    def __init__(self, cause: str, location: Location, op: str = "") -> None:
        """The gradient is lost at `location` because of `cause`."""
        self.cause, self.location, self.op = cause, location, op

    @property
    def line(self) -> int | None:
        """The line in the user's program."""
        return line_of(self.location)

    @property
    def file(self) -> str | None:
        """The file of the line."""
        return None if self.location[0] is None else self.location[0].co_filename


class Answer:
    """Why a gradient is None.

    Attributes:
        cause: a short code, or None if the gradient exists.
        line: the line in the user's program that causes it.
        file: the file of that line.
        expression: the text of the expression on that line.
        breaks: every break on the way from the source to the target: (cause, line, file).
        path: the way from the source to the target: (line, file, expression, is_break).
        fix: what to do, in one sentence.
        then: the answer once this break is mended; its cause is None if no other break follows.
        certain: False if the answer is a guess because no source text is available.
        text: the explanation.
    """

    def __init__(
        self,
        breaks: list[Break],
        source: str = "",
        certain: bool = True,
        path: Sequence[Location] = (),
    ) -> None:
        """An answer with its breaks in order; none if the gradient exists."""
        self._breaks, self._source, self._path = breaks, source, path
        self.certain = certain
        first = breaks[0] if breaks else None
        self.cause: str | None = None if first is None else first.cause
        self.line: int | None = None if first is None else first.line
        self.file: str | None = None if first is None else first.file
        self.breaks = [(b.cause, b.line, b.file) for b in breaks]
        self.fix = "" if first is None else find_fix(first.cause, first.op, short_text(first))

    @property
    def path(self) -> list[tuple[int | None, str, str, bool]]:
        """The way from the source to the target: (line, file, expression, is_break)."""
        broken = {b.location for b in self._breaks}
        found = []
        for location in dict.fromkeys(self._path):
            if location[0] is not None:
                text, start, end = text_at(location)
                place = (line_of(location), location[0].co_filename, text[start:end])
                found.append((*place, location in broken))
        return found

    @property
    def expression(self) -> str:
        """The text of the expression that causes it."""
        if not self._breaks:
            return ""
        text, start, end = text_at(self._breaks[0].location)
        return text[start:end]

    @property
    def then(self) -> Answer:
        """The answer once the first break is mended."""
        return Answer(self._breaks[1:], self._source, self.certain, self._path)

    @property
    def text(self) -> str:
        """The explanation, in words."""
        if self.cause is None:
            return "The gradient exists: no break lies between source and target."
        first = self._breaks[0]
        name = self._source or "the source"
        sure = "" if self.certain else ", probably (the source text is not available)"
        lines = [f"The gradient of {name} is None{sure}: {describe_break(first)}"]
        lines += excerpt(first.location)
        if self.fix:
            lines.append(f"Fix: {self.fix}")
        for other in self._breaks[1:]:
            lines.append(f"Once that is mended: {describe_break(other)}")
            lines += excerpt(other.location)
        return "\n".join(lines + self._describe_path())

    def _describe_path(self) -> list[str]:
        """The path in lines of text; nothing if it has only one or two steps."""
        steps = self.path
        if len(steps) < 3:
            return []
        is_spread = len({file for _, file, _, _ in steps}) > 1
        lines = [
            f"    {'x' if is_break else '|'} "
            f"{os.path.basename(file) + ', ' if is_spread else ''}line {line}: {one_line(text)}"
            for line, file, text, is_break in steps
        ]
        hidden = len(lines) - MAX_STEPS
        if hidden > 1:
            middle = MAX_STEPS // 2
            kept = [t for t in lines[middle:-middle] if t.startswith("    x")][:MAX_STEPS]
            lines = [*lines[:middle], f"    ... {hidden - len(kept)} more", *kept, *lines[-middle:]]
        return ["The way from source to target (x marks a break):", *lines]

    def __str__(self) -> str:
        """The explanation."""
        return self.text

    def __repr__(self) -> str:
        """Cause and place."""
        place = "" if self.file is None else f" at {os.path.basename(self.file)}:{self.line}"
        return f"<Answer {self.cause}{place}>"

    def _repr_html_(self) -> str:
        """The explanation, for notebooks."""
        from html import escape

        return f"<pre>{escape(self.text)}</pre>"


def one_line(text: str) -> str:
    """An expression on one line, cut if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= 2 * MAX_EXPRESSION else f"{text[: 2 * MAX_EXPRESSION - 3]}..."


def short_text(one: Break) -> str:
    """The expression of a break, or "" if it is long or not known."""
    text, start, end = text_at(one.location)
    return text[start:end] if end - start <= MAX_EXPRESSION else ""


def describe_break(one: Break) -> str:
    """A break in one sentence, with its place."""
    written = short_text(one)
    name = f"`{written}`" if written else one.op or "the op"
    meaning = MEANINGS.get(one.cause, one.cause).format(op=name)
    if one.file is None or one.line is None:
        return meaning
    return f"{meaning} ({one.file}, line {one.line})"


def excerpt(location: Any) -> list[str]:
    """The source line of a location, underlined."""
    text, start, end = text_at(location)
    if not text.strip():
        return []
    number = f"{line_of(location)} | "
    return [
        f"    {number}{text}",
        f"    {' ' * len(number)}{' ' * start}{'^' * max(1, end - start)}",
    ]
