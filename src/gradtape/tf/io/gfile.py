"""tf.io.gfile: file system functions with TensorFlow's names and errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gradtape.core.errors import (
    AlreadyExistsError,
    NotFoundError,
    public,
)
from gradtape.files.access import (
    FILE_SCHEME,
    as_path,
    as_path_text,
    match_paths,
    translate_os_errors,
)
from gradtape.tf.io.file_handle import GFile as GFile


class FileStatistics(NamedTuple):
    """The result of `stat`."""

    length: int
    mtime_nsec: int
    is_directory: bool


@public
def exists(path: Any) -> bool:
    """Whether the path is a file or directory.

    Args:
        path: a path, as a string or a path object.

    Returns:
        A bool.

    Example:
        >>> tf.io.gfile.exists("/no/such/file")
        False
    """
    return os.path.exists(as_path(path))


@public
def isdir(path: Any) -> bool:
    """Whether the path is a directory.

    Args:
        path: a path, as a string or a path object.

    Returns:
        A bool.

    Example:
        >>> tf.io.gfile.isdir("/no/such/folder")
        False
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

    Example:
        >>> tf.io.gfile.join("logs", "run1")
        'logs/run1'
    """
    return os.path.join(as_path_text(path), *map(as_path_text, paths))


def get_registered_schemes() -> list[str]:
    """The supported file systems: only the local one.

    Returns:
        A list of strings.
    """
    return ["", "file"]
