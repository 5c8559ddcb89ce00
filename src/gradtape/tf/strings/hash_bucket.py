"""tf.strings functions that hash strings, with TensorFlow's hash functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.side_effect import on_host
from gradtape.tf.strings.byte_string import each, strings

WORD = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F  # the constants of FarmHash


def buckets(function: Any, input: Any, num_buckets: int, op: str) -> Tensor:
    """Hash strings with `function`, modulo `num_buckets`."""
    if num_buckets < 1:
        raise InvalidArgumentError(f"{op}: num_buckets must be at least 1. Received {num_buckets}.")
    return each(lambda text: function(text) % num_buckets, strings(input), dtype=np.int64)


@public
@on_host
def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A bucket below `num_buckets` for each string, by FarmHash's Fingerprint64.

    Example:
        >>> tf.strings.to_hash_bucket_fast(["a", "b", "a"], 10).numpy()
        array([9, 2, 9])
    """
    return buckets(farmhash, input, num_buckets, "to_hash_bucket_fast")


@public
@on_host
def to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Any, name: str | None = None
) -> Tensor:
    """A bucket below `num_buckets` for each string, by SipHash with a key of two integers."""
    if len(key) != 2:
        raise InvalidArgumentError(
            f"to_hash_bucket_strong: Key must have 2 elements. Received {len(key)}."
        )
    k = (int(key[0]) & WORD, int(key[1]) & WORD)
    return buckets(lambda text: siphash(text, *k), input, num_buckets, "to_hash_bucket_strong")


@public
@on_host
def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A bucket below `num_buckets` for each string, by MurmurHash64A."""
    return buckets(murmurhash, input, num_buckets, "to_hash_bucket")


def word(text: bytes, at: int) -> int:
    """Read eight bytes as a little-endian integer."""
    return int.from_bytes(text[at : at + 8], "little")


def turned(x: int, by: int) -> int:
    """Rotate the low 64 bits of `x` to the right."""
    x &= WORD
    return x >> by | (x << (64 - by)) & WORD


def mixed(x: int) -> int:
    """FarmHash's ShiftMix: x ^ (x >> 47), of the low 64 bits of `x`."""
    x &= WORD
    return x ^ x >> 47


def joined(u: int, v: int, mul: int) -> int:
    """FarmHash's HashLen16: hash two words to one."""
    a = mixed(((u ^ v) & WORD) * mul)
    return mixed((v ^ a) * mul) * mul & WORD


def farmhash(text: bytes) -> int:
    """FarmHash's Fingerprint64 (Pike and Alakuijala, 2014)."""
    size = len(text)
    if size <= 16:
        return farmhash_to_16(text, size)
    if size <= 64:
        return farmhash_to_64(text, size)
    x, y, z = 81, (81 * K1 + 113) & WORD, 0
    z = mixed(y * K2 + 113) * K2 & WORD
    v, w = (0, 0), (0, 0)
    x = (x * K2 + word(text, 0)) & WORD
    for at in range(0, (size - 1) // 64 * 64, 64):
        x, y, z, v, w = farmhash_step(text, at, x, y, z, v, w, K1, 1)
    mul = K1 + ((z & 0xFF) << 1)
    rest = (size - 1) & 63
    w = ((w[0] + rest) & WORD, w[1])
    v = ((v[0] + w[0]) & WORD, v[1])
    w = ((w[0] + v[0]) & WORD, w[1])
    x, y, z, v, w = farmhash_step(text, size - 64, x, y, z, v, w, mul, 9)
    first = joined(v[0], w[0], mul) + mixed(y) * K0 + z
    return joined(first & WORD, (joined(v[1], w[1], mul) + x) & WORD, mul)


def farmhash_to_16(text: bytes, size: int) -> int:
    """The hash of at most 16 bytes."""
    mul = K2 + 2 * size
    if size >= 8:
        a, b = word(text, 0) + K2, word(text, size - 8)
        c = turned(b, 37) * mul + a
        d = (turned(a, 25) + b) * mul
        return joined(c & WORD, d & WORD, mul)
    if size >= 4:
        first = int.from_bytes(text[:4], "little")
        return joined(size + (first << 3), int.from_bytes(text[-4:], "little"), mul)
    if size:
        y = text[0] + (text[size >> 1] << 8)
        z = size + (text[-1] << 2)
        return mixed(y * K2 ^ z * K0) * K2 & WORD
    return K2


def farmhash_to_64(text: bytes, size: int) -> int:
    """The hash of 17 to 64 bytes."""
    mul = K2 + 2 * size
    a = word(text, 0) * (K1 if size <= 32 else K2)
    b = word(text, 8)
    c = word(text, size - 8) * mul
    d = word(text, size - 16) * K2
    y = (turned(a + b, 43) + turned(c, 30) + d) & WORD
    z = joined(y, (a + turned(b + K2, 18) + c) & WORD, mul)
    if size <= 32:
        return z
    e = word(text, 16) * mul
    f = word(text, 24)
    g = (y + word(text, size - 32)) * mul
    h = (z + word(text, size - 24)) * mul
    first = turned(e + f, 43) + turned(g, 30) + h
    return joined(first & WORD, (e + turned(f + a, 18) + g) & WORD, mul)


def farmhash_step(
    text: bytes,
    at: int,
    x: int,
    y: int,
    z: int,
    v: tuple[int, int],
    w: tuple[int, int],
    mul: int,
    weight: int,
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Update the state with 64 bytes."""
    x = turned(x + y + v[0] + word(text, at + 8), 37) * mul & WORD
    y = turned(y + v[1] + word(text, at + 48), 42) * mul & WORD
    x ^= w[1] * weight & WORD
    y = (y + v[0] * weight + word(text, at + 40)) & WORD
    z = turned(z + w[0], 33) * mul & WORD
    v = farmhash_half(text, at, v[1] * mul, x + w[0])
    w = farmhash_half(text, at + 32, z + w[1], y + word(text, at + 16))
    return z, y, x, v, w


def farmhash_half(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Update half of the state with 32 bytes."""
    a += word(text, at)
    b = turned(b + a + word(text, at + 24), 21)
    c = a
    a += word(text, at + 8) + word(text, at + 16)
    b += turned(a, 44)
    return (a + word(text, at + 24)) & WORD, (b + c) & WORD


def siphash(text: bytes, k0: int, k1: int) -> int:
    """SipHash-2-4 (Aumasson and Bernstein, 2012)."""
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 0xFF])
    for at in range(0, len(padded), 8):
        piece = word(padded, at)
        v3 ^= piece
        for _ in range(2):
            v0, v1, v2, v3 = siphash_round(v0, v1, v2, v3)
        v0 ^= piece
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = siphash_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


def siphash_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    """One round of mixing."""
    v0 = (v0 + v1) & WORD
    v1 = turned(v1, 64 - 13) ^ v0
    v0 = turned(v0, 32)
    v2 = (v2 + v3) & WORD
    v3 = turned(v3, 64 - 16) ^ v2
    v0 = (v0 + v3) & WORD
    v3 = turned(v3, 64 - 21) ^ v0
    v2 = (v2 + v1) & WORD
    v1 = turned(v1, 64 - 17) ^ v2
    return v0, v1, turned(v2, 32), v3


def murmurhash(text: bytes) -> int:
    """MurmurHash64A (Appleby, 2008) with TensorFlow's seed."""
    mul = 0xC6A4A7935BD1E995
    h = 0xDECAFCAFFE ^ len(text) * mul & WORD
    whole = len(text) // 8 * 8
    for at in range(0, whole, 8):
        k = mixed(word(text, at) * mul) * mul
        h = ((h ^ k) & WORD) * mul & WORD
    if len(text) > whole:
        h = ((h ^ int.from_bytes(text[whole:], "little")) & WORD) * mul & WORD
    return mixed(mixed(h) * mul)
