"""Sliding windows over the spatial axes of (batch, …, channels), and the op `patches`.

Convolutions (`convolution.py`) and pools (`pool.py`) are sums and maxima over such windows. Their
static parameter `window` is a `Window`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cartesian
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.primitive import primitive
from gradtape.core.size_function import max_size


class Window(NamedTuple):
    """Size and movement of a window; each field has one entry per spatial axis.

    A *tap* is an element of the window, a *place* a position of the window on the input.
    """

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    paddings: tuple[tuple[int, int], ...]

    def reach(self) -> tuple[int, ...]:
        """Elements that the window spans, with the holes of its dilation."""
        return tuple([(k - 1) * d + 1 for k, d in zip(self.size, self.dilations, strict=True)])

    def outputs(self, spatial: tuple[int, ...]) -> tuple[int, ...]:
        """Number of places on an input of these spatial sizes."""
        return tuple(
            [
                max_size((n + low + high - span) // stride + 1, 0)
                for n, (low, high), span, stride in zip(
                    spatial, self.paddings, self.reach(), self.strides, strict=True
                )
            ]
        )

    def taps(self) -> Any:
        """Offsets of the taps, in row-major order."""
        steps = (range(0, k * d, d) for k, d in zip(self.size, self.dilations, strict=True))
        return cartesian(*steps)

    def key(self, tap: tuple[int, ...], outputs: tuple[int, ...]) -> tuple[Any, ...]:
        """Key that selects the element at offset `tap` of every window, in the padded input."""
        steps = zip(tap, outputs, self.strides, strict=True)
        inner = (slice(at, at + max((n - 1) * stride + 1, 0), stride) for at, n, stride in steps)
        return (..., *inner, slice(None))

    def is_padded(self) -> bool:
        """Whether any axis is padded."""
        return any(low or high for low, high in self.paddings)

    def is_dense(self) -> bool:
        """Whether all strides and dilations are 1."""
        return max(self.strides, default=1) == 1 and max(self.dilations, default=1) == 1

    def mirror(self) -> Window | None:
        """The window with which the flipped filter convolves the output in the adjoint.

        None if a stride is above 1 or a padding would be negative.
        """
        pairs = zip(self.reach(), self.paddings, strict=True)
        paddings = tuple([(span - 1 - low, span - 1 - high) for span, (low, high) in pairs])
        if max(self.strides, default=1) > 1 or min(map(min, paddings), default=0) < 0:
            return None
        return self._replace(paddings=paddings)


def pad_spatial(x: Any, window: Window, value: Any = 0) -> Any:
    """Pad the spatial axes of `x` with `value`."""
    if not window.is_padded():
        return x
    widths = ((0, 0),) * (x.ndim - len(window.size) - 1) + window.paddings + ((0, 0),)
    return np.pad(x, widths, constant_values=value)


def sizes_with_padding(shape: tuple[int, ...], window: Window) -> tuple[int, ...]:
    """Spatial sizes including the padding."""
    return tuple(n + low + high for n, (low, high) in zip(shape, window.paddings, strict=True))


def crop_padding(x: Any, window: Window, shape: tuple[int, ...]) -> Any:
    """Remove the padding; the adjoint of `pad_spatial`."""
    key = tuple(slice(low, low + n) for (low, _), n in zip(window.paddings, shape, strict=True))
    return x[(..., *key, slice(None))]


def spatial_sizes_of(shape: tuple[int, ...], window: Window) -> tuple[int, ...]:
    """The spatial sizes of an array of this shape."""
    return shape[-1 - len(window.size) : -1]


def add_at_view(total: Any, key: Any, part: Any) -> Any:
    """Add `part` in place to the view `total[key]`."""
    total[key] += part
    return total


def lower_add_at_view(total: Any, key: Any, part: Any) -> Any:
    """Add `part` to `total[key]` of an immutable JAX array."""
    return total.at[key].add(part)


def pad_contiguous(x: Any, window: Window, ends: tuple[int, ...] | None = None) -> Any:
    """Pad (n, *spatial, c) with zeros to a contiguous array.

    `ends` are its spatial sizes, by default those of `sizes_with_padding`; elements beyond `ends`
    are dropped.
    """
    spatial = x.shape[1:-1]
    if ends is None:
        ends = sizes_with_padding(spatial, window)
    if ends == spatial and not window.is_padded():
        return np.ascontiguousarray(x)
    full = np.zeros((x.shape[0], *ends, x.shape[-1]), x.dtype)
    fits = [
        min(n, end - low) for n, end, (low, _) in zip(spatial, ends, window.paddings, strict=True)
    ]
    if min(fits) > 0:
        lows = [low for low, _ in window.paddings]
        place = tuple([slice(low, low + n) for low, n in zip(lows, fits, strict=True)])
        full[(slice(None), *place)] = x[(slice(None), *map(slice, fits))]
    return full


def as_items(x: Any) -> Any:
    """View pixels (..., c) as single items (..., 1): NumPy copies these faster than short rows.

    The last axis must be contiguous.
    """
    return x.view(f"V{x.shape[-1] * x.itemsize}")


def copy_items(x: Any) -> Any:
    """Copy pixels (..., c) to a contiguous array."""
    return np.ascontiguousarray(as_items(x)).view(x.dtype)


def view_windows(full: Any, window: Window, outputs: tuple[int, ...]) -> Any:
    """View the windows of a contiguous padded array as (n, *outputs, *size, c)."""
    first, *steps, last = full.strides
    moves = [step * stride for step, stride in zip(steps, window.strides, strict=True)]
    holes = [step * dilation for step, dilation in zip(steps, window.dilations, strict=True)]
    shape = (full.shape[0], *outputs, *window.size, full.shape[-1])
    return np.ndarray(shape, full.dtype, full, 0, (first, *moves, *holes, last))


def iter_image_blocks(
    images: int, rows: int, row_size: int, most: int
) -> Iterator[tuple[slice, slice]]:
    """Iterate over keys of blocks of about `most` elements: whole images, or rows of one image."""
    whole = rows * row_size
    if whole <= most:
        step = max(1, most // max(whole, 1))
        for i in range(0, images, step):
            yield slice(i, min(i + step, images)), slice(0, rows)
        return
    step = max(1, most // row_size)
    for i in range(images):
        for r in range(0, rows, step):
            yield slice(i, i + 1), slice(r, min(r + step, rows))


def patches_wrt_x(g, x_spec, window):
    return unpatch(g, window=window, spatial=spatial_sizes_of(x_spec.shape, window))


def places_shape(x, window, channels):
    """Shape of (..., *spatial, channels) at all places of a window."""
    places = window.outputs(spatial_sizes_of(x.shape, window))
    return (*x.shape[: -len(places) - 1], *places, channels)


def patches_shape(x, window):
    return places_shape(x, window, x.shape[-1] * prod(window.size))


@primitive(x=patches_wrt_x, shape=patches_shape)
def patches(x, *, window: Window):
    """The windows of `x`, each flattened to the last axis: (..., *outputs, taps * channels)."""
    full = pad_spatial(x, window)
    outputs = window.outputs(spatial_sizes_of(x.shape, window))
    return np.concatenate([full[window.key(tap, outputs)] for tap in window.taps()], axis=-1)


def unpatch_shape(g, window, spatial):
    return (*g.shape[: -len(spatial) - 1], *spatial, g.shape[-1] // prod(window.size))


@primitive(g=lambda g, window: patches(g, window=window), shape=unpatch_shape)
def unpatch(g, *, window: Window, spatial: tuple[int, ...]):
    """Adjoint of `patches`: put every window back and add where windows overlap."""
    return sum_patches(g, window, spatial, add_at_view)


@unpatch.lower
def lower_unpatch(g, *, window, spatial):
    return sum_patches(g, window, spatial, lower_add_at_view)


def sum_patches(g: Any, window: Window, spatial: tuple[int, ...], adder: Any) -> Any:
    """Kernel of `unpatch`; `adder(total, key, part)` adds into a view of `total`."""
    n = len(window.size)
    channels = g.shape[-1] // prod(window.size)
    total = np.zeros((*g.shape[: -n - 1], *sizes_with_padding(spatial, window), channels), g.dtype)
    for k, tap in enumerate(window.taps()):
        key = window.key(tap, spatial_sizes_of(g.shape, window))
        total = adder(total, key, g[..., k * channels : (k + 1) * channels])
    return crop_padding(total, window, spatial)
