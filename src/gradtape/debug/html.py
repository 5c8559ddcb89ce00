"""HTML for notebooks: tables and drawings of tapes, tensors, variables, functions and datasets."""

from __future__ import annotations

from html import escape
from typing import Any

from gradtape.debug.diagram import Diagram, DiagramNode
from gradtape.debug.grouping import MAX_BOXES, group_nodes, prepare_drawing
from gradtape.debug.summary import TapeSummary, format_bytes, short_line
from gradtape.debug.svg import draw_boxes

STYLE = """
.gt-page{font-family:ui-sans-serif,system-ui,Helvetica,Arial,sans-serif;font-size:13px}
.gt-page table{border-collapse:collapse;margin:6px 0}
.gt-page td,.gt-page th{padding:2px 10px 2px 0;text-align:left;border-bottom:1px solid #8884;
 font-variant-numeric:tabular-nums;white-space:nowrap}
.gt-page summary{cursor:pointer}
.gt-page svg{max-width:100%;height:auto}
.gt-bar{display:inline-block;height:8px;background:#fb8f44;border-radius:2px}
"""
MAX_ROWS = 200


def wrap_page(body: str) -> str:
    """A part of a page with its style."""
    return f'<div class="gt-page"><style>{STYLE}</style>{body}</div>'


def html_of_diagram(diagram: Diagram, heading: str) -> str:
    """A drawing, a box after box that opens, and the table of all ops."""
    table = table_of_summary(TapeSummary(diagram), folded=True)
    diagram = prepare_drawing(diagram)
    boxes = group_nodes(diagram)
    parts = [f"<p><b>{escape(heading)}</b></p>", draw_boxes(boxes), table]
    opened = [box for box in boxes if len(box.nodes) > 1]
    if opened:
        inside = "".join(
            f"<details><summary>{escape(box.title)} ({escape(box.details[0])})</summary>"
            f"{draw_boxes(group_nodes(part_of(diagram, box.nodes)))}</details>"
            for box in opened
        )
        parts.append(f"<details><summary>Open a box</summary>{inside}</details>")
    return wrap_page("".join(parts))


def part_of(diagram: Diagram, chosen: list[int]) -> Diagram:
    """The diagram of some nodes and of the sources that they read."""
    sources = {i for k in chosen for i in diagram.nodes[k].inputs if diagram.nodes[i].is_source}
    kept = sorted({*chosen, *sources})
    place = {i: k for k, i in enumerate(kept)}
    nodes = []
    for i in kept:
        node = diagram.nodes[i]
        inputs = [place[s] for s in node.inputs if s in place]
        nodes.append(
            DiagramNode(
                node.name, inputs, node.shape, node.dtype, node.saved, node.line, "", node.is_source
            )
        )
    return Diagram(diagram.title, nodes)


def table_of_summary(summary: TapeSummary, folded: bool = False) -> str:
    """The table of a summary; bars show the share of the memory."""
    rows = []
    for row in summary.rows[:MAX_ROWS]:
        share = summary.share(row)
        name = f"{row.scope}/{row.name}" if row.scope else row.name
        bar = f'<span class="gt-bar" style="width:{share * 80:.0f}px"></span> {share:.0%}'
        cells = (escape(name), escape(row.kind), format_bytes(row.saved), bar)
        line = escape(short_line(row.line))
        rows.append("".join(f"<td>{cell}</td>" for cell in (*cells, line)))
    more = len(summary.rows) - MAX_ROWS
    note = f"<p>… and {more} more ops</p>" if more > 0 else ""
    head = "".join(f"<th>{h}</th>" for h in ("op", "result", "saved", "share", "line"))
    table = f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{note}"
    title = f"{len(summary.rows)} ops, {format_bytes(summary.total)} kept alive"
    if folded:
        return f"<details><summary>{title}</summary>{table}</details>"
    return f"<p>{title}</p>{table}"


def html_of_facts(title: str, facts: dict[str, Any], text: str = "") -> str:
    """A heading, a table of facts, and a preformatted text."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
    )
    body = f"<details><summary>value</summary><pre>{escape(text)}</pre></details>" if text else ""
    return wrap_page(f"<b>{escape(title)}</b><table>{rows}</table>{body}")


__all__ = ["MAX_BOXES", "html_of_diagram", "html_of_facts", "table_of_summary", "wrap_page"]
