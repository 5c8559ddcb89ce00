"""Functions of TensorFlow's private module `util.nest` beyond those of `tf.nest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradtape.core import nest
from gradtape.core.nest import flatten as flatten
from gradtape.core.nest import flatten_up_to as flatten_up_to
from gradtape.core.nest import is_nested as is_nested
from gradtape.core.nest import map_structure as map_structure
from gradtape.core.nest import map_structure_up_to as map_structure_up_to
from gradtape.core.nest import pack_sequence_as as pack_sequence_as

is_nested_or_composite = is_nested


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise unless two structures are nested alike."""
    nest.assert_same_structure(nest1, nest2, check_types, expand_composites)


def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> None:
    """Raise unless `shallow_tree` is the upper part of `input_tree`.

    Raises:
        TypeError: if the types of two levels differ.
        ValueError: if the lengths or keys of two levels differ.
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. "
            f"Input has type: {type(input_tree)}."
        )
    if check_types and not are_alike(shallow_tree, input_tree):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if isinstance(shallow_tree, Mapping):
        missing = set(shallow_tree) ^ set(input_tree)
        if missing:
            raise ValueError(f"The two structures don't have the same keys: {sorted(missing)}.")
    pairs = list(children_of(shallow_tree)), list(children_of(input_tree))
    if len(pairs[0]) != len(pairs[1]):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(pairs[1])}, while shallow structure has length {len(pairs[0])}."
        )
    for shallow, deep in zip(*pairs, strict=True):
        assert_shallow_structure(shallow, deep, check_types, expand_composites)


def are_alike(a: Any, b: Any) -> bool:
    """Whether two levels are of the same kind."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return True
    if _is_namedtuple(a) and _is_namedtuple(b):
        return bool(a._fields == b._fields)
    return isinstance(b, type(a)) or isinstance(a, type(b))


def items_of(structure: Any) -> Iterator[tuple[Any, Any]]:
    """Keys and values of one level, as `flatten` orders them."""
    if isinstance(structure, Mapping):
        for key in sorted(structure):
            yield key, structure[key]
    elif _is_namedtuple(structure):
        yield from zip(structure._fields, structure, strict=True)
    elif hasattr(type(structure), "__attrs_attrs__"):
        for attribute in type(structure).__attrs_attrs__:
            yield attribute.name, getattr(structure, attribute.name)
    else:
        yield from enumerate(structure)


def children_of(structure: Any) -> Iterator[Any]:
    """The values of one level."""
    return (value for _, value in items_of(structure))


_yield_sorted_items = items_of
_yield_value = children_of


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether a value is a named tuple."""
    return isinstance(instance, tuple) and hasattr(instance, "_fields")


def _sequence_like(instance: Any, args: Any) -> Any:
    """A level like `instance` with other values."""
    values = list(args)
    if isinstance(instance, Mapping):
        pairs = dict(zip(sorted(instance), values, strict=True))
        return type(instance)((key, pairs[key]) for key in instance)  # type: ignore[call-arg]
    if _is_namedtuple(instance):
        return type(instance)(*values)
    return type(instance)(values)


def yield_flat_paths(nested: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each leaf."""
    for path, _ in nest.flatten_with_tuple_paths(nested):
        yield path


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Pairs of the path of a leaf and the leaf."""
    return list(nest.flatten_with_tuple_paths(structure))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[Any]:
    """Pairs of the path of a leaf, as text, and the leaf."""
    return [
        (separator.join(map(str, path)), leaf)
        for path, leaf in nest.flatten_with_tuple_paths(structure)
    ]


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply `func` to the path and the leaves of structures that are nested alike."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Apply `func` to the path and to what is at the leaves of `shallow_tree`."""
    kwargs.pop("expand_composites", None)
    check_types = kwargs.pop("check_types", True)
    for one in inputs:
        assert_shallow_structure(shallow_tree, one, check_types)
    paths = yield_flat_paths(shallow_tree)
    columns = [flatten_up_to(shallow_tree, one, check_types) for one in inputs]
    results = [func(path, *leaves) for path, *leaves in zip(paths, *columns, strict=True)]
    return pack_sequence_as(shallow_tree, results)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The upper part of `structure`, down to where `traverse_fn` returns False."""
    goes_on = traverse_fn(structure)
    if not is_nested(structure):
        return bool(goes_on)
    if isinstance(goes_on, bool):
        if not goes_on:
            return False
        levels = [get_traverse_shallow_structure(traverse_fn, c) for c in children_of(structure)]
        return _sequence_like(structure, levels)
    levels = [
        get_traverse_shallow_structure(traverse_fn, child) if into else False
        for into, child in zip(children_of(goes_on), children_of(structure), strict=True)
    ]
    return _sequence_like(structure, levels)
