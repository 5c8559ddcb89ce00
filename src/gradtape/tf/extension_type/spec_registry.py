"""Names of TypeSpecs, by which other libraries store them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.tf.array.tensor_array_spec import TensorArraySpec

# TensorFlow registers only these of its own
_NAME_TO_TYPE_SPEC: dict[str, type] = {
    f"tf.{cls.__name__}": cls
    for cls in (TensorSpec, RaggedTensorSpec, SparseTensorSpec, TensorArraySpec)
}
_TYPE_SPEC_TO_NAME: dict[type, str] = {cls: name for name, cls in _NAME_TO_TYPE_SPEC.items()}
REGISTERED_NAME = re.compile(r"\w[\w-]*(\.\w[\w-]*)+")


def register(name: str) -> Callable[[type], type]:
    """Decorator that registers a TypeSpec under a name such as "my_project.MySpec".

    Raises:
        ValueError: if the name or the class is registered already, or the name has no dot.
    """
    check_type_spec_name(name)
    if not REGISTERED_NAME.fullmatch(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' "
            f"(e.g. 'my_project.MyTypeSpec'); got {name!r}."
        )

    def register_class(cls: type) -> type:
        check_type_spec_class(cls)
        if cls in _TYPE_SPEC_TO_NAME:
            raise ValueError(
                f"Class {describe_class(cls)} has already been registered with name "
                f"{_TYPE_SPEC_TO_NAME[cls]}."
            )
        if name in _NAME_TO_TYPE_SPEC:
            other = describe_class(_NAME_TO_TYPE_SPEC[name])
            raise ValueError(f"Name {name} has already been registered for class {other}.")
        _NAME_TO_TYPE_SPEC[name] = cls
        _TYPE_SPEC_TO_NAME[cls] = name
        return cls

    return register_class


def get_name(cls: type) -> str:
    """The name under which a TypeSpec is registered.

    Raises:
        ValueError: if it is not registered.
    """
    check_type_spec_class(cls)
    found = _TYPE_SPEC_TO_NAME.get(cls)
    if found is None:
        raise ValueError(f"TypeSpec {describe_class(cls)} has not been registered.")
    return found


def lookup(name: str) -> type:
    """The TypeSpec registered under a name.

    Raises:
        ValueError: if there is none.
    """
    check_type_spec_name(name)
    found = _NAME_TO_TYPE_SPEC.get(name)
    if found is None:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return found


def check_type_spec_name(name: Any) -> None:
    """Raise TypeError if the name is not a string."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")


def check_type_spec_class(cls: Any) -> None:
    """Raise TypeError if this is not a class of specs."""
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")


def describe_class(cls: type) -> str:
    """Module and name of a class."""
    return f"{cls.__module__}.{cls.__name__}"
