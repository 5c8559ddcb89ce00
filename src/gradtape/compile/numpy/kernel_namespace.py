"""Clones of kernels for recording: in their namespace `np.ndarray` is the class of stand-ins."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

import numpy as np

from gradtape.compile.numpy.abstract_array import AbstractArray
from gradtape.core.primitive import Primitive


class RecordingNumpy:
    """NumPy as a kernel sees it while it is recorded."""

    ndarray = AbstractArray

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of NumPy."""
        return getattr(np, name)


RECORDING_NAMESPACES: dict[str, dict[str, Any]] = {}


def recording_namespace(module: str) -> dict[str, Any]:
    """A copy of a module's namespace, with cloned functions, in which `np` is `RecordingNumpy`."""
    space = RECORDING_NAMESPACES.get(module)
    if space is None:
        space = RECORDING_NAMESPACES[module] = {}
        for name, value in list(vars(sys.modules[module]).items()):
            space[name] = clone_for_recording(value)
        space["np"] = RecordingNumpy()
    return space


def clone_for_recording(value: Any) -> Any:
    """A clone of a function of `ops` in the copied namespace; for a primitive, of its kernel."""
    op = getattr(value, "op", None)
    kernel = op.kernel if isinstance(op, Primitive) else value
    if type(kernel) is not FunctionType or hasattr(kernel, "__wrapped__"):
        return value
    module = kernel.__globals__["__name__"]
    if not module.startswith("gradtape.ops."):
        return value
    clone = FunctionType(
        kernel.__code__,
        recording_namespace(module),
        kernel.__name__,
        kernel.__defaults__,
        kernel.__closure__,
    )
    clone.__kwdefaults__ = kernel.__kwdefaults__
    return clone
