"""Structure of elements: nested tuples and dicts of tensors; a list counts as a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import copy
from typing import Any

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor


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
        """Whether the argument is None or a NoneTensorSpec."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)


def flatten_element(structure: Any) -> list[Any]:
    """The leaves; those of dicts in the order of the sorted keys."""
    if isinstance(structure, Mapping):
        structure = tuple(structure[key] for key in sorted(structure))
    if isinstance(structure, tuple):
        return [leaf for child in structure for leaf in flatten_element(child)]
    return [structure]


def map_element(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """Apply `function` to the leaves and keep the structure."""
    if isinstance(structure, Mapping):
        values = {
            k: map_element(function, structure[k], *(other[k] for other in others))
            for k in structure
        }
        return rebuild_mapping(structure, values)
    if isinstance(structure, tuple):
        children = [map_element(function, *each) for each in zip(structure, *others, strict=True)]
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    return function(structure, *others)


def pack_element(structure: Any, leaves: Iterator[Any]) -> Any:
    """Make a structure like `structure` from leaves in the order of `flatten_element`."""
    if isinstance(structure, Mapping):
        values = {key: pack_element(structure[key], leaves) for key in sorted(structure)}
        return rebuild_mapping(structure, values)
    if isinstance(structure, tuple):
        children = [pack_element(child, leaves) for child in structure]
        return type(structure)(*children) if hasattr(structure, "_fields") else tuple(children)
    return next(leaves)


def rebuild_mapping(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """Make a mapping with the type and order of `like`."""
    if type(like) is dict or not isinstance(like, MutableMapping):
        return {key: values[key] for key in like}
    mapping = copy(like)  # keeps the order and a default factory
    mapping.update(values)
    return mapping


def is_element_leaf(value: Any) -> bool:
    """Whether `value` is a leaf without conversion: None, an Optional or a dataset."""
    return value is None or (isinstance(value, CompositeTensor) and hasattr(value, "_type_spec"))


def as_element(value: Any) -> Any:
    """Convert arrays, lists and numbers in `value` to tensors."""
    return map_element(lambda leaf: leaf if is_element_leaf(leaf) else convert(leaf), value)


def detach_tensor(leaf: Any) -> Any:
    """A new tensor with the value of an eager tensor: tapes do not see through a pipeline."""
    return make_tensor(leaf._array) if type(leaf) is EagerTensor else leaf


def element_spec_of(element: Any) -> Any:
    """The spec of an element: the spec of each leaf."""
    return map_element(component_spec_of, element)


def component_spec_of(leaf: Any) -> Any:
    """The spec of one component."""
    if leaf is None:
        return NoneTensorSpec()
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype)
    return leaf._type_spec
