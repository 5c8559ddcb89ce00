"""tf.io.gfile.GFile: a file that is opened when it is first used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, Any

from gradtape.core.argument import check_text
from gradtape.core.errors import (
    InvalidArgumentError,
    PermissionDeniedError,
    public,
)
from gradtape.files.access import as_path, translate_os_errors


class GFile:
    """A file, opened when it is first read or written.

    Args:
        name: the path.
        mode: "r", "w", "a", "r+", "w+" or "a+", with "b" for bytes instead of text.

    Raises:
        InvalidArgumentError: if `mode` is none of these.
    """

    @public
    def __init__(self, name: Any, mode: str = "r") -> None:
        check_text(mode, "mode")
        plain = mode.replace("b", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError(
                f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'. Received {mode!r}."
            )
        self._name = name
        self._mode = mode
        self._file: IO[bytes] | None = None
        self._binary_mode = plain + "b"
        self._can_read = "r" in plain or "+" in plain
        self._can_write = plain != "r"

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode given to the constructor."""
        return self._mode

    def _open(self, writing: bool = False) -> IO[bytes]:
        if writing and not self._can_write:
            raise PermissionDeniedError("File isn't open for writing")
        if not writing and not self._can_read:
            raise PermissionDeniedError("File isn't open for reading")
        if self._file is None:
            with translate_os_errors(self._name):
                self._file = open(as_path(self._name), self._binary_mode)  # noqa: SIM115 - closed by `close`
        return self._file

    def _decode(self, data: bytes) -> Any:
        return data if "b" in self._mode else data.decode()

    @public
    def size(self) -> int:
        """The length in bytes."""
        with translate_os_errors(self._name):
            return os.stat(as_path(self._name)).st_size

    @public
    def read(self, n: int = -1) -> Any:
        """Read up to `n` bytes, by default all; text unless the mode has a "b".

        Args:
            n: the greatest number of bytes; -1 for all.

        Returns:
            A string, or bytes if the mode has a "b".
        """
        if n < -1:
            raise InvalidArgumentError(f"read: Can't read a negative number of bytes: {n}.")
        file = self._open()
        with translate_os_errors(self._name):
            data = file.read(n)
        return self._decode(data)

    @public
    def readline(self) -> Any:
        """Read the next line with its line end; empty at the end of the file."""
        return self._decode(self._open().readline())

    @public
    def readlines(self) -> list[Any]:
        """Read all remaining lines."""
        return [self._decode(line) for line in self._open().readlines()]

    @public
    def write(self, file_content: Any) -> None:
        """Append text or bytes.

        Args:
            file_content: a string, or bytes.
        """
        if not isinstance(file_content, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        data = file_content.encode() if isinstance(file_content, str) else file_content
        file = self._open(writing=True)
        with translate_os_errors(self._name):
            file.write(data)

    @public
    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Move to an offset from the start (`whence` 0), the position (1) or the end (2).

        Args:
            offset: the number of bytes to move by.
            whence: 0, 1 or 2.
            position: an older name of `offset`.
        """
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}")
        with translate_os_errors(self._name):
            self._open().seek(position if offset is None else offset, whence)  # type: ignore[arg-type]

    def seekable(self) -> bool:
        """True: all files are seekable."""
        return True

    @public
    def tell(self) -> int:
        """The current position in bytes."""
        return self._open(writing=not self._can_read).tell()

    @public
    def flush(self) -> None:
        """Flush buffered data to the operating system."""
        if self._file is not None and self._can_write:
            with translate_os_errors(self._name):
                self._file.flush()

    @public
    def close(self) -> None:
        """Close the file; a file opened for writing exists afterwards, even if it is empty."""
        if self._file is None and self._can_write:
            self._open(writing=True)
        if self._file is not None:
            with translate_os_errors(self._name):
                self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self) -> Any:
        """Read the next line with its line end; StopIteration after the last."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line
