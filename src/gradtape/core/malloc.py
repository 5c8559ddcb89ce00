"""Allocator settings: glibc keeps freed blocks instead of returning them after every op.

Otherwise every large temporary is mapped, zeroed page by page and unmapped again, which doubles
the time of elementwise ops on large arrays. `GRADTAPE_MALLOC=0` in the environment disables this.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_BLOCK = 1 << 25  # the largest mmap threshold that glibc accepts
KEPT_BYTES = 1 << 28


def is_glibc_configured() -> bool:
    """Whether the allocator may be glibc's and the environment allows to configure it."""
    return sys.platform.startswith("linux") and os.environ.get("GRADTAPE_MALLOC") != "0"


def keep_freed_blocks() -> None:
    """Configure the allocator, if it is glibc's."""
    if not is_glibc_configured():
        return
    with contextlib.suppress(OSError, AttributeError):  # another libc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)


def release_freed_blocks() -> None:
    """Return freed memory to the system, before a large block is allocated that stays."""
    if is_glibc_configured():
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
