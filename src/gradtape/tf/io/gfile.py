"""tf.io.gfile: file system functions with TensorFlow's names and errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from gradtape.core.argument import check_text
from gradtape.core.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    public,
)
from gradtape.files.access import (
    FILE_SCHEME,
    as_path,
    as_path_text,
    match_paths,
    translate_os_errors,
)


class FileStatistics(NamedTuple):
    """The result of `stat`."""

    length: int
    mtime_nsec: int
    is_directory: bool


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
        return stat(self._name).length

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


@public
def exists(path: Any) -> bool:
    """Whether the path is a file or directory.

    Args:
        path: a path, as a string or a path object.

    Returns:
        A bool.
    """
    return os.path.exists(as_path(path))


@public
def isdir(path: Any) -> bool:
    """Whether the path is a directory.

    Args:
        path: a path, as a string or a path object.

    Returns:
        A bool.
    """
    return os.path.isdir(as_path(path))


@public
def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, or any of a list of patterns.

    Args:
        pattern: a pattern with `*`, `?` and `[…]`, or an iterable of patterns.

    Returns:
        A list of strings.
    """
    is_several = isinstance(pattern, Iterable) and not hasattr(pattern, "numpy")
    is_path = isinstance(pattern, (str, bytes, os.PathLike))
    patterns = pattern if is_several and not is_path else [pattern]
    return [path for one in patterns for path in sorted(match_paths(one))]


@public
def listdir(path: Any) -> list[str]:
    """The sorted names in a directory.

    Args:
        path: a path, as a string or a path object.

    Returns:
        A list of strings.

    Raises:
        NotFoundError: if the directory does not exist.
    """
    if not isdir(path):
        raise NotFoundError(f"Could not find directory {as_path(path)}")
    with translate_os_errors(path):
        return sorted(os.listdir(as_path(path)))


@public
def mkdir(path: Any) -> None:
    """Create a directory, whose parent must exist; an existing directory is left alone.

    Args:
        path: a path, as a string or a path object.

    Returns:
        None.
    """
    with translate_os_errors(path):
        if not isdir(path):
            os.mkdir(as_path(path))


@public
def makedirs(path: Any) -> None:
    """Create a directory and its missing parents.

    Args:
        path: a path, as a string or a path object.

    Returns:
        None.
    """
    with translate_os_errors(path):
        os.makedirs(as_path(path), exist_ok=True)


@public
def remove(path: Any) -> None:
    """Delete a file.

    Args:
        path: a path, as a string or a path object.

    Returns:
        None.
    """
    with translate_os_errors(path):
        os.unlink(as_path(path))


@public
def rmtree(path: Any) -> None:
    """Delete a directory with its contents, or a file.

    Args:
        path: a path, as a string or a path object.

    Returns:
        None.
    """
    with translate_os_errors(path):
        if isdir(path):
            shutil.rmtree(as_path(path))
        else:
            os.unlink(as_path(path))


@public
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Rename or move a file.

    Args:
        src: the path of a file.
        dst: the new path.
        overwrite: whether an existing file may be replaced.

    Returns:
        None.

    Raises:
        AlreadyExistsError: if `dst` exists and `overwrite` is False.
    """
    check_destination(dst, overwrite)
    with translate_os_errors(dst), translate_os_errors(src):
        os.replace(as_path(src), as_path(dst))


@public
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy the contents of a file.

    Args:
        src: the path of a file.
        dst: the new path.
        overwrite: whether an existing file may be replaced.

    Returns:
        None.

    Raises:
        AlreadyExistsError: if `dst` exists and `overwrite` is False.
    """
    check_destination(dst, overwrite)
    with translate_os_errors(dst), translate_os_errors(src):
        shutil.copyfile(as_path(src), as_path(dst))


def check_destination(path: Any, overwrite: bool) -> None:
    """Raise AlreadyExistsError if the path exists and `overwrite` is False.

    Args:
        path: a path, as a string or a path object.
        overwrite: whether an existing file may be replaced.

    Returns:
        None.
    """
    if not overwrite and exists(path):
        raise AlreadyExistsError(f"file already exists: {as_path(path)}. Pass overwrite=True.")


@public
def stat(path: Any) -> FileStatistics:
    """Length and modification time of a file, and whether it is a directory.

    Args:
        path: a path, as a string or a path object.

    Returns:
        An object with `length`, `mtime_nsec` and `is_directory`.
    """
    with translate_os_errors(path):
        status = os.stat(as_path(path))
    is_directory = isdir(path)
    return FileStatistics(0 if is_directory else status.st_size, status.st_mtime_ns, is_directory)


@public
def walk(
    top: Any, topdown: bool = True, onerror: Any = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each directory from `top` down with its sorted subdirectories and files.

    Args:
        top: the directory to start from.
        topdown: whether a directory comes before its subdirectories.
        onerror: function that is called with errors, or None.

    Yields:
        tuples of a directory, its subdirectories and its files.
    """
    scheme = FILE_SCHEME if as_path_text(top).startswith(FILE_SCHEME) else ""
    for folder, folders, files in os.walk(as_path(top), topdown, onerror):
        folders.sort()
        yield scheme + folder, folders, sorted(files)


@public
def join(path: Any, *paths: Any) -> str:
    """Join the parts of a path.

    Args:
        path: a path, as a string or a path object.
        *paths: further parts.

    Returns:
        A string.
    """
    return os.path.join(as_path_text(path), *map(as_path_text, paths))


def get_registered_schemes() -> list[str]:
    """The supported file systems: only the local one.

    Returns:
        A list of strings.
    """
    return ["", "file"]
