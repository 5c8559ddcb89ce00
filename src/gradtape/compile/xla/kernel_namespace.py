"""Clones of kernels for JAX: in copies of their modules' namespaces, where `np` is `jax.numpy`."""

from __future__ import annotations

import functools
import importlib
import sys
from types import CellType, FunctionType
from typing import Any

from gradtape.core.primitive import LOWERED, Primitive

SPACES: dict[str, dict[str, Any]] = {}
CLONES: dict[Any, Any] = {}


def space_of(module: str) -> dict[str, Any]:
    """A copy of a module's namespace, with cloned functions and JAX in place of NumPy and SciPy."""
    space = SPACES.get(module)
    if space is None:
        space = SPACES[module] = {}
        for name, value in list(vars(sys.modules[module]).items()):
            space[name] = cloned(value)
        for name, stands_for in LOWERED.items():
            space[name] = importlib.import_module(stands_for)
    return space


def cloned(value: Any) -> Any:
    """A clone of a function of `ops` for JAX; for a primitive, of its lowering or kernel."""
    op = getattr(value, "op", None)
    if isinstance(op, Primitive):
        return kernel_of(op)
    lowering = getattr(value, "lowering", None)
    if type(value) is FunctionType and lowering is not None:
        return cloned(lowering)
    if type(value) is functools.partial:
        return functools.partial(cloned(value.func), *value.args, **value.keywords)
    if type(value) is not FunctionType or hasattr(value, "__wrapped__"):
        return value  # cached functions take no arrays, only shapes and other Python values
    module = value.__globals__["__name__"]
    if not module.startswith("gradtape.ops."):
        return value
    if value in CLONES:
        return CLONES[value]
    clone = FunctionType(
        value.__code__, space_of(module), value.__name__, value.__defaults__, closure_of(value)
    )
    clone.__kwdefaults__ = value.__kwdefaults__
    if "<locals>" not in value.__qualname__:
        CLONES[value] = clone
    return clone


def closure_of(function: Any) -> Any:
    """The closure cells of a function, with cloned functions in them."""
    cells = function.__closure__
    if not cells or not any(callable(cell.cell_contents) for cell in cells):
        return cells
    return tuple([CellType(cloned(cell.cell_contents)) for cell in cells])


def kernel_of(op: Primitive) -> Any:
    """The function that computes a primitive on JAX."""
    return cloned(op.lowering or op.kernel)


def is_there() -> bool:
    """Whether jax is installed."""
    from importlib.util import find_spec

    if not FOUND:
        FOUND.append(find_spec("jax") is not None)
    return FOUND[0]


FOUND: list[bool] = []
