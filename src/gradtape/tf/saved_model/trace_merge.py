"""Merges the trees of several traces of a function, on arguments of different sizes, into one.

A trace knows all its shapes. Where the traces differ, the difference must follow from sizes: a
number is a polynomial in the sizes of earlier values, an array is filled with such a number, counts
upwards or is a triangle. Any other difference is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import as_dtype
from gradtape.tf.saved_model.size_fit import NotGeneral, SizeScope, same_padding

MAX_SMALL_ARRAY = 64  # elements of an array that are merged one by one


def merge_trees(trees: list[Any], scope: SizeScope) -> Any:
    """One tree for several that differ by sizes.

    Raises:
        NotGeneral: if they differ otherwise.
    """
    first = trees[0]
    if any(type(tree) is not type(first) for tree in trees):
        raise NotGeneral(f"{first!r} or {trees[1]!r}")
    if isinstance(first, dict):
        return merge_dicts(trees, scope)
    if isinstance(first, list):
        if any(len(tree) != len(first) for tree in trees):
            raise NotGeneral(f"{first!r:.60} or {trees[1]!r:.60}")
        return [merge_trees(list(items), scope) for items in zip(*trees, strict=True)]
    if isinstance(first, (np.ndarray, np.generic)):
        return merge_arrays(trees, scope)
    if all(is_same_leaf(tree, first) for tree in trees):
        return first
    if type(first) is int:
        return scope.fit_integer(tuple(trees))
    if type(first) is float:
        return scope.fit_float(tuple(trees))
    raise NotGeneral(f"{first!r} or {trees[1]!r}")


def merge_dicts(trees: list[Any], scope: SizeScope) -> Any:
    """One dict for several."""
    first = trees[0]
    if any(tree.keys() != first.keys() for tree in trees):
        raise NotGeneral(f"{first!r:.60} or {trees[1]!r:.60}")
    if first.get("$record", [""])[0] == "Window":
        return merge_windows(trees, scope)
    return {key: merge_trees([tree[key] for tree in trees], scope) for key in first}


def merge_windows(trees: list[Any], scope: SizeScope) -> Any:
    """One window for several; a padding may be the padding SAME of the first input."""
    windows = [tree["$record"][1] for tree in trees]
    kept = [merge_trees(list(part), scope) for part in zip(*[w[:3] for w in windows], strict=True)]
    paddings = [w[3] for w in windows]
    try:
        return {"$record": ["Window", [*kept, merge_trees(paddings, scope)]]}
    except NotGeneral:
        if scope.first_input is None:
            raise
    number, shapes = scope.first_input
    sizes, strides, dilations = (part["$tuple"] for part in kept)
    start = len(shapes[0]) - 1 - len(sizes)
    found = []
    for i, (size, stride, dilation) in enumerate(zip(sizes, strides, dilations, strict=True)):
        reach = (size - 1) * dilation + 1
        given = [tuple(p["$tuple"][i]["$tuple"]) for p in paddings]
        if given != [same_padding(shape[start + i], stride, reach) for shape in shapes]:
            found.append(merge_trees([p["$tuple"][i] for p in paddings], scope))
        else:
            found.append({"$padding": [[number, start + i], stride, reach]})
    return {"$record": ["Window", [*kept, {"$tuple": found}]]}


def is_same_leaf(a: Any, b: Any) -> bool:
    """Whether two leaves are equal; NaN equals itself."""
    return bool(a == b or (a != a and b != b))


def merge_arrays(arrays: list[Any], scope: SizeScope) -> Any:
    """One constant for several that differ by sizes."""
    first = arrays[0]
    if any(a.dtype != first.dtype or a.ndim != first.ndim for a in arrays):
        raise NotGeneral(f"constants {[(a.dtype.name, a.shape) for a in arrays]}")
    alike = all(a.shape == first.shape for a in arrays)
    if alike and all(is_same_array(a, first) for a in arrays):
        return first
    name = as_dtype(first.dtype).name
    shape = [
        merge_trees(list(sizes), scope) for sizes in zip(*(a.shape for a in arrays), strict=True)
    ]
    if all(a.size and (a == a.flat[0]).all() for a in arrays):
        return {"$filled": [shape, merge_scalars([a.flat[0] for a in arrays], scope), name]}
    if alike and first.size <= MAX_SMALL_ARRAY and first.dtype.kind in "iuf":
        columns = zip(*(a.flat for a in arrays), strict=True)
        elements = [merge_scalars(list(column), scope) for column in columns]
        return {"$elements": [shape, elements, name]}
    if not all(a.size for a in arrays):
        raise NotGeneral(f"constants of the shapes {[a.shape for a in arrays]}")
    if first.ndim == 1 and first.dtype.kind in "iuf":
        steps = [find_step(a) for a in arrays]
        start = merge_scalars([a[0] for a in arrays], scope)
        return {"$ramp": [shape[0], start, merge_scalars(steps, scope), name]}
    if first.ndim >= 2:
        parts = [find_triangle(a) for a in arrays]
        numbers = [merge_scalars(list(column), scope) for column in zip(*parts, strict=True)]
        return {"$triangle": [shape, *numbers, name]}
    raise NotGeneral(f"constants of the shapes {[a.shape for a in arrays]}")


def is_same_array(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape and dtype have the same bytes, or the same strings."""
    return bool(np.array_equal(a, b) if a.dtype == object else a.tobytes() == b.tobytes())


def merge_scalars(values: list[Any], scope: SizeScope) -> Any:
    """One number, string or expression for an element of several arrays."""
    plain = [v.item() if hasattr(v, "item") else v for v in values]
    if type(plain[0]) is float and not all(is_same_leaf(p, plain[0]) for p in plain):
        return scope.fit_float(tuple(values))
    merged = merge_trees(plain, scope)
    if isinstance(merged, bytes):
        return {"$bytes": merged.decode("latin-1")}
    if isinstance(merged, complex):
        return {"$complex": [merged.real, merged.imag]}
    return merged


def find_triangle(array: Any) -> tuple[int, Any, Any]:
    """The diagonal of a triangle, the value from it on downwards, and the value above it."""
    rows, columns = array.shape[-2:]
    below = np.subtract.outer(np.arange(rows), np.arange(columns))
    corner = (0,) * (array.ndim - 2)
    lower, upper = array[*corner, rows - 1, 0], array[*corner, 0, columns - 1]
    marked = array[corner] == lower
    diagonal = int(below[marked].min()) if marked.any() else 0
    if lower == upper or not (array == np.where(below >= diagonal, lower, upper)).all():
        raise NotGeneral(f"constants of the shape {array.shape}")
    return diagonal, lower, upper


def find_step(array: Any) -> Any:
    """The step of an array that counts."""
    step = array[1] - array[0] if len(array) > 1 else array.dtype.type(0)
    counted = array[0] + step * np.arange(len(array)).astype(array.dtype)
    if not np.allclose(counted, array, rtol=1e-6, atol=0):
        raise NotGeneral(f"constants such as {array}")
    return step
