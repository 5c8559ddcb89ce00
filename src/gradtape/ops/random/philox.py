"""Streams of random words: the Philox 4x32-10 generator as a function of a key and a counter.

The algorithm is from Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. `key` is
a uint64 of shape (1,), `counter` a uint64 of shape (2,), low half first. Block i of a stream is the
encryption of `counter + i`: four words of 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.shape_rule import keep_shape, with_shape

LOW_MASK = np.uint64(0xFFFFFFFF)
HALF_BITS = np.uint64(32)
MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
WEYL: Any = np.array([[0x9E3779B9], [0xBB67AE85]], np.uint64) * np.arange(10, dtype=np.uint64)
BLOCKS_AT_ONCE = 1 << 14  # blocks computed together, few enough to stay in the cache
FEW_BLOCKS = 12  # up to this many blocks Python integers are faster than NumPy arrays
HOST_ARRAY = np.ndarray  # NumPy's class, also when the kernel runs with another `np`


def philox_blocks(key: Any, counter: Any, offsets: Any) -> Any:
    """The blocks at `offsets` (uint64) from `counter`, as (n, 2) words of 64 bits.

    A word of 64 bits is a pair of 32-bit words, the first in the low half. The rows of `x` are the
    words that a round multiplies, the rows of `y` the others; each round exchanges the rows.
    """
    if type(offsets) is type(counter) is type(key) is HOST_ARRAY and len(offsets) <= FEW_BLOCKS:
        return philox_blocks_in_python(int(key[0]), counter.tolist(), offsets.tolist())
    low = counter[:1] + offsets
    high = counter[1:] + (low < offsets)
    x = np.stack([low & LOW_MASK, high & LOW_MASK])
    y = np.stack([low >> HALF_BITS, high >> HALF_BITS])
    keys = np.stack([key & LOW_MASK, key >> HALF_BITS]) + WEYL & LOW_MASK
    for i in range(10):
        p = (x * MULTIPLIERS)[::-1]
        x = p >> HALF_BITS
        x ^= y
        x ^= keys[:, i : i + 1]
        y = p & LOW_MASK
    y <<= HALF_BITS
    y |= x
    return np.stack([y[0], y[1]], axis=-1)


def philox_blocks_in_python(key: int, counter: list[int], offsets: list[int]) -> Any:
    """The same for a few blocks in Python integers, where NumPy calls would dominate the cost."""
    low = 0xFFFFFFFF
    left, right = key & low, key >> 32
    by_a, by_c = MULTIPLIERS[:, 0].tolist()
    keys = [(left + to_left & low, right + to_right & low) for to_left, to_right in WEYL.T.tolist()]
    start = counter[0] + (counter[1] << 64)
    out = []
    for offset in offsets:
        at = start + offset
        a, b, c, d = at & low, at >> 32 & low, at >> 64 & low, at >> 96 & low
        for to_a, to_c in keys:
            p, q = a * by_a, c * by_c
            a, b, c, d = q >> 32 ^ b ^ to_a, q & low, p >> 32 ^ d ^ to_c, p & low
        out.append((a | b << 32, c | d << 32))
    return np.array(out, np.uint64).reshape(-1, 2)


def philox_block_words(key: Any, counter: Any, offsets: Any) -> Any:
    """The blocks at `offsets` (uint64) from `counter`, as (n, 4) words of 32 bits."""
    return map_in_pieces(lambda piece: philox_blocks(key, counter, piece).view(np.uint32), offsets)


def map_in_pieces(function: Any, offsets: Any) -> Any:
    """Apply `function` to `offsets`, in pieces of `BLOCKS_AT_ONCE` blocks."""
    if len(offsets) <= BLOCKS_AT_ONCE:
        return function(offsets)
    cuts = range(0, len(offsets), BLOCKS_AT_ONCE)
    return np.concatenate([function(offsets[i : i + BLOCKS_AT_ONCE]) for i in cuts])


def block_offsets(count: int, in_block: int) -> Any:
    """Offsets of the first blocks, enough for `count` numbers with `in_block` in each."""
    return np.arange(-(-count // in_block), dtype=np.uint64)


def draw_words(key: Any, counter: Any, count: int) -> Any:
    """The first `count` words (32 bits) of a stream."""
    return philox_block_words(key, counter, block_offsets(count, 4)).reshape(-1)[:count]


def draw_long_words(key: Any, counter: Any, count: int) -> Any:
    """The first `count` words of 64 bits of a stream."""
    offsets = block_offsets(count, 2)
    drawn = map_in_pieces(lambda piece: philox_blocks(key, counter, piece), offsets)
    return drawn.reshape(-1)[:count]


@with_shape(keep_shape)
def advance_counter(counter: Any, blocks: int) -> Any:
    """Advance a counter by `philox_block_words`."""
    low = counter[:1] + np.uint64(blocks)
    return np.concatenate([low, counter[1:] + (low < counter[:1])])


def unit32(bits: Any) -> Any:
    """Convert words to float32 in [0, 1): 23 bits are the mantissa of a number in [1, 2)."""
    kept = bits & np.uint32(0x7FFFFF)
    kept |= np.uint32(0x3F800000)
    unit = kept.view(np.float32)
    unit -= np.float32(1)
    return unit


def unit64(bits: Any) -> Any:
    """Convert 64-bit words to float64 in [0, 1): 20 bits of the low half, then the high half."""
    kept = bits & np.uint64(0xFFFFF)
    kept |= np.uint64(0x3FF00000)
    kept <<= HALF_BITS
    kept |= bits >> HALF_BITS
    unit = kept.view(np.float64)
    unit -= 1
    return unit


def unit16(bits: Any, dtype: Any, mantissa: int, one: int) -> Any:
    """Convert words to half-precision numbers in [0, 1), from their lowest bits."""
    kept = bits.astype(np.uint16) & np.uint16(mantissa) | np.uint16(one)
    return kept.view(dtype) - dtype.type(1)
