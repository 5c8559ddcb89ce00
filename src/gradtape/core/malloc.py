"""Large temporaries: ask glibc to keep freed blocks instead of giving them back after every op.

Without this every large temporary is mapped, zeroed page by page and unmapped again, which
doubles the time of elementwise work on large arrays. `GRADTAPE_MALLOC=0` in the environment
leaves the allocator alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_BLOCK = 1 << 25  # glibc takes no larger threshold for mmap
KEPT = 1 << 28


def keep_freed_blocks() -> None:
    """Set the allocator up, where it is glibc's."""
    if not sys.platform.startswith("linux") or os.environ.get("GRADTAPE_MALLOC") == "0":
        return
    with contextlib.suppress(OSError, AttributeError):  # another libc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK)
        mallopt(M_TRIM_THRESHOLD, KEPT)
