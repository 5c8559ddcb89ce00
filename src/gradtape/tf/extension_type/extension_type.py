"""ExtensionType: classes of the user whose annotated fields are tensors and constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.errors import public
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.tf.extension_type.field import (
    ImmutableDict,
    collect_fields,
    convert_field,
    make_signature,
)
from gradtape.tf.extension_type.spec_registry import register
from gradtape.tf.math.elementwise import equal, logical_not
from gradtape.tf.math.reduce import reduce_all

IN_CONSTRUCTION = "_tf_extension_type_in_construction"


def spec_of_field(value: Any) -> Any:
    """The spec of a field: tensors become specs, containers are copied, constants stay."""
    if isinstance(value, Tensor):
        return TensorSpec.from_tensor(value)
    if isinstance(value, CompositeTensor):
        return value._type_spec  # type: ignore[attr-defined]
    if isinstance(value, tuple):
        return tuple(spec_of_field(item) for item in value)
    if isinstance(value, Mapping):
        return ImmutableDict({key: spec_of_field(item) for key, item in value.items()})
    return value


def collect_parts(value: Any, spec: Any) -> list[Any]:
    """The tensors and composites of a field, in order."""
    if isinstance(spec, TypeSpec) and not isinstance(value, TypeSpec):
        return [value]
    if isinstance(spec, tuple):
        return [p for v, s in zip(value, spec, strict=True) for p in collect_parts(v, s)]
    if isinstance(spec, Mapping):
        return [part for key in spec for part in collect_parts(value[key], spec[key])]
    return []


def rebuild_field(spec: Any, parts: Any) -> Any:
    """The value of a field from its spec and an iterator of its tensors."""
    if isinstance(spec, TypeSpec):
        return next(parts)
    if isinstance(spec, tuple):
        return tuple(rebuild_field(item, parts) for item in spec)
    if isinstance(spec, Mapping):
        return ImmutableDict({key: rebuild_field(item, parts) for key, item in spec.items()})
    return spec


class ExtensionTypeSpec(TypeSpec):
    """The type of an extension type's values; each extension type has a subclass named `Spec`."""

    _tf_extension_type_class: ClassVar[Any] = None

    @public
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)._tf_extension_type_class
        bound = cls._tf_extension_type_signature.bind(*args, **kwargs)
        bound.apply_defaults()
        fields = {
            name: convert_field(name, value, cls._tf_extension_type_fields[name], specs=True)
            if not isinstance(value, TypeSpec)
            else value
            for name, value in bound.arguments.items()
        }
        self.__dict__.update(fields)

    @property
    def value_type(self) -> Any:
        """The extension type."""
        return type(self)._tf_extension_type_class

    def _fields(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.value_type._tf_extension_type_fields}

    @property
    def _component_specs(self) -> list[Any]:
        return [part for spec in self._fields().values() for part in collect_specs(spec)]

    def _to_components(self, value: Any) -> list[Any]:
        found = self._fields().items()
        return [part for name, spec in found for part in collect_parts(getattr(value, name), spec)]

    def _from_components(self, components: Any) -> Any:
        parts = iter(components)
        fields = {name: rebuild_field(spec, parts) for name, spec in self._fields().items()}
        return self.value_type._tf_extension_type_make(fields)

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(self._fields().items())

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        spec = cls.__new__(cls)
        spec.__dict__.update(dict(serialization))
        return spec

    def __reduce__(self) -> tuple[Any, ...]:
        return make_spec, (type(self)._tf_extension_type_class, self._serialize())

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={spec!r}" for name, spec in self._fields().items())
        return f"{type(self).__name__}({inside})"


def make_spec(cls: Any, serialization: Any) -> Any:
    """A spec of an extension type, from a pickle."""
    return cls.Spec._deserialize(serialization)


def collect_specs(spec: Any) -> list[Any]:
    """The specs of tensors and composites of a field, in order."""
    if isinstance(spec, TypeSpec):
        return [spec]
    if isinstance(spec, (tuple, Mapping)):
        items = spec.values() if isinstance(spec, Mapping) else spec
        return [part for item in items for part in collect_specs(item)]
    return []


def spec_mask(spec: Any) -> Any:
    """The spec with a marker in place of each spec of a tensor, for `collect_parts`."""
    if isinstance(spec, TypeSpec):
        return MARKER
    if isinstance(spec, tuple):
        return tuple(spec_mask(item) for item in spec)
    if isinstance(spec, Mapping):
        return {key: spec_mask(item) for key, item in spec.items()}
    return spec


MARKER = object()


class ExtensionType(CompositeTensor):
    """Base class of types of the user that are made of tensors.

    Annotated class attributes are the fields. The constructor takes them in order, converts them
    to their types, and calls `__validate__` if there is one. Objects cannot change. They pass
    through `tf.function`, control flow and `tf.nest` like tensors.

    Example:
        >>> class Masked(tf.experimental.ExtensionType):
        ...     values: tf.Tensor
        ...     mask: tf.Tensor
        >>> masked = Masked([1, 2], [True, False])
        >>> tf.function(lambda m: tf.where(m.mask, m.values, 0))(masked).numpy()
        array([1, 0], dtype=int32)
    """

    _tf_extension_type_is_base = True
    _tf_extension_type_fields: ClassVar[dict[str, Any]] = {}
    _tf_extension_type_signature: ClassVar[Any] = None
    Spec: ClassVar[Any] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._tf_extension_type_fields = collect_fields(cls)
        cls._tf_extension_type_signature = make_signature(cls, cls._tf_extension_type_fields)
        names = {"_tf_extension_type_class": cls, "__module__": cls.__module__}
        cls.Spec = type(f"{cls.__name__}.Spec", (ExtensionTypeSpec,), names)
        registered = cls.__dict__.get("__name__")  # a name that the user gave
        if registered is not None:
            register(registered + ".Spec")(cls.Spec)
        own = cls.__dict__.get("__init__")
        if own is not None and not hasattr(own, "_tf_extension_type_wrapped"):
            cls.__init__ = wrap_constructor(own)  # type: ignore[method-assign]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if type(self) is ExtensionType:
            raise AssertionError(
                "Cannot create an instance of ExtensionType because ExtensionType is an abstract "
                "base class. Derive a class from it."
            )
        bound = self._tf_extension_type_signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)
        finish_construction(self)

    @classmethod
    def _tf_extension_type_make(cls, fields: dict[str, Any]) -> Any:
        """An object with these fields, without conversion and validation."""
        made = cls.__new__(cls)
        made.__dict__.update(fields)
        return made

    @property
    def _type_spec(self) -> Any:
        fields = {
            name: spec_of_field(self.__dict__[name]) for name in self._tf_extension_type_fields
        }
        return type(self).Spec._deserialize(tuple(fields.items()))

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get(IN_CONSTRUCTION):
            self.__dict__[name] = value
            return
        raise_immutable(name)

    def __delattr__(self, name: str) -> None:
        raise_immutable(name)

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self):
            return False
        mine, theirs = self._type_spec, other._type_spec
        parts = mine._to_components(self), theirs._to_components(other)
        if len(parts[0]) != len(parts[1]) or constants_of(mine) != constants_of(theirs):
            return False
        result: Any = True
        for a, b in zip(*parts, strict=True):
            is_same = compare_parts(a, b)
            result = is_same if result is True else result & is_same
        return result

    def __ne__(self, other: object) -> Any:
        result = self.__eq__(other)
        return logical_not(result) if isinstance(result, Tensor) else not result

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{name}={self.__dict__[name]!r}" for name in self._tf_extension_type_fields
        )
        return f"{type(self).__name__}({inside})"


def constants_of(spec: Any) -> Any:
    """The fields of a spec without those of tensors."""
    return [spec_mask(field) for field in spec._fields().values()]


def compare_parts(a: Any, b: Any) -> Any:
    """Whether two tensors or composites are equal, as a scalar tensor or bool."""
    if isinstance(a, Tensor):
        return reduce_all(equal(a, b)) if a.shape.is_compatible_with(b.shape) else False
    if isinstance(a, ExtensionType):
        return a == b
    spec = a._type_spec
    pairs = zip(spec._to_components(a), b._type_spec._to_components(b), strict=True)
    found: Any = True
    for x, y in pairs:
        is_same = compare_parts(x, y)
        found = is_same if found is True else found & is_same
    return found


def raise_immutable(name: str) -> None:
    """Raise AttributeError: fields are set by the constructor only."""
    raise AttributeError(
        f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
    )


def wrap_constructor(function: Any) -> Any:
    """A constructor of the user, after which fields are converted and checked."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - replaces it
        if self.__dict__.get(IN_CONSTRUCTION):  # called by the constructor of a subclass
            function(self, *args, **kwargs)
            return
        self.__dict__[IN_CONSTRUCTION] = True
        try:
            function(self, *args, **kwargs)
        finally:
            self.__dict__.pop(IN_CONSTRUCTION, None)
        finish_construction(self)

    __init__._tf_extension_type_wrapped = True  # type: ignore[attr-defined]
    __init__.__wrapped__ = function  # type: ignore[attr-defined]
    return __init__


def finish_construction(made: ExtensionType) -> None:
    """Convert the fields to their types, and validate the object."""
    fields, values = made._tf_extension_type_fields, made.__dict__
    if values.get(IN_CONSTRUCTION):
        return
    missing = {name for name in fields if name not in values}
    if missing:
        raise ValueError(f"Missing required fields: {missing}")
    extra = values.keys() - fields.keys()
    if extra:
        raise ValueError(f"Got extra fields: {extra}")
    for name, kind in fields.items():
        values[name] = convert_field(name, values[name], kind)
    validate = getattr(made, "__validate__", None)
    if validate is not None:
        validate()


@public
def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of an object by name, in order.

    Args:
        value: an object of an ExtensionType.

    Returns:
        A dict.
    """
    return {name: getattr(value, name) for name in value._tf_extension_type_fields}
