"""Where in the user's program an op was called: code and instruction of the innermost frame."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import Any

import numpy as np

from gradtape.core.context import local

Location = tuple["CodeType | None", int]

LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
INSTALLED = tuple(  # the folders of Python and of packages
    {os.path.dirname(os.__file__) + os.sep, os.path.dirname(os.path.dirname(np.__file__)) + os.sep}
)


class UserFiles(dict[str, bool]):
    """Whether a file belongs to the user's program: not to gradtape, Python or a package."""

    def __missing__(self, filename: str) -> bool:
        """Decide it by the folder, once."""
        is_library = (
            filename.startswith((LIBRARY, "<gradtape", "<frozen", "<__array_function__"))
            or filename.startswith(INSTALLED)
            or f"{os.sep}site-packages{os.sep}" in filename
            or f"{os.sep}dist-packages{os.sep}" in filename
        )
        self[filename] = not is_library
        if not is_library:
            KNOWN_USER_FILES.add(filename)
        return not is_library


USER_FILES = UserFiles()
KNOWN_USER_FILES: set[str] = set()  # faster for the fast path


class BackwardLocation(tuple[Any, Any]):
    """The location of a forward op, for the ops of its backward step.

    Attributes:
        op: the name of the forward op.
    """

    op: str


def make_backward_location(location: Location, op: str) -> BackwardLocation:
    """The location of the backward step of `op`."""
    found = BackwardLocation(location)
    found.op = op
    return found


def user_location(depth: int = 2) -> Location:
    """Code and instruction of the innermost frame of the user's program.

    While a graph is replayed or differentiated, that of the op it stands for.
    """
    if local.origin is not None:
        origin: Location = local.origin
        return origin
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        if USER_FILES[code.co_filename]:
            return code, frame.f_lasti
        frame = frame.f_back
    return None, -1


def user_code_of(grad: Any) -> Any:
    """The code of the user's gradient function in the closure of `grad`, or None."""
    names = getattr(getattr(grad, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(grad, "__closure__", None) or (), strict=False):
        if name == "grad_fn":
            code = getattr(cell.cell_contents, "__code__", None)
            return code if code is not None and USER_FILES[code.co_filename] else None
    return None
