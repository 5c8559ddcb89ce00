"""Layered layout of boxes: each box below those it reads, with few crossings of edges.

The method is that of Sugiyama, Tagawa and Toda (1981): layers by longest path, virtual nodes for
edges that pass layers, ordering by barycentres, then coordinates that straighten edges.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

GAP_X, GAP_Y = 28, 34
VIRTUAL_WIDTH = 12
SWEEPS = 8


@dataclass
class Slot:
    """A box, or a virtual node of a long edge, in the layout.

    Attributes:
        box: the position of the box; -1 for a virtual node.
        layer: the number of its layer, from the top.
        width: in pixels.
        height: in pixels.
        x: the horizontal centre.
        y: the top.
        above: slots that it is connected to in the layer above.
        below: slots that it is connected to in the layer below.
    """

    box: int
    layer: int
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)


@dataclass
class Layout:
    """Positions of all boxes, and the points of all edges."""

    slots: list[Slot]
    edges: list[list[int]]  # slots from the source to the box that reads it
    width: float
    height: float


def lay_out(sizes: list[tuple[float, float]], inputs: list[list[int]]) -> Layout:
    """Arrange boxes of the given sizes; `inputs` lists the boxes that each box reads.

    A box comes after all boxes that it reads.
    """
    slots = [Slot(k, 0, *size) for k, size in enumerate(sizes)]
    for k, sources in enumerate(inputs):
        slots[k].layer = 1 + max((slots[s].layer for s in sources), default=-1)
    pull_sources_down(slots, inputs)
    edges = connect(slots, inputs)
    layers: list[list[int]] = [[] for _ in range(1 + max((s.layer for s in slots), default=-1))]
    for k, slot in enumerate(slots):
        layers[slot.layer].append(k)
    for sweep in range(SWEEPS):
        order_layers(slots, layers, downwards=sweep % 2 == 0)
    return place(slots, layers, edges)


def pull_sources_down(slots: list[Slot], inputs: list[list[int]]) -> None:
    """Put boxes that read nothing right above the first box that reads them."""
    readers: dict[int, list[int]] = {}
    for k, sources in enumerate(inputs):
        for source in sources:
            readers.setdefault(source, []).append(slots[k].layer)
    for k, sources in enumerate(inputs):
        if not sources and k in readers:
            slots[k].layer = min(readers[k]) - 1


def connect(slots: list[Slot], inputs: list[list[int]]) -> list[list[int]]:
    """Connect the slots of neighbouring layers, with virtual nodes on long edges."""
    edges = []
    for k, sources in enumerate(inputs):
        for source in sources:
            chain = [source]
            for layer in range(slots[source].layer + 1, slots[k].layer):
                slots.append(Slot(-1, layer, VIRTUAL_WIDTH, 0))
                chain.append(len(slots) - 1)
            chain.append(k)
            for a, b in pairwise(chain):
                slots[a].below.append(b)
                slots[b].above.append(a)
            edges.append(chain)
    return edges


def order_layers(slots: list[Slot], layers: list[list[int]], downwards: bool) -> None:
    """Sort each layer by the mean position of its neighbours in the layer before."""
    for layer in layers if downwards else reversed(layers):
        for k in layer:
            near = slots[k].above if downwards else slots[k].below
            if near:
                slots[k].x = sum(slots[n].y for n in near) / len(near)
            else:
                slots[k].x = slots[k].y
        layer.sort(key=lambda k: slots[k].x)
        for position, k in enumerate(layer):
            slots[k].y = position  # `y` holds the position until `place`


def place(slots: list[Slot], layers: list[list[int]], edges: list[list[int]]) -> Layout:
    """Give all slots their coordinates."""
    top = 0.0
    for layer in layers:
        left = 0.0
        for k in layer:
            slots[k].x = left + slots[k].width / 2
            left += slots[k].width + GAP_X
        tallest = max(slots[k].height for k in layer)
        for k in layer:
            if slots[k].box < 0:  # the edge passes the whole layer
                slots[k].height = tallest
            slots[k].y = top + (tallest - slots[k].height) / 2
        top += tallest + GAP_Y
    for sweep in range(2 * SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            straighten(slots, layer, use_above=sweep % 2 == 0)
    shift = min((s.x - s.width / 2 for s in slots), default=0.0)
    for slot in slots:
        slot.x -= shift
    width = max((s.x + s.width / 2 for s in slots), default=0.0)
    return Layout(slots, edges, width, max(top - GAP_Y, 0.0))


def straighten(slots: list[Slot], layer: list[int], use_above: bool) -> None:
    """Move the slots of a layer towards their neighbours, keeping order and gaps."""
    wanted = []
    for k in layer:
        near = slots[k].above if use_above else slots[k].below
        near = near or (slots[k].below if use_above else slots[k].above)
        wanted.append(sum(slots[n].x for n in near) / len(near) if near else slots[k].x)
    # Blocks of touching slots move together: the mean of their wishes is their best position.
    blocks: list[tuple[float, list[int]]] = []
    offsets: dict[int, float] = {}
    for k, wish in zip(layer, wanted, strict=True):
        offsets[k] = 0.0
        blocks.append((wish, [k]))
        while len(blocks) > 1:
            (a, left), (b, right) = blocks[-2], blocks[-1]
            last, first = left[-1], right[0]
            gap = (slots[last].width + slots[first].width) / 2 + GAP_X
            start = offsets[last] + gap
            if a + offsets[last] + gap <= b + offsets[first]:
                break
            shift = start - offsets[first]
            for k2 in right:
                offsets[k2] += shift
            n, m = len(left), len(right)
            blocks[-2:] = [((a * n + (b - shift) * m) / (n + m), left + right)]
    for position, members in blocks:
        for k in members:
            slots[k].x = position + offsets[k]
