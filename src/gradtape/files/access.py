"""Open, read and replace files, with TensorFlow's errors in place of Python's."""

from __future__ import annotations

import errno
import glob
import io
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from gradtape.core import errors
from gradtape.core.interruption import is_from_signal_handler
from gradtape.files.limit import expansion_limit

CHUNK_SIZE = 1 << 18
FILE_SCHEME = "file://"
DECOMPRESSION_STEP = 1 << 20
ZLIB_WBITS = {"ZLIB": 15, "GZIP": 31}  # `wbits` of zlib for each stream format
ERROR_BY_ERRNO: dict[int | None, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.ENOMEM: errors.ResourceExhaustedError,
}


def as_path(path: Any) -> str:
    """Convert a path (str, bytes, PathLike or string tensor) to a str; `file://` is removed."""
    return as_path_text(path).removeprefix(FILE_SCHEME)


def as_path_text(path: Any) -> str:
    """As `as_path`, with `file://` if it is there."""
    if hasattr(type(path), "__tf_tensor__"):  # such as an Asset
        path = path.__tf_tensor__()
    if hasattr(path, "numpy"):
        path = path.numpy()
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"A path must be a string. Received {path!r:.60}.") from None


def match_paths(pattern: Any) -> list[str]:
    """The paths that match a pattern; they begin with `file://` if the pattern does."""
    scheme = FILE_SCHEME if as_path_text(pattern).startswith(FILE_SCHEME) else ""
    return [scheme + path for path in glob.glob(as_path(pattern), include_hidden=True)]


def show_path(path: Any) -> str:
    """A path as text that can be printed, even if it is not UTF-8."""
    return os.fsencode(as_path(path)).decode("utf-8", "backslashreplace")


@contextmanager
def translate_os_errors(path: Any) -> Iterator[None]:
    """Raise TensorFlow's errors in place of OSErrors about `path`."""
    try:
        yield
    except ValueError as error:
        if "\0" not in as_path(path):
            raise
        raise errors.NotFoundError(
            f"{as_path(path)!r}; a path cannot contain a null byte"
        ) from error
    except OSError as error:
        if is_from_signal_handler(error):
            raise
        kind = ERROR_BY_ERRNO.get(error.errno, errors.UnknownError)
        raise kind(f"{show_path(path)}; {error.strerror or error}") from error


def check_compression(compression: str | None) -> str:
    """Return "", "ZLIB" or "GZIP"; raise for any other compression."""
    name = compression or ""
    if name and name not in ZLIB_WBITS:
        raise errors.InvalidArgumentError(
            f'Unsupported compression_type: {name}. Use "", "ZLIB" or "GZIP".'
        )
    return name


def open_file(path: Any, compression: str | None = "", buffer_size: int | None = None) -> IO[bytes]:
    """Open a file for reading, and decompress it while it is read."""
    name = check_compression(compression)
    size = max(buffer_size or CHUNK_SIZE, io.DEFAULT_BUFFER_SIZE)
    with translate_os_errors(path):
        file = open(as_path(path), "rb", buffering=size)  # noqa: SIM115 - handed to the caller
    return io.BufferedReader(DecompressingReader(file, path, name), size) if name else file


class DecompressingReader(io.RawIOBase):
    """Decompresses a file; concatenated streams are read as one, unless `joins` is False."""

    def __init__(self, file: IO[bytes], path: Any, compression: str, joins: bool = True) -> None:
        """Read from `file`; closing this closes `file`."""
        self._joins = joins
        self._file = file
        self._path = path
        self._compression = compression
        self._stream = zlib.decompressobj(ZLIB_WBITS[compression])
        self._in_stream = False  # whether the current stream has started

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into `buffer` and return the number of bytes; 0 at the end."""
        while True:
            data = self._stream.unconsumed_tail or self._stream.unused_data
            if self._stream.eof and not self._joins:
                return 0
            if self._stream.eof:
                self._stream, self._in_stream = (
                    zlib.decompressobj(ZLIB_WBITS[self._compression]),
                    False,
                )
            data = data or self._file.read(CHUNK_SIZE)
            if not data and self._in_stream:
                raise self._corruption_error("it ends in the middle")
            if not data:
                return 0
            self._in_stream = True
            try:
                out = self._stream.decompress(data, len(buffer))
            except zlib.error as error:
                raise self._corruption_error(str(error)) from None
            if out:
                buffer[: len(out)] = out
                return len(out)

    def _corruption_error(self, why: str) -> errors.DataLossError:
        return errors.DataLossError(
            f"{show_path(self._path)}: the {self._compression} stream is corrupt before byte "
            f"{self._file.tell()}: {why}."
        )

    def close(self) -> None:
        """Close this and the file."""
        self._file.close()
        super().close()


def decompress(data: bytes, compression: str, op: str) -> bytes:
    """Decompress a string: all members of a GZIP string, the first stream of a ZLIB string.

    Raises:
        DataLossError: if the string is corrupt or truncated.
        ResourceExhaustedError: if it becomes too large.
    """
    limit, total, parts = expansion_limit(len(data)), 0, []
    reader = DecompressingReader(io.BytesIO(data), op, compression, compression == "GZIP")
    while part := reader.read(DECOMPRESSION_STEP):
        total += len(part)
        if total > limit:
            raise expansion_error(op, limit)
        parts.append(part)
    return b"".join(parts)


def expansion_error(name: str, limit: int) -> errors.ResourceExhaustedError:
    """The error for compressed data that becomes larger than `limit` bytes."""
    return errors.ResourceExhaustedError(
        f"{name}: compressed data must become at most {limit} bytes. Received data that becomes "
        "more, as a decompression bomb does. Decompress it elsewhere if you trust it."
    )


def read_limit(path: Any, compression: str | None) -> int | None:
    """The largest piece of a compressed file that may be in memory; None if not compressed."""
    if not check_compression(compression):
        return None
    with translate_os_errors(path):
        return expansion_limit(os.path.getsize(as_path(path)))


@contextmanager
def open_replacement(path: Any) -> Iterator[IO[bytes]]:
    """Open a temporary file that atomically replaces `path` at the end of the block.

    The file is synced to disk before it is renamed, so that neither a kill nor a power failure
    leaves a partial file.
    """
    target = as_path(path)
    folder = os.path.dirname(target) or "."
    with translate_os_errors(path):
        number, temporary = tempfile.mkstemp(
            prefix=os.path.basename(target) + ".tempstate", dir=folder
        )
        try:
            with os.fdopen(number, "wb", buffering=CHUNK_SIZE) as file:
                yield file
                file.flush()
                os.fsync(number)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        sync_folder(folder)


def sync_folder(folder: str) -> None:
    """Sync the entries of a directory to disk, where the system supports it."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _umask() -> int:
    """The mode bits that new files lack."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
