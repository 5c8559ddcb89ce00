"""tf.strings functions that hash strings, with TensorFlow's hash functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.argument import as_integer
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shape_rule import INT64
from gradtape.core.tensor import Tensor
from gradtape.graph.host_function import call_on_host, describe_like
from gradtape.tf.strings.byte_string import as_string_array, map_elements

MASK64 = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F  # the constants of FarmHash


def hash_to_buckets(function: Any, input: Any, num_buckets: int, op: str) -> Tensor:
    """Hash strings with `function`, modulo `num_buckets`."""
    num_buckets = as_integer(num_buckets, "num_buckets")
    if num_buckets < 1:
        raise InvalidArgumentError(f"{op}: num_buckets must be at least 1. Received {num_buckets}.")
    return map_elements(
        lambda text: function(text) % num_buckets, as_string_array(input), dtype=np.int64
    )


@public
@call_on_host(describe_like(INT64))
def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A bucket below `num_buckets` for each string, by FarmHash's Fingerprint64.

    Args:
        input: a tensor of strings.
        num_buckets: the number of buckets.
        name: has no effect here.

    Returns:
        An int64 tensor like `input`.

    Example:
        >>> tf.strings.to_hash_bucket_fast(["a", "b", "a"], 10).numpy()
        array([9, 2, 9])
    """
    return hash_to_buckets(farmhash, input, num_buckets, "to_hash_bucket_fast")


@public
@call_on_host(describe_like(INT64))
def to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Any, name: str | None = None
) -> Tensor:
    """A bucket below `num_buckets` for each string, by SipHash with a key of two integers.

    Args:
        input: a tensor of strings.
        num_buckets: the number of buckets.
        key: two integers.
        name: has no effect here.

    Returns:
        An int64 tensor like `input`.

    Example:
        >>> tf.strings.to_hash_bucket_strong(["a", "b"], 10, key=[1, 2]).shape
        TensorShape([2])
    """
    if len(key) != 2:
        raise InvalidArgumentError(
            f"to_hash_bucket_strong: Key must have 2 elements. Received {len(key)}."
        )
    k = (int(key[0]) & MASK64, int(key[1]) & MASK64)
    return hash_to_buckets(
        lambda text: siphash(text, *k), input, num_buckets, "to_hash_bucket_strong"
    )


@public
@call_on_host(describe_like(INT64))
def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A bucket below `num_buckets` for each string, by MurmurHash64A.

    Args:
        input: a tensor of strings.
        num_buckets: the number of buckets.
        name: has no effect here.

    Returns:
        An int64 tensor like `input`.

    Example:
        >>> tf.strings.to_hash_bucket(["a", "b"], 10).shape
        TensorShape([2])
    """
    return hash_to_buckets(murmurhash, input, num_buckets, "to_hash_bucket")


def read_uint64(text: bytes, at: int) -> int:
    """Read eight bytes as a little-endian integer."""
    return int.from_bytes(text[at : at + 8], "little")


def rotate_right(x: int, by: int) -> int:
    """Rotate the low 64 bits of `x` to the right."""
    x &= MASK64
    return x >> by | (x << (64 - by)) & MASK64


def shift_mix(x: int) -> int:
    """FarmHash's ShiftMix: x ^ (x >> 47), of the low 64 bits of `x`."""
    x &= MASK64
    return x ^ x >> 47


def hash_pair(u: int, v: int, mul: int) -> int:
    """FarmHash's HashLen16: hash two words to one."""
    a = shift_mix(((u ^ v) & MASK64) * mul)
    return shift_mix((v ^ a) * mul) * mul & MASK64


def farmhash(text: bytes) -> int:
    """FarmHash's Fingerprint64 (Pike and Alakuijala, 2014)."""
    size = len(text)
    if size <= 16:
        return farmhash_up_to_16(text, size)
    if size <= 64:
        return farmhash_up_to_64(text, size)
    x, y, z = 81, (81 * K1 + 113) & MASK64, 0
    z = shift_mix(y * K2 + 113) * K2 & MASK64
    v, w = (0, 0), (0, 0)
    x = (x * K2 + read_uint64(text, 0)) & MASK64
    for at in range(0, (size - 1) // 64 * 64, 64):
        x, y, z, v, w = farmhash_step(text, at, x, y, z, v, w, K1, 1)
    mul = K1 + ((z & 0xFF) << 1)
    rest = (size - 1) & 63
    w = ((w[0] + rest) & MASK64, w[1])
    v = ((v[0] + w[0]) & MASK64, v[1])
    w = ((w[0] + v[0]) & MASK64, w[1])
    x, y, z, v, w = farmhash_step(text, size - 64, x, y, z, v, w, mul, 9)
    first = hash_pair(v[0], w[0], mul) + shift_mix(y) * K0 + z
    return hash_pair(first & MASK64, (hash_pair(v[1], w[1], mul) + x) & MASK64, mul)


def farmhash_up_to_16(text: bytes, size: int) -> int:
    """The hash of at most 16 bytes."""
    mul = K2 + 2 * size
    if size >= 8:
        a, b = read_uint64(text, 0) + K2, read_uint64(text, size - 8)
        c = rotate_right(b, 37) * mul + a
        d = (rotate_right(a, 25) + b) * mul
        return hash_pair(c & MASK64, d & MASK64, mul)
    if size >= 4:
        first = int.from_bytes(text[:4], "little")
        return hash_pair(size + (first << 3), int.from_bytes(text[-4:], "little"), mul)
    if size:
        y = text[0] + (text[size >> 1] << 8)
        z = size + (text[-1] << 2)
        return shift_mix(y * K2 ^ z * K0) * K2 & MASK64
    return K2


def farmhash_up_to_64(text: bytes, size: int) -> int:
    """The hash of 17 to 64 bytes."""
    mul = K2 + 2 * size
    a = read_uint64(text, 0) * (K1 if size <= 32 else K2)
    b = read_uint64(text, 8)
    c = read_uint64(text, size - 8) * mul
    d = read_uint64(text, size - 16) * K2
    y = (rotate_right(a + b, 43) + rotate_right(c, 30) + d) & MASK64
    z = hash_pair(y, (a + rotate_right(b + K2, 18) + c) & MASK64, mul)
    if size <= 32:
        return z
    e = read_uint64(text, 16) * mul
    f = read_uint64(text, 24)
    g = (y + read_uint64(text, size - 32)) * mul
    h = (z + read_uint64(text, size - 24)) * mul
    first = rotate_right(e + f, 43) + rotate_right(g, 30) + h
    return hash_pair(first & MASK64, (e + rotate_right(f + a, 18) + g) & MASK64, mul)


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
    x = rotate_right(x + y + v[0] + read_uint64(text, at + 8), 37) * mul & MASK64
    y = rotate_right(y + v[1] + read_uint64(text, at + 48), 42) * mul & MASK64
    x ^= w[1] * weight & MASK64
    y = (y + v[0] * weight + read_uint64(text, at + 40)) & MASK64
    z = rotate_right(z + w[0], 33) * mul & MASK64
    v = farmhash_half(text, at, v[1] * mul, x + w[0])
    w = farmhash_half(text, at + 32, z + w[1], y + read_uint64(text, at + 16))
    return z, y, x, v, w


def farmhash_half(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Update half of the state with 32 bytes."""
    a += read_uint64(text, at)
    b = rotate_right(b + a + read_uint64(text, at + 24), 21)
    c = a
    a += read_uint64(text, at + 8) + read_uint64(text, at + 16)
    b += rotate_right(a, 44)
    return (a + read_uint64(text, at + 24)) & MASK64, (b + c) & MASK64


def siphash(text: bytes, k0: int, k1: int) -> int:
    """SipHash-2-4 (Aumasson and Bernstein, 2012)."""
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 0xFF])
    for at in range(0, len(padded), 8):
        piece = read_uint64(padded, at)
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
    v0 = (v0 + v1) & MASK64
    v1 = rotate_right(v1, 64 - 13) ^ v0
    v0 = rotate_right(v0, 32)
    v2 = (v2 + v3) & MASK64
    v3 = rotate_right(v3, 64 - 16) ^ v2
    v0 = (v0 + v3) & MASK64
    v3 = rotate_right(v3, 64 - 21) ^ v0
    v2 = (v2 + v1) & MASK64
    v1 = rotate_right(v1, 64 - 17) ^ v2
    return v0, v1, rotate_right(v2, 32), v3


def murmurhash(text: bytes) -> int:
    """MurmurHash64A (Appleby, 2008) with TensorFlow's seed."""
    mul = 0xC6A4A7935BD1E995
    h = 0xDECAFCAFFE ^ len(text) * mul & MASK64
    whole = len(text) // 8 * 8
    for at in range(0, whole, 8):
        k = shift_mix(read_uint64(text, at) * mul) * mul
        h = ((h ^ k) & MASK64) * mul & MASK64
    if len(text) > whole:
        h = ((h ^ int.from_bytes(text[whole:], "little")) & MASK64) * mul & MASK64
    return shift_mix(shift_mix(h) * mul)
