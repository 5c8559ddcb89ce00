"""Large raw arrays in blocks that stay in a core's cache while several passes go over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# Elements of a block. Measured: shorter ones pay for calls, longer ones for memory; where few
# passes go over a block it may be longer.
BLOCK = 1 << 15


def spans(rows: int, width: int, block: int = BLOCK) -> Iterator[slice]:
    """Slices of `rows` rows, each of `width` elements: a block each."""
    step = max(block // max(width, 1), 1)
    return (slice(start, start + step) for start in range(0, rows, step))


def filled(fill: Callable[..., None], x: Any, count: int) -> tuple[Any, ...]:
    """`count` arrays like `x`: `fill(x, *outs)` writes each block of them, elementwise."""
    outs = tuple(np.empty(x.shape, x.dtype) for _ in range(count))
    flat, *flats = (a.reshape(-1) for a in (x, *outs))
    for span in spans(flat.size, 1):
        fill(flat[span], *(out[span] for out in flats))
    return outs if x.shape else tuple(out[()] for out in outs)
