"""Streams of random words: Philox 4x32-10 as a function of a key and a counter.

The cipher is that of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. `key` is a
uint64 of shape (1,), `counter` a uint64 of shape (2,), low half first. Block i of a stream is the
cipher of `counter + i`, four words of 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = [  # what is added to the halves of the key in each round
    tuple(np.array([step * i], np.uint64) & LOW for step in (0x9E3779B9, 0xBB67AE85))
    for i in range(10)
]
AT_ONCE = 1 << 13  # blocks computed together; they stay in the cache


def double_words(key: Any, counter: Any, offsets: Any) -> Any:
    """The blocks at `offsets` (uint64) from `counter`, of shape (n, 2), uint64.

    A word of 64 bits is a pair of words of 32, the first of them below.
    """
    low = counter[:1] + offsets
    high = counter[1:] + (low < offsets)
    a, b, c, d = low & LOW, low >> HALF, high & LOW, high >> HALF
    left, right = key & LOW, key >> HALF
    by_a, by_c = MULTIPLIERS
    for to_left, to_right in WEYL:
        p, q = a * by_a, c * by_c
        a = q >> HALF
        a ^= b
        a ^= left + to_left & LOW
        c = p >> HALF
        c ^= d
        c ^= right + to_right & LOW
        p &= LOW
        q &= LOW
        b, d = q, p
    b <<= HALF
    d <<= HALF
    return np.stack([a | b, c | d], axis=-1)


def blocks(key: Any, counter: Any, offsets: Any) -> Any:
    """The words of the blocks at `offsets` (uint64) from `counter`, of shape (n, 4), uint32."""
    return in_pieces(lambda piece: double_words(key, counter, piece).view(np.uint32), offsets)


def in_pieces(function: Any, offsets: Any) -> Any:
    """`function` of `offsets`, piece by piece if they are many."""
    if len(offsets) <= AT_ONCE:
        return function(offsets)
    cuts = range(0, len(offsets), AT_ONCE)
    return np.concatenate([function(offsets[i : i + AT_ONCE]) for i in cuts])


def first(count: int, in_block: int) -> Any:
    """Offsets of as many blocks as `count` numbers need."""
    return np.arange(-(-count // in_block), dtype=np.uint64)


def words(key: Any, counter: Any, count: int) -> Any:
    """The first `count` words of a stream."""
    return blocks(key, counter, first(count, 4)).reshape(-1)[:count]


def long_words(key: Any, counter: Any, count: int) -> Any:
    """The first `count` words of 64 bits."""
    offsets = first(count, 2)
    drawn = in_pieces(lambda piece: double_words(key, counter, piece), offsets)
    return drawn.reshape(-1)[:count]


def advanced(counter: Any, blocks: int) -> Any:
    """A counter, `blocks` further on."""
    low = counter[:1] + np.uint64(blocks)
    return np.concatenate([low, counter[1:] + (low < counter[:1])])


def unit32(bits: Any) -> Any:
    """Words as float32 in [0, 1): 23 bits of the mantissa of a number in [1, 2)."""
    one = np.uint32(0x3F800000)
    return (bits & np.uint32(0x7FFFFF) | one).view(np.float32) - np.float32(1)


def unit64(bits: Any) -> Any:
    """Words of 64 bits as float64 in [0, 1): 20 bits of the lower half, then the upper half."""
    high = (bits & np.uint64(0xFFFFF) | np.uint64(0x3FF00000)) << HALF
    return (high | bits >> HALF).view(np.float64) - 1


def unit16(bits: Any, dtype: Any, mantissa: int, one: int) -> Any:
    """Words as half-precision numbers in [0, 1), from the lowest bits."""
    kept = bits.astype(np.uint16) & np.uint16(mantissa) | np.uint16(one)
    return kept.view(dtype) - dtype.type(1)
