"""Clones of kernels for JAX: in copies of their modules' namespaces, where `np` is `jax.numpy`."""

from __future__ import annotations

import functools
import importlib
import sys
from types import CellType, FunctionType
from typing import Any

from gradtape.core.primitive import LOWERED_MODULES, Primitive

JAX_NAMESPACES: dict[str, dict[str, Any]] = {}
JAX_CLONES: dict[Any, Any] = {}


def jax_namespace(module: str) -> dict[str, Any]:
    """A copy of a module's namespace, with cloned functions and JAX in place of NumPy and SciPy."""
    space = JAX_NAMESPACES.get(module)
    if space is None:
        space = JAX_NAMESPACES[module] = {}
        for name, value in list(vars(sys.modules[module]).items()):
            space[name] = clone_for_jax(value)
        for name, stands_for in LOWERED_MODULES.items():
            space[name] = importlib.import_module(stands_for)
    return space


def clone_for_jax(value: Any) -> Any:
    """A clone of a function of `ops` for JAX; for a primitive, of its lowering or kernel."""
    op = getattr(value, "op", None)
    if isinstance(op, Primitive):
        return jax_kernel_of(op)
    lowering = getattr(value, "lowering", None)
    if type(value) is FunctionType and lowering is not None:
        return clone_for_jax(lowering)
    if type(value) is functools.partial:
        return functools.partial(clone_for_jax(value.func), *value.args, **value.keywords)
    if type(value) is not FunctionType or hasattr(value, "__wrapped__"):
        return value  # cached functions take no arrays, only shapes and other Python values
    module = value.__globals__["__name__"]
    if not module.startswith("gradtape.ops."):
        return value
    if value in JAX_CLONES:
        return JAX_CLONES[value]
    clone = FunctionType(
        value.__code__,
        jax_namespace(module),
        value.__name__,
        value.__defaults__,
        clone_closure(value),
    )
    clone.__kwdefaults__ = value.__kwdefaults__
    if "<locals>" not in value.__qualname__:
        JAX_CLONES[value] = clone
    return clone


def clone_closure(function: Any) -> Any:
    """The closure cells of a function, with cloned functions in them."""
    cells = function.__closure__
    if not cells or not any(callable(cell.cell_contents) for cell in cells):
        return cells
    return tuple([CellType(clone_for_jax(cell.cell_contents)) for cell in cells])


def jax_kernel_of(op: Primitive) -> Any:
    """The function that computes a primitive on JAX."""
    return clone_for_jax(op.lowering or op.kernel)


def has_jax() -> bool:
    """Whether jax is installed."""
    from importlib.util import find_spec

    if not HAS_JAX:
        HAS_JAX.append(find_spec("jax") is not None)
    return HAS_JAX[0]


HAS_JAX: list[bool] = []
