"""Random numbers as pure functions of a key and a counter, bit for bit as in TensorFlow.

The primitives read the streams of `philox` and convert words to numbers. Generators, which advance
a counter, are in `state/`.
"""

from __future__ import annotations

from math import log, pi, prod
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import INT64, UINT64, fill_shape, keep_shape, with_shape
from gradtape.ops.random.philox import (
    block_offsets,
    draw_long_words,
    draw_words,
    map_in_pieces,
    philox_blocks,
    unit16,
    unit32,
    unit64,
)

WORDS_PER_TRUNCATED_NORMAL = (
    256  # words reserved for each truncated normal, so that it can reject some
)
SEED_CIPHER_KEY = np.array(
    [0x02461E293EC8F720], np.uint64
)  # the key that turns a seed into key and counter


@primitive(seed=None, outputs=True, shape=lambda seed: [Spec(((1,), UINT64)), Spec(((2,), UINT64))])
def key_and_counter(seed):
    """The key and counter of a stateless op, derived from its seed, a pair of integers."""
    counter = seed.astype(np.int64).view(np.uint64)
    key, high = philox_blocks(SEED_CIPHER_KEY, counter, np.zeros(1, np.uint64))[0]
    return np.stack([key]), np.stack([np.uint64(0), high])


@primitive(key=None, counter=None, shape=fill_shape)
def random_uniform(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Floats in [0, 1)."""
    count = prod(shape)

    def draw(piece: Any) -> Any:
        drawn = philox_blocks(key, counter, piece)
        if dtype == np.float64:
            return unit64(drawn)
        bits = drawn.view(np.uint32)
        if dtype == np.float32:
            return unit32(bits)
        mantissa, one = (0x3FF, 0x3C00) if dtype == np.float16 else (0x7F, 0x3F80)
        return unit16(bits, dtype, mantissa, one)

    drawn = map_in_pieces(draw, block_offsets(count, 2 if dtype == np.float64 else 4))
    return drawn.reshape(-1)[:count].reshape(shape)[()]


@primitive(key=None, counter=None, shape=fill_shape)
def random_bits(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Integers over the full range of `dtype`, of 32 or 64 bits."""
    draw = draw_words if dtype.itemsize == 4 else draw_long_words
    return draw(key, counter, prod(shape)).view(dtype).reshape(shape)[()]


@primitive(
    key=None,
    counter=None,
    low=None,
    high=None,
    shape=lambda key, counter, low, high, shape: Spec((shape, low.dtype)),
)
def random_integers(key, counter, low, high, *, shape: tuple[int, ...]):
    """Integers in [low, high), by remainder, and so slightly biased as in TensorFlow."""
    if prod(shape) and not low < high:
        raise InvalidArgumentError(
            f"random_uniform: Need minval < maxval, got {low} >= {high}. "
            "Give a range that holds an integer."
        )
    return lower_random_integers(key, counter, low, high, shape=shape)


@random_integers.lower
def lower_random_integers(key, counter, low, high, *, shape):
    """The same without a check of the range."""
    draw, unsigned = (
        (draw_words, np.uint32) if low.dtype.itemsize == 4 else (draw_long_words, np.uint64)
    )
    start, stop = (np.asarray(n).view(unsigned).reshape(1) for n in (low, high))
    span = np.maximum(np.subtract(stop, start), 1)  # an empty range implies that no number is drawn
    bits = draw(key, counter, prod(shape))
    return (start + bits % span).view(low.dtype).reshape(shape)[()]


# Coefficients of the sine, cosine and logarithm in TensorFlow's C library (Arm Optimized Routines,
# 2018). With NumPy's functions one normal in seventy would differ in its last bit.
SINE_COEFFICIENTS = tuple(
    map(float.fromhex, ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13"))
)
COSINE_COEFFICIENTS = tuple(
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
LOG_COEFFICIENTS = tuple(
    map(float.fromhex, ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2"))
)
LOG_FIRST_INTERVAL_BITS = (
    0x3F330000  # the bits of the float32 where the first of sixteen intervals begins
)
LOG_TABLE_TEXT = """
    0x1.661ec79f8f3bep+0 -0x1.57bf7808caadep-2 0x1.571ed4aaf883dp+0 -0x1.2bef0a7c06ddbp-2
    0x1.49539f0f010bp+0 -0x1.01eae7f513a67p-2 0x1.3c995b0b80385p+0 -0x1.b31d8a68224e9p-3
    0x1.30d190c8864a5p+0 -0x1.6574f0ac07758p-3 0x1.25e227b0b8eap+0 -0x1.1aa2bc79c81p-3
    0x1.1bb4a4a1a343fp+0 -0x1.a4e76ce8c0e5ep-4 0x1.12358f08ae5bap+0 -0x1.1973c5a611cccp-4
    0x1.0953f419900a7p+0 -0x1.252f438e10c1ep-5 0x1p+0 0x0p+0
    0x1.e608cfd9a47acp-1 0x1.aa5aa5df25984p-5 0x1.ca4b31f026aap-1 0x1.c5e53aa362eb4p-4
    0x1.b2036576afce6p-1 0x1.526e57720db08p-3 0x1.9c2d163a1aa2dp-1 0x1.bc2860d22477p-3
    0x1.886e6037841edp-1 0x1.1058bc8a07ee1p-2 0x1.767dcf5534862p-1 0x1.4043057b6ee09p-2
"""  # for each interval: the inverse of a number in it, and the logarithm of that number
LOG_TABLE_INVERSES, LOG_TABLE_LOGS = (
    np.array([float.fromhex(n) for n in LOG_TABLE_TEXT.split()]).reshape(16, 2).T.copy()
)


def sine_and_cosine(x: Any) -> tuple[Any, Any]:
    """Sine and cosine of float64 `x`, accurate enough to round to float32."""
    quarters = np.floor(x * (2 / pi) + 0.5)
    x = x - quarters * (pi / 2)
    x2 = x * x
    x3, x4 = x * x2, x2 * x2
    s = (x + x3 * SINE_COEFFICIENTS[0]) + x3 * x2 * (
        SINE_COEFFICIENTS[1] + x2 * SINE_COEFFICIENTS[2]
    )
    c = (1 + x2 * COSINE_COEFFICIENTS[0] + x4 * COSINE_COEFFICIENTS[1]) + x4 * x2 * (
        COSINE_COEFFICIENTS[2] + x2 * COSINE_COEFFICIENTS[3]
    )
    q = quarters.astype(np.int8)
    odd = (q & 1).astype(bool)
    return np.where(odd, c, s) * (1 - (q & 2)), np.where(odd, s, c) * (1 - (q + 1 & 2))


def log_float32(x: Any) -> Any:
    """Logarithm of positive float32 `x`: a table of sixteen intervals and a cubic polynomial."""
    bits = x.view(np.uint32)
    above = bits - np.uint32(LOG_FIRST_INTERVAL_BITS)
    i = (above >> np.uint32(19) & np.uint32(15)).astype(np.int8)
    exponent = (above.view(np.int32) >> 23).astype(np.float64)
    mantissa = (bits - (above & np.uint32(0xFF800000))).view(np.float32).astype(np.float64)
    r = mantissa * np.take(LOG_TABLE_INVERSES, i) - 1
    r2 = r * r
    y = LOG_COEFFICIENTS[0] * r2 + (LOG_COEFFICIENTS[1] * r + LOG_COEFFICIENTS[2])
    return (y * r2 + (np.take(LOG_TABLE_LOGS, i) + exponent * log(2) + r)).astype(np.float32)


def normal32(bits: Any) -> Any:
    """Convert pairs of words (..., 2) to pairs of float32 normals, by Box and Muller."""
    u = np.maximum(unit32(bits[..., 0]), np.float32(1e-7))
    angle = (2 * pi * unit32(bits[..., 1]).astype(np.float64)).astype(np.float32)
    radius = np.sqrt(np.float32(-2) * log_float32(u))
    sine, cosine = sine_and_cosine(angle.astype(np.float64))
    return np.stack([sine.astype(np.float32) * radius, cosine.astype(np.float32) * radius], axis=-1)


def normal64(bits: Any) -> Any:
    """Convert pairs of 64-bit words (..., 2) to pairs of float64 normals."""
    u = np.maximum(unit64(bits[..., 0]), 1e-7)
    angle = 2 * pi * unit64(bits[..., 1])
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1) * np.sqrt(-2 * np.log(u))[..., None]


def normals_of_blocks(key: Any, counter: Any, offsets: Any, dtype: Any) -> Any:
    """Normals of the blocks at `offsets`: (n, 2) for float64, (n, 4) for narrower dtypes."""

    def draw(piece: Any) -> Any:
        drawn = philox_blocks(key, counter, piece)
        if dtype == np.float64:
            return normal64(drawn)
        return normal32(drawn.view(np.uint32).reshape(-1, 2, 2)).reshape(-1, 4)

    return map_in_pieces(draw, offsets)


@primitive(key=None, counter=None, shape=fill_shape)
def random_normal(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Standard normal numbers."""
    count = prod(shape)
    offsets = block_offsets(count, 2 if dtype == np.float64 else 4)
    drawn = normals_of_blocks(key, counter, offsets, dtype)
    return drawn.reshape(-1)[:count].astype(dtype, copy=False).reshape(shape)[()]


def accept_normals(key: Any, counter: Any, starts: Any, dtype: Any, depth: int) -> tuple[Any, Any]:
    """Keep the first normals within (-2, 2) of `depth` blocks from each start; also count them."""
    offsets = starts[:, None] + np.arange(depth, dtype=np.uint64)
    drawn = normals_of_blocks(key, counter, offsets.reshape(-1), dtype)
    group = drawn.shape[-1]
    drawn = drawn.reshape(len(starts), depth * group)
    inside = np.abs(drawn) < 2
    chosen = np.argsort(~inside, axis=1, stable=True)[:, :group] if depth > 1 else None
    kept = drawn if chosen is None else np.take_along_axis(drawn, chosen, axis=1)
    return kept, inside.sum(axis=1)


def truncated_starts_of(count: int, dtype: Any) -> Any:
    """Offsets of the first block from which each group of truncated normals is selected."""
    group = 2 if dtype == np.float64 else 4
    return np.arange(-(-count // group), dtype=np.uint64) * np.uint64(
        group * WORDS_PER_TRUNCATED_NORMAL // 4
    )


@primitive(key=None, counter=None, shape=fill_shape)
def random_truncated_normal(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Standard normal numbers truncated to (-2, 2)."""
    count, depth = prod(shape), 1
    starts = truncated_starts_of(count, dtype)
    out, found = accept_normals(key, counter, starts, dtype, depth)
    short = np.flatnonzero(found < out.shape[1])
    while short.size:
        depth *= 2
        out[short], found = accept_normals(key, counter, starts[short], dtype, depth)
        short = short[found < out.shape[1]]
    return out.reshape(-1)[:count].astype(dtype, copy=False).reshape(shape)[()]


@random_truncated_normal.lower
def lower_random_truncated_normal(key, counter, *, shape, dtype):
    """All groups at once from 16 blocks each, which fail to suffice once in 10^30 groups."""
    count = prod(shape)
    out, _ = accept_normals(key, counter, truncated_starts_of(count, dtype), dtype, 16)
    return out.reshape(-1)[:count].astype(dtype).reshape(shape)


def make_numpy_generator(key: Any, counter: Any) -> Any:
    """Make a NumPy generator, several times faster than Philox written in NumPy."""
    return np.random.Generator(np.random.SFC64([*key.tolist(), *counter.tolist()]))


@primitive(key=None, counter=None, shape=fill_shape)
def fresh_uniform(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Floats in [0, 1) for ops without a seed, whose bits need not match TensorFlow's."""
    drawn = make_numpy_generator(key, counter).random(shape, dtype)
    # NumPy draws one more bit than TensorFlow; scaled to [1, 3), the largest would round up to 3.
    return np.minimum(drawn, 1 - np.finfo(dtype).eps, dtype=dtype)


@primitive(key=None, counter=None, shape=fill_shape)
def fresh_normal(key, counter, *, shape: tuple[int, ...], dtype: np.dtype):
    """Standard normals for ops without a seed, whose bits need not match TensorFlow's."""
    return make_numpy_generator(key, counter).standard_normal(shape, dtype)


for fresh in (fresh_uniform, fresh_normal):
    fresh.keep_on_host("the numbers come from NumPy's generator")


@primitive(
    state=None, outputs=True, shape=lambda state: [Spec(((1,), UINT64)), Spec(((2,), UINT64))]
)
def split_generator_state(state):
    """Key and counter of a generator's state, stored as counter (low half first), then key."""
    halves = state.view(np.uint64)
    return halves[2:], halves[:2]


@primitive(state=None, delta=None, shape=keep_shape)
def skip_ahead(state, delta):
    """The state of a generator after `delta` numbers; each uses 256 blocks."""
    held = state.view(np.uint64)
    low = held[:1] + delta.astype(np.uint64) * np.uint64(WORDS_PER_TRUNCATED_NORMAL)
    high = held[1:2] + (low < held[:1])
    return np.concatenate([low, high, held[2:]]).view(np.int64)


@with_shape(lambda key, counter, size: Spec(((size,), INT64)))
def permute_indices(key: Any, counter: Any, size: int) -> Any:
    """Draw a permutation of `size` indices as a raw array (Fisher and Yates)."""
    order = list(range(size))
    draws = draw_words(key, counter, size).tolist()
    for i in range(size - 1):
        j = i + draws[i] % (size - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


SIMON_Z2 = "10101111011100000011010010011000101000010001111110010110110011"


def shuffle_index(index: int, key: Any, top: int, rounds: int = 4) -> int:
    """Position of `index` in a permutation of 0 … `top`, by an even number of Simon's rounds.

    The cipher (Beaulieu et al., 2013) permutes numbers with an even number of bits. A result beyond
    `top` is permuted again.
    """
    bits = max((top - 1).bit_length() if top > 1 else 0, 16)
    width = (bits + bits % 2) // 2
    mask = (1 << width) - 1

    def rotate_left(x: int, by: int) -> int:
        return (x << by | x >> width - by) & mask

    def mix(x: int) -> int:
        return rotate_left(x, 1) & rotate_left(x, 8) ^ rotate_left(x, 2)

    keys = [k & 0xFFFFFFFF & mask for k in key]
    for i in range(3, rounds):
        last = 0xFFFFFFFC ^ int(SIMON_Z2[(i - 3) % 62]) ^ keys[i - 3]
        last ^= rotate_left(keys[i - 1], width - 3) ^ rotate_left(keys[i - 1], width - 4)
        keys.append(last & mask)
    while True:
        high, low = index >> width, index & mask
        for a, b in zip(keys[:rounds:2], keys[1:rounds:2], strict=True):
            high ^= mix(low) ^ a
            low ^= mix(high) ^ b
        index = high << width | low
        if index <= top:
            return index
