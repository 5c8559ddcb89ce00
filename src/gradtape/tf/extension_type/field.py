"""The annotated fields of an extension type: what they admit, and how values are converted."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator, Mapping
from inspect import Parameter, Signature
from types import NoneType, UnionType
from typing import Any

from gradtape.core import dtypes
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor

LITERALS = (int, float, str, bytes, bool, NoneType)
RESERVED_PREFIX = "_tf_extension_type"
RESERVED_NAMES = ("self", "Spec", "_type_spec")


class ImmutableDict(Mapping[Any, Any]):
    """A mapping that cannot change, for fields of extension types."""

    def __init__(self, items: Any = ()) -> None:
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._items.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items})"


def collect_fields(cls: type) -> dict[str, Any]:
    """The annotations of a class and its bases, in order, after a check."""
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own = inspect.get_annotations(base)
        if own and has_fields(base):
            hints = typing.get_type_hints(base)
            fields.update({name: hints[name] for name in own})
    for name, kind in fields.items():
        if name in RESERVED_NAMES or name.startswith(RESERVED_PREFIX):
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved."
            )
        check_annotation(name, kind)
    return fields


def has_fields(base: type) -> bool:
    """Whether a class is an extension type of the user."""
    return hasattr(base, f"{RESERVED_PREFIX}_fields") and not base.__dict__.get(
        f"{RESERVED_PREFIX}_is_base"
    )


def check_annotation(name: str, kind: Any) -> None:
    """Raise TypeError for an annotation that extension types do not support."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple or origin in (typing.Union, UnionType) or is_mapping_type(origin):
        for part in args:
            if part is not Ellipsis:
                check_annotation(name, part)
        return
    is_class = isinstance(kind, type)
    if is_class and issubclass(kind, (Tensor, CompositeTensor, TypeSpec, *LITERALS)):
        return
    if kind in (TensorShape, dtypes.DType, tuple) or isinstance(kind, (TypeSpec, typing.TypeVar)):
        return
    shown = kind.__name__ if is_class else str(kind)
    raise TypeError(f"In field {name!r}: Unsupported type annotation {shown!r}")


def is_mapping_type(origin: Any) -> bool:
    """Whether an annotation is a mapping."""
    return isinstance(origin, type) and issubclass(origin, Mapping)


def make_signature(cls: type, fields: dict[str, Any]) -> Signature:
    """The signature of the constructor: fields, those with a default last if they must be."""
    parameters = []
    is_optional = False
    for name, kind in fields.items():
        default = getattr(cls, name, Parameter.empty)
        is_optional = is_optional or default is not Parameter.empty
        has_no_default = is_optional and default is Parameter.empty
        place = Parameter.KEYWORD_ONLY if has_no_default else Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(Parameter(name, place, default=default, annotation=kind))
    parameters.sort(key=lambda p: p.kind)
    return Signature(parameters)


def convert_field(path: str, value: Any, kind: Any, specs: bool = False) -> Any:
    """Convert a value to the type of its field; with `specs`, fields hold specs of tensors."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):
        return convert_union(path, value, args, specs)
    if origin is tuple:
        return convert_tuple(path, value, args, specs)
    if is_mapping_type(origin):
        if not isinstance(value, Mapping):
            raise_wrong_type(path, "Mapping", value)
        return ImmutableDict(
            {
                convert_field(f"{path}.keys", k, args[0]): convert_field(
                    f"{path}[{k!r}]", v, args[1], specs
                )
                for k, v in value.items()
            }
        )
    if specs and is_tensor_type(kind):
        if not isinstance(value, TypeSpec):
            raise_wrong_type(path, "TypeSpec", value)
        return value
    return convert_leaf(path, value, kind)


def convert_leaf(path: str, value: Any, kind: Any) -> Any:
    """Convert a value to a tensor, a literal or an object of a class."""
    if isinstance(kind, TensorSpec) or kind is Tensor:
        try:
            tensor = convert(value, kind.dtype if isinstance(kind, TensorSpec) else None)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{path}: expected 'Tensor', got {describe_type(value)}") from error
        if isinstance(kind, TensorSpec) and not kind.is_compatible_with(tensor):
            raise_wrong_type(path, str(kind), value)
        return tensor
    if isinstance(kind, TypeSpec):
        if not kind.is_compatible_with(value):
            raise_wrong_type(path, str(kind), value)
        return value
    if kind is TensorShape and not isinstance(value, TensorShape):
        return TensorShape(value)
    if kind is dtypes.DType:
        return dtypes.as_dtype(value)
    is_number = kind is float and type(value) is int
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        if is_number:
            return float(value)
        raise_wrong_type(path, kind.__name__, value)
    return value


def convert_union(path: str, value: Any, kinds: Any, specs: bool) -> Any:
    """Convert a value to the first type of a union that admits it."""
    classes = [kind for kind in kinds if isinstance(kind, type)]
    for kind in classes:
        if kind is not Tensor and isinstance(value, kind):
            return value
    for kind in kinds:
        try:
            return convert_field(path, value, kind, specs)
        except (TypeError, ValueError):
            continue
    names = ", ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
    return raise_wrong_type(path, f"Union[{names}]", value)


def convert_tuple(path: str, value: Any, kinds: Any, specs: bool) -> tuple[Any, ...]:
    """Convert a list or tuple to a tuple, item by item."""
    if not isinstance(value, (list, tuple)):
        raise_wrong_type(path, "tuple", value)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        raise TypeError(f"{path}: expected tuple of length {len(kinds)}, got {len(value)}")
    pairs = enumerate(zip(value, kinds, strict=True))
    return tuple(convert_field(f"{path}[{i}]", item, kind, specs) for i, (item, kind) in pairs)


def is_tensor_type(kind: Any) -> bool:
    """Whether a field of this type holds tensors."""
    if isinstance(kind, TypeSpec):
        return True
    return isinstance(kind, type) and issubclass(kind, (Tensor, CompositeTensor))


def describe_type(value: Any) -> str:
    """The name of a value's type, in quotes."""
    return repr(type(value).__name__)


def raise_wrong_type(path: str, expected: str, value: Any) -> typing.NoReturn:
    """Raise TypeError: a value does not fit the type of its field."""
    raise TypeError(f"{path}: expected {expected!r}, got {describe_type(value)}")
