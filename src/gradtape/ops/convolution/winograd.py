"""Winograd's convolutions F(4×4, 3×3) and F(4×4, 2×2): fewer products for tiles of 4×4 places.

Lavin and Gray (2015): cut the output into tiles of 4×4. A tile depends on 6×6 inputs `d`, or 5×5
for a filter of size 2. With the filter `g`, the tile is Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A. The product ⊙,
summed over channels, is one matrix product for each of the 36 or 25 elements. It replaces 144 or 64
products of a pixel and a filter's tap.

Results have about five correct digits: enough for first gradients in float32, too few for float64.
One infinite input makes its whole tile NaN. Each function therefore returns None if its result is
not finite, and the caller runs an accurate algorithm instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import isfinite, isqrt
from typing import Any, NamedTuple

import numpy as np

from gradtape.ops.convolution.im2col import flip_filter
from gradtape.ops.convolution.window import Window, as_items, copy_items, iter_image_blocks

BLOCK = 1 << 18  # elements of the transformed tiles (inputs and outputs) of a block
MIN_TILES_PER_BLOCK = 64  # least number of tiles in a block


class Transform(NamedTuple):
    """The matrices of F(4×4, size×size), and the transposes that `correlate` needs."""

    b_t: Any  # (size + 3, size + 3)
    g: Any  # (size + 3, size)
    a_t: Any  # (4, size + 3)
    g_t: Any
    a: Any


def make_transform(b_t: list[list[int]], g: list[list[int]], scale: int, points: Any) -> Transform:
    """Make the matrices: `g` is divided by `scale`, and Aᵀ has the powers of `points` and ∞."""
    powers = [[*(p**i for p in points), int(i == 3)] for i in range(4)]
    b_, g_, a_ = (np.array(m, np.float32) for m in (b_t, g, powers))
    g_ /= np.float32(scale)
    return Transform(b_, g_, a_, np.ascontiguousarray(g_.T), np.ascontiguousarray(a_.T))


TRANSFORMS = {  # by the size of the filter
    2: make_transform(
        [
            [2, -1, -2, 1, 0],
            [0, -2, -1, 1, 0],
            [0, 2, -3, 1, 0],
            [0, -1, 0, 1, 0],
            [0, 2, -1, -2, 1],
        ],
        [[3, 0], [-3, -3], [-1, 1], [1, 2], [0, 6]],
        6,
        (0, 1, -1, 2),
    ),
    3: make_transform(
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ],
        [[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]],
        24,
        (0, 1, -1, 2, -2),
    ),
}


class TileLayout(NamedTuple):
    """Arrangement of images on sheets that are cut into tiles: one image a sheet, or a mosaic.

    In a mosaic all images lie on one sheet and share the zeros between neighbours, so that fewer
    tiles extend beyond the images.
    """

    sheets: int  # number of sheets: the number of images, or 1
    grid: tuple[int, ...]  # number of images down and across; (images, 1) without a mosaic
    period: tuple[int, ...]  # pixels from one image to the next
    tiles: tuple[int, int]  # tiles of a sheet, down and across

    def tile_count(self) -> int:
        """Number of tiles on all sheets."""
        return self.sheets * self.tiles[0] * self.tiles[1]

    def view_images(self, sheet: Any, size: tuple[int, ...], at: tuple[int, int]) -> Any:
        """View of the images (*grid, *size, c) on the sheets; the first starts at pixel `at`."""
        first, row, pixel, channel = sheet.strides
        down = row * self.period[0] if self.sheets < self.grid[0] else first
        strides = (down, pixel * self.period[1], row, pixel, channel)
        offset = at[0] * row + at[1] * pixel
        return np.ndarray((*self.grid, *size, sheet.shape[-1]), sheet.dtype, sheet, offset, strides)

    def lay_images(self, x: Any, margin: int, at: tuple[int, int]) -> Any:
        """Copy images to sheets of zeros, which are `margin` pixels larger than the tiles."""
        down, across = (4 * n + margin for n in self.tiles)
        sheet = np.zeros((self.sheets, down, across, x.shape[-1]), x.dtype)
        self.view_images(sheet, x.shape[1:-1], at)[...] = x.reshape(*self.grid, *x.shape[1:])
        return sheet

    def take_images(self, sheet: Any, size: tuple[int, ...]) -> Any:
        """Copy images of this size from the sheets."""
        images = self.view_images(sheet, size, (0, 0))
        return np.ascontiguousarray(images).reshape(-1, *size, sheet.shape[-1])


@lru_cache(maxsize=1024)
def choose_tile_layout(images: int, spatial: tuple[int, ...], window: Window) -> TileLayout:
    """Choose the layout with fewer tiles."""
    outputs = window.outputs(spatial)
    beside = next(k for k in range(isqrt(images), 0, -1) if images % k == 0)
    grid = (images // beside, beside)
    sizes = zip(spatial, window.paddings, outputs, strict=True)
    period = tuple([max(n + max(pads), out) for n, pads, out in sizes])
    whole = [(k - 1) * step + n for k, step, n in zip(grid, period, outputs, strict=True)]
    mosaic = TileLayout(1, grid, period, count_tiles(whole))
    alone = TileLayout(images, (images, 1), period, count_tiles(outputs))
    return min(alone, mosaic, key=TileLayout.tile_count)


def count_tiles(places: Any) -> tuple[int, int]:
    """Number of tiles that cover `places`, down and across."""
    return -(-places[0] // 4), -(-places[1] // 4)


def transform_both_sides(m: Any, t: Any) -> Any:
    """Compute m t mᵀ over the first two axes of `t`; the other axes are merged."""
    n, k = m.shape
    half = np.matmul(m, t.reshape(k, -1))
    return np.matmul(m, half.reshape(n, k, -1))


def view_tiles(sheets: Any, size: int, tiles: tuple[int, int]) -> Any:
    """View of the tiles, which start 4 pixels apart: (size, size, sheets, *tiles, c)."""
    sheet, row, pixel, channel = sheets.strides
    shape = (size, size, sheets.shape[0], *tiles, sheets.shape[-1])
    steps = (row, pixel, sheet, 4 * row, 4 * pixel, channel)
    return np.ndarray(shape, sheets.dtype, sheets, 0, steps)


def iter_tile_blocks(layout: TileLayout, channels: int, elements: int) -> Iterator[Any]:
    """Iterate over keys of blocks of tiles; `channels` counts inputs and outputs."""
    down, across = layout.tiles
    most = max(BLOCK, MIN_TILES_PER_BLOCK * elements * channels)
    for at in iter_image_blocks(layout.sheets, down, elements * across * channels, most):
        yield (slice(None), slice(None), *at)


def transform_tiles(m: Any, tiles: Any) -> Any:
    """Compute m d mᵀ for tiles (k, k, …, c), as (elements, tiles, c)."""
    found = transform_both_sides(m, copy_items(tiles))
    return found.reshape(len(m) ** 2, -1, tiles.shape[-1])


def transform_filters(w: Any) -> Any:
    """Compute G g Gᵀ for filters (size, size, c, o), as (elements, c, o)."""
    g = TRANSFORMS[len(w)].g
    return transform_both_sides(g, w).reshape(len(g) ** 2, *w.shape[-2:])


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, h, w, c) by (size, size, c, o)."""
    return convolve_transformed(x, transform_filters(w), window)


def convolve_transformed(x: Any, filters: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, h, w, c), with filters of `transform_filters`."""
    size, (_, channels, outs) = window.size[0], filters.shape
    t = TRANSFORMS[size]
    spatial = x.shape[1:-1]
    layout = choose_tile_layout(len(x), spatial, window)
    sheets = layout.lay_images(x, size - 1, leading_padding_of(window))
    inputs = view_tiles(sheets, size + 3, layout.tiles)
    sheets = np.empty((layout.sheets, *(4 * n for n in layout.tiles), outs), x.dtype)
    results = view_tiles(sheets, 4, layout.tiles)
    for key in iter_tile_blocks(layout, channels + outs, len(filters)):
        block = np.matmul(transform_tiles(t.b_t, inputs[key]), filters)
        block = transform_both_sides(t.a_t, block)
        if not is_all_finite(block):
            return None
        as_items(results[key])[...] = as_items(block.reshape(results[key].shape))
    return layout.take_images(sheets, window.outputs(spatial))


def leading_padding_of(window: Window) -> tuple[int, int]:
    """Padding at the top and on the left."""
    (top, _), (left, _) = window.paddings
    return top, left


def is_all_finite(x: Any) -> bool:
    """Whether the sum of squares is finite: a cheap test that no element is infinite or NaN."""
    flat = x.reshape(-1)
    return isfinite(np.dot(flat, flat))


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`: a convolution of `y` with the flipped filter."""
    mirror = window.mirror()
    return None if mirror is None else convolve(y, flip_filter(w), mirror)


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`: transform tiles of `y` by A, and the sums by Gᵀ."""
    return invert_filters(correlate_transformed(x, y, window), window.size[0])


def invert_filters(total: Any, size: int) -> Any:
    """Adjoint of `transform_filters`: (size, size, c, o); None if the sums are not finite."""
    if not is_all_finite(total):
        return None
    found = transform_both_sides(TRANSFORMS[size].g_t, total)
    return found.reshape(size, size, *total.shape[1:])


def correlate_transformed(x: Any, y: Any, window: Window) -> Any:
    """The sums of `correlate` for the elements of transformed tiles: (elements, c, o)."""
    size, channels, outs = window.size[0], x.shape[-1], y.shape[-1]
    t = TRANSFORMS[size]
    elements = len(t.a) ** 2
    layout = choose_tile_layout(len(x), x.shape[1:-1], window)
    sheets = layout.lay_images(x, size - 1, leading_padding_of(window))
    inputs = view_tiles(sheets, size + 3, layout.tiles)
    places = view_tiles(layout.lay_images(y, 0, (0, 0)), 4, layout.tiles)
    total = np.zeros((elements, channels, outs), x.dtype)
    for key in iter_tile_blocks(layout, channels + outs, elements):
        spread = transform_tiles(t.a, places[key])
        total += np.matmul(transform_tiles(t.b_t, inputs[key]).swapaxes(1, 2), spread)
    return total
