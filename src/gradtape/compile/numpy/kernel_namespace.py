"""Clones of kernels for recording: in their namespace `np.ndarray` is the class of stand-ins."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

import numpy as np

from gradtape.compile.numpy.abstract_array import StandIn
from gradtape.core.primitive import Primitive


class Numpy:
    """NumPy as a kernel sees it while it is recorded."""

    ndarray = StandIn

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of NumPy."""
        return getattr(np, name)


SPACES: dict[str, dict[str, Any]] = {}


def space_of(module: str) -> dict[str, Any]:
    """A copy of a module's namespace, with cloned functions, in which `np` is `Numpy`."""
    space = SPACES.get(module)
    if space is None:
        space = SPACES[module] = {}
        for name, value in list(vars(sys.modules[module]).items()):
            space[name] = cloned(value)
        space["np"] = Numpy()
    return space


def cloned(value: Any) -> Any:
    """A clone of a function of `ops` in the copied namespace; for a primitive, of its kernel."""
    op = getattr(value, "op", None)
    kernel = op.kernel if isinstance(op, Primitive) else value
    if type(kernel) is not FunctionType or hasattr(kernel, "__wrapped__"):
        return value
    module = kernel.__globals__["__name__"]
    if not module.startswith("gradtape.ops."):
        return value
    clone = FunctionType(
        kernel.__code__, space_of(module), kernel.__name__, kernel.__defaults__, kernel.__closure__
    )
    clone.__kwdefaults__ = kernel.__kwdefaults__
    return clone
