"""Mutations of bytes: flips, cuts, splices, and numbers that are too large."""

import random
import struct

EDGE_NUMBERS = (0, 1, 2, *(2**n - 1 for n in (7, 15, 31)), *(2**n for n in (7, 16, 31, 40, 63)))
EDGE_TEXTS = (b"", b"\0", b"\n", b'"', b"-1", b"1e999", b"NaN", b"[" * 2000, b"9" * 5000, b"\xff")


def mutate(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Change valid data one to four times; `others` are more valid data of the same format."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        data = chance.choice(MUTATIONS)(data, chance, others)
    return data


def pick_slice(data: bytes, chance: random.Random) -> tuple[int, int]:
    """The bounds of a part of the data, usually a short one."""
    start = chance.randrange(len(data) + 1)
    most = chance.choice((1, 4, 16, 256, len(data) + 1))
    return start, min(len(data), start + chance.randrange(most))


def flip_bits(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Flip a few bits."""
    out = bytearray(data)
    for _ in range(chance.randrange(1, 5) if data else 0):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def set_bytes(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Replace a part by random bytes of the same length."""
    start, end = pick_slice(data, chance)
    return data[:start] + chance.randbytes(end - start) + data[end:]


def cut_end(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Cut off the end."""
    return data[: chance.randrange(len(data) + 1)]


def remove_part(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Remove a part."""
    start, end = pick_slice(data, chance)
    return data[:start] + data[end:]


def repeat_part(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Repeat a part."""
    start, end = pick_slice(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 2, 20)) + data[end:]


def splice(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Insert a part of other data, or continue with its end."""
    other = chance.choice(others)
    start, end = pick_slice(other, chance)
    at = chance.randrange(len(data) + 1)
    return data[:at] + (other[start:end] + data[at:] if chance.random() < 0.5 else other[start:])


def set_number(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Overwrite bytes by a number that is often too large for its place."""
    number, size = chance.choice(EDGE_NUMBERS), chance.choice((1, 2, 4, 8))
    packed = struct.pack("<Q", number)[:size]
    packed = packed if chance.random() < 0.6 else packed[::-1]
    at = chance.randrange(len(data) + 1)
    return data[:at] + packed + data[at + size :]


def set_varint(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Replace one byte by a number of protobuf, which may be long."""
    number, out = chance.choice(EDGE_NUMBERS), bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    at = chance.randrange(len(data) + 1)
    return data[:at] + bytes(out) + bytes([number]) + data[at + 1 :]


def insert_text(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Insert a text that parsers trip over."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(EDGE_TEXTS) + data[at + chance.randrange(4) :]


MUTATIONS = (
    flip_bits,
    set_bytes,
    cut_end,
    remove_part,
    repeat_part,
    splice,
    set_number,
    set_varint,
    insert_text,
)
