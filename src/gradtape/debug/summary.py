"""Tables of what a tape holds: `tape.summary()` and `tape.memory()`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from gradtape.debug.diagram import Diagram, DiagramNode, diagram_of_tape
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tape.located_record import LocatedRecord, RecordClass

HEADERS = ("op", "result", "saved", "share", "line")
MAX_TEXT_ROWS = 60


@contextlib.contextmanager
def record_lines() -> Iterator[None]:
    """Tapes that start inside remember the line and the name scope of each op.

    `tape.summary()` then shows lines, and `tape.draw()` has one box for each name scope, so one for
    each Keras layer. Recording takes several times as long for small ops.

    Yields:
        None.

    Example:
        >>> x = tf.constant(2.0)
        >>> with gradtape.debug.record_lines(), tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     with tf.name_scope("cube"):
        ...         y = x * x * x
        >>> [row.scope for row in tape.summary().rows]
        ['cube', 'cube']
    """
    before = RecordClass.chosen
    RecordClass.chosen = LocatedRecord
    try:
        yield
    finally:
        RecordClass.chosen = before


class TapeSummary:
    """The ops that a tape has recorded, in order; printing it shows a table.

    Attributes:
        rows: one `DiagramNode` for each op: `name`, `shape`, `dtype`, `saved`, `line`, `scope`.
        total: bytes that the tape keeps alive, each array counted once.
    """

    def __init__(self, diagram: Diagram) -> None:
        """Describe a diagram."""
        self.diagram = diagram
        self.rows = diagram.ops
        self.total = diagram.total

    def share(self, row: DiagramNode) -> float:
        """The part of the memory that a row keeps alive."""
        return row.saved / self.total if self.total else 0.0

    def cells(self) -> list[tuple[str, ...]]:
        """The cells of the table as texts."""
        return [
            (
                f"{row.scope}/{row.name}" if row.scope else row.name,
                row.kind,
                format_bytes(row.saved),
                f"{self.share(row):.0%}",
                short_line(row.line),
            )
            for row in self.rows
        ]

    def __str__(self) -> str:
        """A table with a line for each op; long tables show the largest ops."""
        cells = self.cells()
        note = ""
        if len(cells) > MAX_TEXT_ROWS:
            order = sorted(range(len(cells)), key=lambda i: (-self.rows[i].saved, i))
            chosen = sorted(order[:MAX_TEXT_ROWS])
            note = f"\n… and {len(cells) - MAX_TEXT_ROWS} ops that keep less"
            cells = [cells[i] for i in chosen]
        if not any(row.line for row in self.rows):
            cells = [row[:-1] for row in cells]
        table = format_table(HEADERS[: len(cells[0])] if cells else HEADERS, cells)
        head = f"{len(self.rows)} ops, {format_bytes(self.total)} kept alive"
        return f"{head}\n{table}{note}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table as HTML."""
        from gradtape.debug.html import table_of_summary, wrap_page

        return wrap_page(table_of_summary(self))


class TapeMemory:
    """The memory that a tape keeps alive.

    Attributes:
        total: bytes, each array counted once.
        by_op: bytes by name of the op, largest first.
        by_line: bytes by line, largest first; empty unless `debug.record_lines` was active.
        by_scope: bytes by name scope, largest first; likewise.
    """

    def __init__(self, diagram: Diagram) -> None:
        """Add up the bytes of a diagram."""
        self.total = diagram.total
        self.by_op = sum_bytes(diagram, "name")
        self.by_line = sum_bytes(diagram, "line")
        self.by_scope = sum_bytes(diagram, "scope")

    def __int__(self) -> int:
        """The number of bytes."""
        return self.total

    def __str__(self) -> str:
        """The total, and what keeps most."""
        lines = [f"{format_bytes(self.total)} kept alive"]
        for title, table in (("by line", self.by_line), ("by op", self.by_op)):
            if table:
                lines.append(title)
                rows = [(short_line(k), format_bytes(n)) for k, n in list(table.items())[:10]]
                lines.append(format_table((), rows, indent="  "))
        return "\n".join(lines)

    __repr__ = __str__


def summarize_tape(tape: GradientTape) -> TapeSummary:
    """The summary of a tape."""
    return TapeSummary(diagram_of_tape(tape))


def measure_tape(tape: GradientTape) -> TapeMemory:
    """The memory of a tape."""
    return TapeMemory(diagram_of_tape(tape))


def sum_bytes(diagram: Diagram, attribute: str) -> dict[str, int]:
    """Bytes by an attribute of the nodes, largest first."""
    totals: dict[str, int] = {}
    for node in diagram.ops:
        key = getattr(node, attribute)
        if key and node.saved:
            totals[key] = totals.get(key, 0) + node.saved
    return dict(sorted(totals.items(), key=lambda pair: -pair[1]))


def format_bytes(count: int) -> str:
    """A number of bytes in a suitable unit."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def short_line(line: str) -> str:
    """File and line, without the folder."""
    return os.path.basename(line)


def format_table(headers: tuple[str, ...], rows: Any, indent: str = "") -> str:
    """Columns as wide as their longest cell."""
    lines = [headers, *rows] if headers else list(rows)
    widths = [max(len(row[k]) for row in lines) for k in range(len(lines[0]))] if lines else []
    texts = [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in lines
    ]
    return "\n".join(text.rstrip() for text in texts)
