"""SVG drawings of diagrams, for light and dark backgrounds."""

from __future__ import annotations

from html import escape

from gradtape.debug.diagram import Diagram
from gradtape.debug.grouping import MAX_BOXES, Box, group_nodes, prepare_drawing
from gradtape.debug.layout import Layout, Slot, lay_out

CHARACTER, TITLE_CHARACTER, LINE = 6.2, 8.0, 15
MARGIN, PADDING = 16, 10
MAX_CHARACTERS = 44

STYLE = """
.gt{--ink:#1f2328;--soft:#59636e;--edge:#8c959f;--fill:#f6f8fa;--rim:#afb8c1;--warm:#fb8f44;
 --source:#ddf4ff;--source-rim:#54aeff;font-family:ui-sans-serif,system-ui,Helvetica,Arial,sans-serif}
@media (prefers-color-scheme:dark){.gt{--ink:#e6edf3;--soft:#9da7b1;--edge:#6e7681;--fill:#161b22;
 --rim:#444c56;--warm:#db6d28;--source:#0c2d4a;--source-rim:#388bfd}}
.gt rect{fill:var(--fill);stroke:var(--rim)}
.gt .heat{fill:var(--warm);stroke:none}
.gt .source{fill:var(--source);stroke:var(--source-rim)}
.gt path{fill:none;stroke:var(--edge);stroke-width:1.3}
.gt .tip{fill:var(--edge);stroke:none}
.gt text{fill:var(--soft);font-size:11px}
.gt text.title{fill:var(--ink);font-size:13px;font-weight:600}
"""


def draw_diagram(diagram: Diagram, limit: int = MAX_BOXES) -> str:
    """The drawing of a diagram as SVG text."""
    return draw_boxes(group_nodes(prepare_drawing(diagram), limit))


def draw_boxes(boxes: list[Box]) -> str:
    """The drawing of boxes as SVG text."""
    layout = lay_out([size_of_box(box) for box in boxes], [box.inputs for box in boxes])
    most = max((box.saved for box in boxes), default=0)
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    parts = [
        f'<svg class="gt" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<style>{STYLE}</style>",
        f'<g transform="translate({MARGIN},{MARGIN})">',
    ]
    parts += [draw_edge(layout, edge) for edge in layout.edges]
    parts += [draw_box(slot, boxes[slot.box], most) for slot in layout.slots if slot.box >= 0]
    parts.append("</g></svg>")
    return "\n".join(parts)


def size_of_box(box: Box) -> tuple[float, float]:
    """Width and height that the text of a box needs."""
    widths = [len(shorten_text(text)) * CHARACTER for text in box.details]
    widths.append(len(shorten_text(box.title)) * TITLE_CHARACTER)
    return max(widths) + 2 * PADDING, 2 * PADDING + 4 + LINE * (1 + len(box.details)) - 3


def shorten_text(text: str) -> str:
    """A text that fits into a box."""
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def draw_box(slot: Slot, box: Box, most: int) -> str:
    """A box with its texts; the bar at its left edge shows the memory that it keeps alive."""
    x, y = slot.x - slot.width / 2, slot.y
    kind = ' class="source"' if box.is_source else ""
    parts = [
        f"<g><title>{escape(box.title)}</title>",
        f'<rect{kind} x="{x:.1f}" y="{y:.1f}" width="{slot.width:.1f}" '
        f'height="{slot.height:.1f}" rx="6"/>',
    ]
    if most and box.saved:
        height = max(3.0, (slot.height - 8) * box.saved / most)
        bottom = y + slot.height - 4
        parts.append(
            f'<rect class="heat" x="{x + 2.5:.1f}" y="{bottom - height:.1f}" width="3.5" '
            f'height="{height:.1f}" rx="1.5"/>'
        )
    line = y + PADDING + 10
    parts.append(text_at(slot.x, line, shorten_text(box.title), "title"))
    for k, text in enumerate(box.details, 1):
        parts.append(text_at(slot.x, line + 2 + k * LINE, shorten_text(text), ""))
    parts.append("</g>")
    return "".join(parts)


def text_at(x: float, y: float, text: str, kind: str) -> str:
    """A centred text."""
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'


def draw_edge(layout: Layout, edge: list[int]) -> str:
    """A curve from a box to one that reads it, through the virtual nodes between them."""
    slots = [layout.slots[k] for k in edge]
    x, y = slots[0].x, slots[0].y + slots[0].height
    path = [f"M{x:.1f} {y:.1f}"]
    for slot in slots[1:]:
        middle = (y + slot.y) / 2
        path.append(f"C{x:.1f} {middle:.1f} {slot.x:.1f} {middle:.1f} {slot.x:.1f} {slot.y:.1f}")
        x, y = slot.x, slot.y
        if slot.box < 0:
            y += slot.height
            path.append(f"L{x:.1f} {y:.1f}")
    tip = f"M{x - 3.5:.1f} {y - 6:.1f}L{x + 3.5:.1f} {y - 6:.1f}L{x:.1f} {y:.1f}Z"
    return f'<path d="{"".join(path)}"/><path class="tip" d="{tip}"/>'
