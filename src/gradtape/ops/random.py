"""Random numbers as pure functions of a key and a counter, bit by bit as TensorFlow draws them.

The generator is Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
2011). `key` is a uint64 of shape (1,), `counter` a uint64 of shape (2,), low half first. Block i of
a stream is the cipher of `counter + i`, four words of 32 bits; how words become numbers is said at
each distribution.
"""

from __future__ import annotations

from math import pi, prod
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import primitive

MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
ROUNDS = np.arange(10, dtype=np.uint64)[:, None, None]
WEYL = (
    np.array([[0x9E3779B9], [0xBB67AE85]], np.uint64) * ROUNDS
)  # what is added to the key in each round
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
AT_ONCE = 1 << 13  # blocks computed together; they stay in the cache
RESERVED = 256  # words set aside for each truncated normal, so that it may reject some
SCRAMBLER = np.array(
    [0x02461E293EC8F720], np.uint64
)  # the key that turns a seed into key and counter


def blocks(key: Any, counter: Any, offsets: Any) -> Any:
    """The words of the blocks at `offsets` (uint64) from `counter`, of shape (n, 4), uint32."""
    if len(offsets) > AT_ONCE:
        cuts = range(0, len(offsets), AT_ONCE)
        return np.concatenate([blocks(key, counter, offsets[i : i + AT_ONCE]) for i in cuts])
    low = counter[0] + offsets
    halves = np.stack([low, counter[1] + (low < offsets)])
    even, odd = halves & LOW, halves >> HALF  # words 0 and 2, words 1 and 3
    keys = np.stack([key & LOW, key >> HALF]) + WEYL & LOW
    for round_key in keys:
        product = (even * MULTIPLIERS)[::-1]
        even = product >> HALF ^ odd ^ round_key
        odd = product & LOW
    return np.stack([even[0], odd[0], even[1], odd[1]], axis=-1).astype(np.uint32)


def words(key: Any, counter: Any, count: int) -> Any:
    """The first `count` words of a stream."""
    return blocks(key, counter, np.arange(-(-count // 4), dtype=np.uint64)).reshape(-1)[:count]


def long_words(key: Any, counter: Any, count: int) -> Any:
    """The first `count` pairs of words, the first of a pair being the lower half."""
    pairs = words(key, counter, 2 * count).reshape(-1, 2).astype(np.uint64)
    return pairs[:, 0] | pairs[:, 1] << HALF


@primitive(seed=None, outputs=True)
def key_and_counter(seed):
    """The key and the counter that a stateless op draws with, out of a pair of integers."""
    counter = seed.astype(np.int64).view(np.uint64)
    a, b, c, d = blocks(SCRAMBLER, counter, np.zeros(1, np.uint64))[0].astype(np.uint64)
    return np.stack([a | b << HALF]), np.stack([np.uint64(0), c | d << HALF])


def unit32(bits: Any) -> Any:
    """Words as float32 in [0, 1): 23 bits of the mantissa of a number in [1, 2)."""
    one = np.uint32(0x3F800000)
    return (bits & np.uint32(0x7FFFFF) | one).view(np.float32) - np.float32(1)


def unit64(pairs: Any) -> Any:
    """Pairs of words (..., 2) as float64 in [0, 1): 20 bits of the first, then the second."""
    high, low = pairs[..., 0].astype(np.uint64), pairs[..., 1].astype(np.uint64)
    return ((high & np.uint64(0xFFFFF) | np.uint64(0x3FF00000)) << HALF | low).view(np.float64) - 1


def unit16(bits: Any, dtype: Any, mantissa: int, one: int) -> Any:
    """Words as half-precision numbers in [0, 1), from the lowest bits."""
    return (bits.astype(np.uint16) & np.uint16(mantissa) | np.uint16(one)).view(dtype) - dtype.type(
        1
    )


@primitive(key=None, counter=None)
def random_uniform(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Floats in [0, 1)."""
    count = prod(shape)
    if dtype == np.float64:
        out = unit64(words(key, counter, 2 * count).reshape(-1, 2))
    else:
        bits = words(key, counter, count)
        if dtype == np.float32:
            out = unit32(bits)
        elif dtype == np.float16:
            out = unit16(bits, dtype, 0x3FF, 0x3C00)
        else:
            out = unit16(bits, dtype, 0x7F, 0x3F80)
    return out.reshape(shape)[()]


@primitive(key=None, counter=None)
def random_bits(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Integers of all values that `dtype`, of 32 or 64 bits, has."""
    draw = words if dtype.itemsize == 4 else long_words
    return draw(key, counter, prod(shape)).view(dtype).reshape(shape)[()]


@primitive(key=None, counter=None, low=None, high=None)
def random_integers(key, counter, low, high, *, shape: tuple[int, ...]):
    """Integers in [low, high), with the slight bias of a remainder."""
    if prod(shape) and not low < high:
        raise InvalidArgumentError(
            f"random_uniform: Need minval < maxval, got {low} >= {high}. "
            "Give a range that holds an integer."
        )
    return integers(key, counter, low, high, shape=shape)


@random_integers.lower
def integers(key, counter, low, high, *, shape):
    """The same, of a range that is not looked at."""
    draw, unsigned = (words, np.uint32) if low.dtype.itemsize == 4 else (long_words, np.uint64)
    start, stop = (np.asarray(n).view(unsigned).reshape(1) for n in (low, high))
    span = np.maximum(np.subtract(stop, start), 1)  # of an empty range nothing is drawn
    bits = draw(key, counter, prod(shape))
    return (start + bits % span).view(low.dtype).reshape(shape)[()]


# Minimax coefficients (Arm Optimized Routines, 2018) of the sine and cosine in TensorFlow's C
# library: without them one normal in seventy differs in its last bit.
SINE = tuple(
    map(float.fromhex, ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13"))
)
COSINE = tuple(
    map(
        float.fromhex,
        (
            "-0x1.ffffffd0c621cp-2",
            "0x1.55553e1068f19p-5",
            "-0x1.6c087e89a359dp-10",
            "0x1.99343027bf8c3p-16",
        ),
    )
)


def sine_and_cosine(x: Any) -> Any:
    """Sine and cosine of float64 `x` (…), as (…, 2), good enough to be rounded to float32."""
    quarters = np.floor(x * (2 / pi) + 0.5)
    x = x - quarters * (pi / 2)
    q = quarters.astype(np.int8)
    x2 = x * x
    x3, x4 = x * x2, x2 * x2
    s = (x + x3 * SINE[0]) + x3 * x2 * (SINE[1] + x2 * SINE[2])
    c = (1 + x2 * COSINE[0] + x4 * COSINE[1]) + x4 * x2 * (COSINE[2] + x2 * COSINE[3])
    sine = np.where(q & 1, c, s) * (1 - (q & 2))
    cosine = np.where(q & 1, s, c) * (1 - (q + 1 & 2))
    return np.stack([sine, cosine], axis=-1)


def normal32(bits: Any) -> Any:
    """Pairs of words (..., 2) as pairs of float32 normals, by Box and Muller.

    Transcendental functions are taken in double precision and rounded. The logarithm of
    TensorFlow's C library is not always rounded right: two in a thousand normals differ in the last
    bit or two.
    """
    u = np.maximum(unit32(bits[..., 0]), np.float32(1e-7))
    angle = (2 * pi * unit32(bits[..., 1]).astype(np.float64)).astype(np.float32)
    radius = np.sqrt(np.float32(-2) * np.log(u.astype(np.float64)).astype(np.float32))
    return sine_and_cosine(angle.astype(np.float64)).astype(np.float32) * radius[..., None]


def normal64(bits: Any) -> Any:
    """Groups of words (..., 4) as pairs of float64 normals."""
    u = np.maximum(unit64(bits[..., :2]), 1e-7)
    angle = 2 * pi * unit64(bits[..., 2:])
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1) * np.sqrt(-2 * np.log(u))[..., None]


def normals(bits: Any, dtype: Any) -> Any:
    """Blocks (..., 4) as normals, two (of float64) or four of each block."""
    if dtype == np.float64:
        return normal64(bits)
    pairs = normal32(bits.reshape(*bits.shape[:-1], 2, 2))
    return pairs.reshape(bits.shape)


@primitive(key=None, counter=None)
def random_normal(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Numbers of the standard normal distribution."""
    count = prod(shape)
    in_block = 2 if dtype == np.float64 else 4
    bits = blocks(key, counter, np.arange(-(-count // in_block), dtype=np.uint64))
    return normals(bits, dtype).reshape(-1)[:count].astype(dtype, copy=False).reshape(shape)[()]


def accepted(key: Any, counter: Any, starts: Any, dtype: Any, depth: int) -> tuple[Any, Any]:
    """The first normals within (-2, 2) of `depth` blocks from each start, and their number."""
    offsets = starts[:, None] + np.arange(depth, dtype=np.uint64)
    bits = blocks(key, counter, offsets.reshape(-1)).reshape(len(starts), depth, 4)
    drawn = normals(bits, dtype)
    group = drawn.shape[-1]
    drawn = drawn.reshape(len(starts), depth * group)
    inside = np.abs(drawn) < 2
    first = np.argsort(~inside, axis=1, stable=True)[:, :group] if depth > 1 else None
    return drawn if first is None else np.take_along_axis(drawn, first, axis=1), inside.sum(axis=1)


def starts_of(count: int, dtype: Any) -> Any:
    """Where the blocks begin that each group of truncated normals is chosen from."""
    group = 2 if dtype == np.float64 else 4
    return np.arange(-(-count // group), dtype=np.uint64) * np.uint64(group * RESERVED // 4)


@primitive(key=None, counter=None)
def random_truncated_normal(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Numbers of the standard normal distribution that lie within (-2, 2)."""
    count, depth = prod(shape), 1
    starts = starts_of(count, dtype)
    out, found = accepted(key, counter, starts, dtype, depth)
    short = np.flatnonzero(found < out.shape[1])
    while short.size:
        depth *= 2
        out[short], found = accepted(key, counter, starts[short], dtype, depth)
        short = short[found < out.shape[1]]
    return out.reshape(-1)[:count].astype(dtype, copy=False).reshape(shape)[()]


@random_truncated_normal.lower
def random_truncated_normal_lowered(key, counter, *, shape, dtype):
    """All groups at once: but one in 10^30 finds enough in 16 blocks."""
    count = prod(shape)
    out, _ = accepted(key, counter, starts_of(count, dtype), dtype, 16)
    return out.reshape(-1)[:count].astype(dtype).reshape(shape)


def permutation(key: Any, counter: Any, size: int) -> Any:
    """A permutation of `size` indices, raw, by Fisher and Yates."""
    order = list(range(size))
    draws = words(key, counter, size).tolist()
    for i in range(size - 1):
        j = i + draws[i] % (size - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)
