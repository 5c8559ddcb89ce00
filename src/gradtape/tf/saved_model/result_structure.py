"""Structures of arguments and results: leaves, trees in a file, and results from trees."""

from __future__ import annotations

from typing import Any

from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.tree_check import expect_dict, expect_index, expect_list, expect_text


def encode_structure(value: Any, position: Any) -> Any:
    """The structure of a result as a tree; `position` counts its tensors."""
    if value is None:
        return None
    if isinstance(value, Tensor):
        return {"$result": next(position)}
    if isinstance(value, RaggedTensor):
        parts = value._type_spec._to_components(value)
        return {"$ragged": [encode_structure(part, position) for part in parts]}
    if isinstance(value, SparseTensor):
        parts = (value.indices, value.values, value.dense_shape)
        return {"$sparse": [encode_structure(part, position) for part in parts]}
    if isinstance(value, dict):
        numbered = {key: encode_structure(value[key], position) for key in sorted(value)}
        return {"$dict": [[key, numbered[key]] for key in value]}
    if isinstance(value, (list, tuple)):
        kind = "$list" if isinstance(value, list) else "$tuple"
        return {kind: [encode_structure(item, position) for item in value]}
    raise TypeError(
        f"saved_model.save: a function returns a {type(value).__name__}, which cannot be saved. "
        "Return tensors, and lists, tuples and dicts of them."
    )


def check_structure_tree(tree: Any, count: int) -> None:
    """Check the structure of a result with `count` tensors.

    Raises:
        MalformedModel: if it is not what `encode_structure` returns.
    """
    if tree is None:
        return
    if not isinstance(tree, dict) or len(tree) != 1:
        raise MalformedModel(f"a result is a structure of tensors. Received {shorten(tree)}")
    ((kind, inner),) = tree.items()
    if kind == "$result":
        expect_index(inner, count, "result")
    elif kind == "$dict":
        for pair in expect_list(inner):
            key, value = expect_list(pair, 2)
            if type(key) is not int:
                expect_text(key)
            check_structure_tree(value, count)
    elif kind in ("$list", "$tuple"):
        for part in expect_list(inner):
            check_structure_tree(part, count)
    elif kind in ("$ragged", "$sparse"):
        check_composite(kind, inner, count)
    else:
        raise MalformedModel(f"there is no type {shorten(kind)} of results")


def check_composite(kind: str, inner: Any, count: int) -> None:
    """Check the parts of a ragged or sparse result."""
    if len(expect_list(inner, 3 if kind == "$sparse" else None)) < 2:
        raise MalformedModel("a ragged tensor has values and row splits")
    for part in inner:
        expect_index(expect_dict(part, "$result")["$result"], count, "result")


def build_structure(tree: Any, results: list[Any]) -> Any:
    """A result of this structure."""
    if not isinstance(tree, dict):
        return tree
    ((kind, inner),) = tree.items()
    if kind == "$result":
        return results[inner]
    if kind == "$dict":
        return {key: build_structure(value, results) for key, value in inner}
    parts = [build_structure(value, results) for value in inner]
    if kind == "$ragged":
        return RaggedTensor.from_nested_row_splits(parts[0], parts[1:], validate=False)
    if kind == "$sparse":
        return SparseTensor(*parts)
    return tuple(parts) if kind == "$tuple" else parts


def describe_call(arguments: Any) -> str:
    """The arguments of a call in lines, as TensorFlow's messages show them."""
    args, kwargs = arguments
    lines = [f"  Positional arguments ({len(args)} total):"]
    lines += [f"    * {value!r}" for value in args]
    return "\n".join([*lines, f"  Keyword arguments: {kwargs!r}"])
