"""Limits on what a file may make its reader allocate, and errors of the libraries that decode it.

A few bytes can declare an array of terabytes, or decompress to gigabytes. A reader therefore
compares the size of a result with the size of its input before it allocates the result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, OpError, ResourceExhaustedError

ALWAYS_ALLOWED = 1 << 28  # bytes that an input of any size may become
MAX_EXPANSION = 100  # above that, bytes of a result for each byte of input
MAX_RANK = 64  # axes of a NumPy array
MAX_ARRAY_BYTES = 1 << 62

# An exception of a decoder is raised in one of these modules. A signal handler of the user may
# raise in the middle of a decoder, too; that exception is not translated.
DECODER_MODULES = frozenset({*sys.stdlib_module_names, "gradtape", "google", "numpy", "PIL"})


def expansion_limit(size: int) -> int:
    """The number of bytes that an input of `size` bytes may become."""
    return max(ALWAYS_ALLOWED, MAX_EXPANSION * size)


def check_expansion(
    wanted: int, size: int, op: str, kind: type[OpError] = InvalidArgumentError
) -> None:
    """Raise `kind` if `size` bytes of input may not become `wanted` bytes."""
    limit = expansion_limit(size)
    if wanted > limit:
        raise kind(
            f"{op}: {size} bytes may become at most {limit} bytes. Received data that becomes "
            f"{wanted} bytes or more, as a decompression bomb does. Decode it elsewhere if you "
            "trust it."
        )


def count_elements(shape: Iterable[int], item_size: int) -> int | None:
    """The number of elements of a shape; None if NumPy has no array of it."""
    count, bound = 1, max(item_size, 1)
    for axis, size in enumerate(shape):
        if size < 0 or axis >= MAX_RANK:
            return None
        count *= size
        bound *= max(size, 1)
        if bound > MAX_ARRAY_BYTES:
            return None
    return count


def array_from_bytes(data: bytes, dtype: Any) -> Any:
    """A writable array of the bytes; a bool other than 0 counts as 1."""
    if dtype == np.bool_:
        return np.frombuffer(data, np.uint8) != 0
    return np.frombuffer(bytearray(data), dtype)


@contextmanager
def translate_decoder_errors(
    what: str, kind: type[OpError] = InvalidArgumentError
) -> Iterator[None]:
    """Raise `kind` in place of any exception that a decoder raises for malformed data.

    Pillow, protobuf and json raise many classes for it, and do not document all of them.
    """
    try:
        yield
    except (OpError, ImportError):
        raise
    except MemoryError:
        raise ResourceExhaustedError(f"{what}: not enough memory.") from None
    except Exception as error:
        if not is_decoder_error(error):
            raise
        raise kind(f"{what}: {type(error).__name__}: {error}") from None


def is_decoder_error(error: Exception) -> bool:
    """Whether an exception comes from a decoder, rather than from a signal handler of the user."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    module = traceback.tb_frame.f_globals.get("__name__", "") if traceback is not None else ""
    return module.partition(".")[0] in DECODER_MODULES
