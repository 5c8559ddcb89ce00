"""Elements of datasets: tuples and dicts of tensors, nested; a list is not nested, but a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import copy
from typing import Any

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor


class NoneTensorSpec(TypeSpec):
    """The spec of None."""

    __slots__ = ()

    @property
    def value_type(self) -> Any:
        """The type of None."""
        return type(None)

    @property
    def _component_specs(self) -> Any:
        return ()

    def _to_components(self, value: Any) -> Any:
        return ()

    def _from_components(self, components: Any) -> Any:
        return None

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether it is None, or says so."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)


def flatten(structure: Any) -> list[Any]:
    """The leaves, dicts in the order of their sorted keys."""
    if isinstance(structure, Mapping):
        structure = tuple(structure[key] for key in sorted(structure))
    if isinstance(structure, tuple):
        return [leaf for child in structure for leaf in flatten(child)]
    return [structure]


def mapped(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """A structure like `structure` with `function` of the leaves."""
    if isinstance(structure, Mapping):
        values = {
            k: mapped(function, structure[k], *(other[k] for other in others)) for k in structure
        }
        return mapped_keys(structure, values)
    if isinstance(structure, tuple):
        children = [mapped(function, *each) for each in zip(structure, *others, strict=True)]
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    return function(structure, *others)


def packed(structure: Any, leaves: Iterator[Any]) -> Any:
    """A structure like `structure` with `leaves`, which come in the order of `flatten`."""
    if isinstance(structure, Mapping):
        values = {key: packed(structure[key], leaves) for key in sorted(structure)}
        return mapped_keys(structure, values)
    if isinstance(structure, tuple):
        children = [packed(child, leaves) for child in structure]
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    return next(leaves)


def mapped_keys(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """A mapping of the type and order of `like`."""
    if type(like) is dict or not isinstance(like, MutableMapping):
        return {key: values[key] for key in like}
    made = copy(like)  # keeps its order, and a default factory
    made.update(values)
    return made


def is_leaf(value: Any) -> bool:
    """Whether `value` stays as it is in an element: None, an Optional, a dataset."""
    return value is None or (isinstance(value, CompositeTensor) and hasattr(value, "_type_spec"))


def as_element(value: Any) -> Any:
    """`value` with tensors for arrays, lists and numbers."""
    return mapped(lambda leaf: leaf if is_leaf(leaf) else convert(leaf), value)


def spec_of(element: Any) -> Any:
    """What describes an element: a spec for each leaf."""
    return mapped(spec_of_leaf, element)


def spec_of_leaf(leaf: Any) -> Any:
    """What describes one component."""
    if leaf is None:
        return NoneTensorSpec()
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype)
    return leaf._type_spec
