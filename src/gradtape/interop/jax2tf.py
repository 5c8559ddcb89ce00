"""What `jax.experimental.jax2tf` is under the drop-in: functions of JAX inside `tf.function`.

A call of such a function is a call on the host in each run of the graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import export

from gradtape.core.argument import describe
from gradtape.core.context import current_trace
from gradtape.core.convert import convert as convert_to_tensor
from gradtape.core.errors import public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH
from gradtape.core.tensor import Tensor
from gradtape.interop.jax import canonical_dtype, from_jax
from gradtape.tf.control_flow.py_function import py_function
from gradtape.tf.gradients import stop_gradient

SYMBOL = re.compile(r"[a-zA-Z_]\w*")


@public
def convert(
    fun_jax: Callable[..., Any],
    *,
    polymorphic_shapes: Any = None,
    polymorphic_constraints: Sequence[str] = (),
    with_gradient: bool = True,
    enable_xla: bool = True,
    native_serialization: Any = None,
    native_serialization_platforms: Sequence[str] | None = None,
    native_serialization_disabled_checks: Sequence[Any] = (),
) -> Callable[..., Any]:
    """Make a function of tensors from one of JAX's arrays.

    Args:
        fun_jax: takes and returns pytrees of arrays of JAX.
        polymorphic_shapes: for each argument a pytree of shapes such as "(batch, 4)", or None.
        polymorphic_constraints: has no effect here.
        with_gradient: whether tapes differentiate the function.
        enable_xla: has no effect here.
        native_serialization: has no effect here.
        native_serialization_platforms: has no effect here.
        native_serialization_disabled_checks: has no effect here.

    Returns:
        A function of tensors, which a `tf.function` may call. It cannot be saved.
    """
    if not callable(fun_jax):
        raise TypeError(f"convert: fun_jax must be callable. Received {describe(fun_jax)}.")

    def call(*args: Any) -> Any:
        leaves, structure = jax.tree_util.tree_flatten(args)
        tensors = [convert_to_tensor(leaf) for leaf in leaves]
        shapes = flatten_polymorphic_shapes(polymorphic_shapes, args)

        def apply(*arrays: Any) -> list[Any]:
            result = fun_jax(*jax.tree_util.tree_unflatten(structure, list(arrays)))
            return list(jax.tree_util.tree_leaves(result))

        specs, results = infer_results(fun_jax, structure, tensors, shapes)
        run = from_jax(jax.jit(apply))
        outs = py_function(run, tensors, specs) if current_trace() else run(*tensors)
        if not with_gradient:
            outs = [stop_gradient(out) for out in outs]
        return jax.tree_util.tree_unflatten(results, list(outs))

    return call


def flatten_polymorphic_shapes(shapes: Any, args: tuple[Any, ...]) -> list[str | None]:
    """The polymorphic shape of each leaf of the arguments."""
    if shapes is None or isinstance(shapes, str):
        return [shapes] * len(jax.tree_util.tree_leaves(args))
    found: list[str | None] = []
    for shape, arg in zip(shapes, args, strict=True):
        count = len(jax.tree_util.tree_leaves(arg))
        leaves = jax.tree_util.tree_leaves(shape, is_leaf=lambda leaf: leaf is None)
        found += leaves if len(leaves) == count else [leaves[0] if leaves else None] * count
    return found


def infer_results(
    function: Callable[..., Any], structure: Any, tensors: list[Tensor], shapes: list[str | None]
) -> tuple[list[Spec], Any]:
    """The specs of the leaves of the result, and its structure."""
    scope = export.SymbolicScope()
    sizes: dict[str, Any] = {}  # the sizes here, by the symbols of JAX
    placeholders = []
    for i, (tensor, given) in enumerate(zip(tensors, shapes, strict=True)):
        text = name_open_sizes(tensor._array.shape, given, f"size{i}_", sizes)
        shape = export.symbolic_shape(text, scope=scope)
        placeholders.append(jax.ShapeDtypeStruct(shape, canonical_dtype(tensor)))
    result = jax.eval_shape(function, *jax.tree_util.tree_unflatten(structure, placeholders))
    leaves, results = jax.tree_util.tree_flatten(result)
    return [
        Spec((tuple(find_size(n, sizes) for n in leaf.shape), leaf.dtype)) for leaf in leaves
    ], results


def name_open_sizes(
    shape: tuple[Any, ...], given: str | None, prefix: str, sizes: dict[str, Any]
) -> str:
    """The shape as JAX writes it: numbers, and symbols for sizes that are not known."""
    names = [part.strip() for part in given.strip("() ").split(",")] if given else []
    parts = []
    for axis, size in enumerate(shape):
        own = names[axis] if axis < len(names) and SYMBOL.fullmatch(names[axis]) else ""
        if type(size) is int:
            parts.append(str(size))
            continue
        name = own or f"{prefix}{axis}"
        sizes.setdefault(name, size)
        parts.append(name)
    return ", ".join(parts)


def find_size(size: Any, sizes: dict[str, Any]) -> Any:
    """A size of a result: a number, a size of an argument, or a new unknown one."""
    return int(size) if export.is_symbolic_dim(size) is False else sizes.get(str(size), FRESH)
