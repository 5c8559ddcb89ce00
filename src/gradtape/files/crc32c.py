"""CRC32C (Castagnoli), the checksum of TensorFlow's files, by google_crc32c or by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

POLYNOMIAL = 0x82F63B78  # bits reversed
MASK_DELTA = 0xA282EAD8
LOOP_LIMIT = 512  # up to this many bytes a plain loop is faster than NumPy


def masked_crc(data: Any) -> int:
    """The masked checksum of `data`, as files store it."""
    return mask_crc(_fastest_extend()(0, data))


def mask_crc(crc: int) -> int:
    """Rotate and shift a checksum, because the CRC of data that contains its CRC is weak."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def crc32c(data: Any, crc: int = 0) -> int:
    """Extend the checksum `crc` of earlier data by `data`."""
    return _fastest_extend()(crc, data)


@cache
def _fastest_extend() -> Callable[[int, Any], int]:
    """The function of google_crc32c if it is installed and compiled, else NumPy's."""
    try:
        import google_crc32c
    except ImportError:
        return extend_with_numpy
    if google_crc32c.implementation != "c":
        return extend_with_numpy

    def extend(crc: int, data: Any) -> int:
        return int(google_crc32c.extend(crc, bytes(data)))

    return extend


def extend_with_numpy(crc: int, data: Any) -> int:
    """`crc32c` with swapped arguments, computed by NumPy.

    Long data is divided into lanes of equal length, whose checksums are computed side by side.
    """
    raw = bytes(data)
    state = crc ^ 0xFFFFFFFF
    rest = len(raw)
    if rest > LOOP_LIMIT:
        length = 1 << (rest.bit_length() // 2)  # of a lane; there are about as many lanes
        lanes = rest // length
        whole = np.frombuffer(raw, np.uint8, lanes * length).reshape(lanes, length)
        state = _join_lanes(state, _lane_states(whole), length)
        raw = raw[lanes * length :]
    table = _byte_table_as_list()
    for byte in raw:
        state = table[(state ^ byte) & 0xFF] ^ state >> 8
    return state ^ 0xFFFFFFFF


def _lane_states(lanes: Any) -> Any:
    """The state after each row, starting from zero, for all rows at once."""
    table = _byte_table()
    states = np.zeros(lanes.shape[0], np.uint32)
    for column in np.ascontiguousarray(lanes.T):
        states = table[(states ^ column) & 0xFF] ^ states >> 8
    return states


def _join_lanes(state: int, lanes: Any, length: int) -> int:
    """The state after all lanes of `length` bytes, starting from `state`.

    CRC is linear: the state after a lane is the lane's state xor the old state after zeros.
    """
    powers = _states_after_zeros(length)
    for lane in lanes.tolist():
        moved = 0
        for power, byte in zip(powers, state.to_bytes(4, "little"), strict=True):
            moved ^= power[byte]
        state = moved ^ lane
    return state


@cache
def _byte_table() -> Any:
    """The state after each possible byte, starting from zero."""
    states = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        states = np.where(states & 1, states >> 1 ^ POLYNOMIAL, states >> 1).astype(np.uint32)
    return states


@cache
def _byte_table_as_list() -> list[int]:
    return _byte_table().tolist()


@cache
def _states_after_zeros(length: int) -> list[list[int]]:
    """The state after `length` zeros, for each byte position of a state and each byte value."""
    table = _byte_table()
    states = (
        np.arange(256, dtype=np.uint32) << np.arange(0, 32, 8, dtype=np.uint32)[:, None]
    ).ravel()
    for _ in range(length):
        states = table[states & 0xFF] ^ states >> 8
    return states.reshape(4, 256).tolist()
