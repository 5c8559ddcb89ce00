"""Kinds of structures, by type: how one is taken apart, and how one like it is made."""

from collections.abc import Callable, Mapping, MappingView, MutableMapping, Sequence
from copy import copy
from typing import Any, NamedTuple


class StructureKind(NamedTuple):
    """How to take apart structures of one type, and how to rebuild one like a given one."""

    children: Callable[[Any], list[Any]]
    rebuild: Callable[[Any, list[Any]], Any]


def sort_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys of a mapping in order."""
    try:
        return sorted(mapping)
    except TypeError as error:
        raise TypeError(f"nest only supports dicts with sortable keys. {error}") from None


def _mapping_values(mapping: Mapping[Any, Any]) -> list[Any]:
    return [mapping[key] for key in sort_keys(mapping)]


def _dict_like(like: Mapping[Any, Any], values: list[Any]) -> Any:
    by_key = dict(zip(sort_keys(like), values, strict=True))
    return {key: by_key[key] for key in like}


def _mutable_mapping_like(like: MutableMapping[Any, Any], values: list[Any]) -> Any:
    made = copy(like)  # keeps the order and a default factory
    made.update(zip(sort_keys(like), values, strict=True))
    return made


def _mapping_like(like: Any, values: list[Any]) -> Any:
    return type(like)(_dict_like(like, values).items())


def _attrs_values(structure: Any) -> list[Any]:
    return [getattr(structure, field.name) for field in structure.__attrs_attrs__]


def _custom_children(structure: Any) -> list[Any]:
    return list(structure.__tf_flatten__()[1])


def _custom_like(like: Any, children: list[Any]) -> Any:
    return like.__tf_unflatten__(like.__tf_flatten__()[0], tuple(children))


def _components(composite: Any) -> list[Any]:
    return [composite._type_spec._to_components(composite)]


def _composite_like(like: Any, children: list[Any]) -> Any:
    return like._type_spec._from_components(children[0])


_LIST = StructureKind(list, lambda like, children: children)


_SEQUENCE = StructureKind(list, lambda like, children: type(like)(children))


FIELDS = StructureKind(list, lambda like, children: type(like)(*children))


_ATTRS = StructureKind(_attrs_values, lambda like, children: type(like)(*children))


_DICT = StructureKind(_mapping_values, _dict_like)


_MUTABLE_MAPPING = StructureKind(_mapping_values, _mutable_mapping_like)


_MAPPING = StructureKind(_mapping_values, _mapping_like)


_CUSTOM = StructureKind(_custom_children, _custom_like)


_COMPOSITE = StructureKind(_components, _composite_like)


_SPEC = StructureKind(
    lambda spec: [spec._component_specs],
    lambda like, children: like._from_components(children[0]),
)


class _KindCache(dict[type, StructureKind | None]):
    """Cache of the kind of each type; None for leaves."""

    def __missing__(self, cls: type) -> StructureKind | None:
        kind = self[cls] = _kind_of_type(cls)
        return kind


KIND_OF_TYPE = _KindCache({list: _LIST, range: _LIST, dict: _DICT, str: None, bytes: None})


def _kind_of_type(cls: type) -> StructureKind | None:
    candidates = {
        _MUTABLE_MAPPING: issubclass(cls, MutableMapping),
        _MAPPING: issubclass(cls, Mapping),
        _LIST: issubclass(cls, MappingView),
        FIELDS: issubclass(cls, tuple) and hasattr(cls, "_fields"),
        _ATTRS: hasattr(cls, "__attrs_attrs__"),
        _SEQUENCE: issubclass(cls, Sequence) and not issubclass(cls, (str, bytes)),
        _CUSTOM: hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"),
    }
    return next((kind for kind, holds in candidates.items() if holds), None)


def kind_of(structure: Any, expand_composites: bool) -> StructureKind | None:
    """The kind of a structure; None for leaves.

    With `expand_composites`, composites and their specs are structures. Datasets, iterators and
    their specs remain leaves; Optionals do not.
    """
    kind = KIND_OF_TYPE[type(structure)]
    if kind is not None or not expand_composites:
        return kind
    if hasattr(structure, "_type_spec"):
        is_dataset = hasattr(structure, "element_spec") and not hasattr(structure, "has_value")
        return None if is_dataset else _COMPOSITE
    if hasattr(structure, "_component_specs") and not hasattr(structure, "element_spec"):
        return None if structure._component_specs is structure else _SPEC
    return None
