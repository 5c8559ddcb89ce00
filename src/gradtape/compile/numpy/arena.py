"""The arena of a plan: one array for all large buffers, whose parts overlap where they may.

A buffer lives from the call that writes it to the call that reads it last. Buffers that never live
at the same time may share memory. The largest buffer gets its place first, and each one the lowest
free place: this comes close to the lower bound, the most bytes that are alive at one time.
"""

from __future__ import annotations

from mmap import mmap
from typing import Any

import numpy as np

from gradtape.core.malloc import release_freed_blocks

MIN_ARENA_BYTES = 1 << 14  # smaller buffers are arrays of their own, reused by size
MIN_RELEASE_BYTES = 1 << 22  # before so large an arena is made, freed memory is returned
ALIGNMENT = 64  # bytes; the length of a cache line
NEVER = 1 << 62


class Lifetime:
    """A buffer that has no memory in the arena yet.

    Attributes:
        block: a stand-in array of the buffer's size, of which views are made; nothing writes to it.
        begin: index of the call that writes the buffer first.
        end: index of the call that reads it last.
        offset: its place in the arena.
    """

    __slots__ = ("begin", "block", "end", "offset")

    def __init__(self, block: Any, begin: int) -> None:
        """A buffer that lives from call `begin` on."""
        self.block = block
        self.begin = begin
        self.end = NEVER
        self.offset = 0

    @property
    def size(self) -> int:
        """The number of bytes, rounded up."""
        return -(-self.block.nbytes // ALIGNMENT) * ALIGNMENT


class Arena:
    """The large buffers of a plan.

    Attributes:
        lifetimes: the buffers, by id of their stand-in.
        nbytes: size of the arena.
        least: the lower bound of this size, for the order of the calls.
    """

    def __init__(self) -> None:
        """An arena without buffers."""
        self.lifetimes: dict[int, Lifetime] = {}
        self.nbytes = 0
        self.least = 0

    def begin(self, nbytes: int, now: int) -> Any:
        """Begin the life of a buffer at call `now`; returns its stand-in."""
        block = np.ndarray(nbytes, np.uint8, mmap(-1, nbytes))  # the system gives it no memory
        self.lifetimes[id(block)] = Lifetime(block, now)
        return block

    def end(self, block: Any, now: int) -> None:
        """End the life of a buffer after call `now`."""
        self.lifetimes[id(block)].end = now

    def move(self, buffers: dict[int, Any]) -> dict[int, Any]:
        """The same arrays, with those that view a stand-in moved to the arena."""
        self.place()
        if self.nbytes >= MIN_RELEASE_BYTES:
            release_freed_blocks()
        memory = np.empty(self.nbytes + ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % ALIGNMENT
        moved: dict[int, Any] = {}  # by id of the array: arrays that are one stay one
        for array in buffers.values():
            lifetime = self.lifetimes.get(id(find_owner(array)))
            if lifetime is None:
                moved[id(array)] = array
            elif id(array) not in moved:
                inside = array.ctypes.data - lifetime.block.ctypes.data
                offset = start + lifetime.offset + (inside if array.size else 0)
                view = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
                view.flags.writeable = array.flags.writeable
                moved[id(array)] = view
        found = {number: moved[id(array)] for number, array in buffers.items()}
        self.lifetimes.clear()
        return found

    def place(self) -> None:
        """Give each buffer its place, the largest first."""
        placed: list[Lifetime] = []
        for one in sorted(self.lifetimes.values(), key=lambda one: -one.block.nbytes):
            beside = [p for p in placed if p.begin <= one.end and one.begin <= p.end]
            for other in sorted(beside, key=lambda other: other.offset):
                if one.offset + one.size <= other.offset:
                    break
                one.offset = max(one.offset, other.offset + other.size)
            placed.append(one)
        self.nbytes = max((one.offset + one.size for one in placed), default=0)
        self.least = count_live_bytes(placed)


def find_owner(array: Any) -> Any:
    """The array of which another one is a view, at last."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def count_live_bytes(lifetimes: list[Lifetime]) -> int:
    """The most bytes that are alive at one time."""
    changes = [(one.begin, one.size) for one in lifetimes]
    changes += [(one.end + 1, -one.size) for one in lifetimes]
    most = now = 0
    for _, size in sorted(changes):
        now += size
        most = max(most, now)
    return most
