"""Blocks of large raw arrays, small enough to stay in a core's cache during several passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# Default number of elements of a block, measured: in shorter blocks the overhead of NumPy calls
# dominates, in longer ones memory traffic. Work with few passes per block may use longer blocks.
CACHE_BLOCK = 1 << 15


def block_slices(rows: int, width: int, block: int = CACHE_BLOCK) -> Iterator[slice]:
    """Slices that cut `rows` rows of `width` elements into blocks of about `block` elements."""
    step = max(block // max(width, 1), 1)
    return (slice(start, start + step) for start in range(0, rows, step))


def fill_in_blocks(
    fill: Callable[..., None], x: Any, count: int, block: int = CACHE_BLOCK
) -> tuple[Any, ...]:
    """Make `count` arrays like `x`; `fill(x, *outs)` computes each block of them elementwise."""
    outs = tuple(np.empty(x.shape, x.dtype) for _ in range(count))
    flat, *flats = (a.reshape(-1) for a in (x, *outs))
    for span in block_slices(flat.size, 1, block):
        fill(flat[span], *(out[span] for out in flats))
    return outs if x.shape else tuple(out[()] for out in outs)
