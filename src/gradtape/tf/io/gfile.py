"""tf.io.gfile: the file system, with TensorFlow's names and errors."""

from __future__ import annotations

import glob as python_glob
import os
import shutil
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from gradtape.core.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    public,
)
from gradtape.files.access import as_path, explained


class FileStatistics(NamedTuple):
    """What `stat` returns."""

    length: int
    mtime_nsec: int
    is_directory: bool


class GFile:
    """A file, opened when it is first read or written.

    Args:
        name: the path.
        mode: "r", "w", "a", "r+", "w+" or "a+", with "b" for bytes instead of text.

    Raises:
        InvalidArgumentError: if `mode` is another.
    """

    @public
    def __init__(self, name: Any, mode: str = "r") -> None:
        plain = mode.replace("b", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError(
                f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'. Received {mode!r}."
            )
        self._name = name
        self._mode = mode
        self._file: IO[bytes] | None = None
        self._kind = plain + "b"
        self._reads = "r" in plain or "+" in plain
        self._writes = plain != "r"

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """How it was opened."""
        return self._mode

    def _opened(self, writing: bool = False) -> IO[bytes]:
        if writing and not self._writes:
            raise PermissionDeniedError("File isn't open for writing")
        if not writing and not self._reads:
            raise PermissionDeniedError("File isn't open for reading")
        if self._file is None:
            with explained(self._name):
                self._file = open(as_path(self._name), self._kind)  # noqa: SIM115 - closed by `close`
        return self._file

    def _shown(self, data: bytes) -> Any:
        return data if "b" in self._mode else data.decode()

    @public
    def size(self) -> int:
        """The length in bytes."""
        return stat(self._name).length

    @public
    def read(self, n: int = -1) -> Any:
        """Up to `n` bytes, as text unless the mode has a "b"; all that is left by default."""
        return self._shown(self._opened().read(n))

    @public
    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        return self._shown(self._opened().readline())

    @public
    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return [self._shown(line) for line in self._opened().readlines()]

    @public
    def write(self, file_content: Any) -> None:
        """Append text or bytes."""
        if not isinstance(file_content, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        data = file_content.encode() if isinstance(file_content, str) else file_content
        file = self._opened(writing=True)
        with explained(self._name):
            file.write(data)

    @public
    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place; `whence` is 0 for the start, 1 for here, 2 for the end."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}")
        with explained(self._name):
            self._opened().seek(position if offset is None else offset, whence)  # type: ignore[arg-type]

    def seekable(self) -> bool:
        """Yes."""
        return True

    @public
    def tell(self) -> int:
        """The place of the next byte."""
        return self._opened(writing=not self._reads).tell()

    @public
    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._file is not None and self._writes:
            with explained(self._name):
                self._file.flush()

    @public
    def close(self) -> None:
        """Close the file; a file in mode "w" is there afterwards, even if nothing was written."""
        if self._file is None and self._writes:
            self._opened(writing=True)
        if self._file is not None:
            with explained(self._name):
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
        """The next line with its end; StopIteration after the last."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line


@public
def exists(path: Any) -> bool:
    """Whether there is a file or directory of this name."""
    return os.path.exists(as_path(path))


@public
def isdir(path: Any) -> bool:
    """Whether there is a directory of this name."""
    return os.path.isdir(as_path(path))


@public
def glob(pattern: Any) -> list[str]:
    """The files that match a pattern, or any of a list of them."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    found = (python_glob.glob(as_path(one), include_hidden=True) for one in patterns)
    return [path for paths in found for path in sorted(paths)]


@public
def listdir(path: Any) -> list[str]:
    """The names in a directory.

    Raises:
        NotFoundError: if there is no such directory.
    """
    if not isdir(path):
        raise NotFoundError(f"Could not find directory {as_path(path)}")
    with explained(path):
        return sorted(os.listdir(as_path(path)))


@public
def mkdir(path: Any) -> None:
    """Make a directory, whose parent is there; it may be there already."""
    with explained(path):
        if not isdir(path):
            os.mkdir(as_path(path))


@public
def makedirs(path: Any) -> None:
    """Make a directory and those above it, as far as they are not there."""
    with explained(path):
        os.makedirs(as_path(path), exist_ok=True)


@public
def remove(path: Any) -> None:
    """Delete a file."""
    with explained(path):
        os.unlink(as_path(path))


@public
def rmtree(path: Any) -> None:
    """Delete a directory with all that is in it, or a file."""
    with explained(path):
        if isdir(path):
            shutil.rmtree(as_path(path))
        else:
            os.unlink(as_path(path))


@public
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file another name.

    Raises:
        AlreadyExistsError: if there is one of that name, unless `overwrite`.
    """
    require_free(dst, overwrite)
    with explained(src):
        os.replace(as_path(src), as_path(dst))


@public
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy the contents of a file.

    Raises:
        AlreadyExistsError: if there is one of that name, unless `overwrite`.
    """
    require_free(dst, overwrite)
    with explained(src):
        shutil.copyfile(as_path(src), as_path(dst))


def require_free(path: Any, overwrite: bool) -> None:
    """Complain about a file in the way."""
    if not overwrite and exists(path):
        raise AlreadyExistsError(f"file already exists: {as_path(path)}. Say overwrite=True.")


@public
def stat(path: Any) -> FileStatistics:
    """Length, time of change and kind of a file."""
    with explained(path):
        found = os.stat(as_path(path))
    is_directory = isdir(path)
    return FileStatistics(0 if is_directory else found.st_size, found.st_mtime_ns, is_directory)


@public
def walk(
    top: Any, topdown: bool = True, onerror: Any = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each directory below `top` with the names of directories and files in it."""
    for folder, folders, files in os.walk(as_path(top), topdown, onerror):
        folders.sort()
        yield folder, folders, sorted(files)


@public
def join(path: Any, *paths: Any) -> str:
    """A path of parts."""
    return os.path.join(as_path(path), *map(as_path, paths))


def get_registered_schemes() -> list[str]:
    """The kinds of path there are: those of the operating system."""
    return ["", "file"]
