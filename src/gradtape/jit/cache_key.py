"""The cache key of a call: equal for calls that may share a trace.

One pass over the arguments gives the key, the tensors and the variables of a call, in the order of
`nest.flatten`. The same function describes arguments as they are passed and as they are bound.
"""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import Any

from gradtape.core import nest
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.lazy_array import LazyTensor, get_held_array
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TypeSpec
from gradtape.core.symbolic_tensor import Opaque, check_scope
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.state.variable.variable import Variable
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tape.source import variable_of

PLAIN_TYPES = frozenset({bool, int, float, complex, str, bytes, type(None)})
ARRAY = type(convert([0.0])._array)
# The dtypes of tensors that NumPy arrays have too; they compare equal only in native byte order.
CANONICAL_DTYPES = frozenset(
    convert([0])._array.astype(code).dtype for code in ("?", "b", "h", "i", "l", "f", "d", "F", "D")
)


def cache_key(
    args: Any, kwargs: Any, tensors: list[Any], variables: list[Any], captured: Any = ()
) -> tuple[Any, ...]:
    """The key of a call; its tensors and variables are appended to the two lists.

    Tensors are described by shape and dtype, Python values by type and value, and objects by
    identity. Variables are described by shape, dtype, and which arguments are the same variable;
    those in `captured`, the keys of variables that the function also captures, by identity.
    """
    key: list[Any] = []
    describe(args, key, tensors, variables, captured)
    if kwargs:
        key.append(tuple(kwargs))
        describe(kwargs.values(), key, tensors, variables, captured)
    return tuple(key)


def describe(
    values: Any, key: list[Any], tensors: list[Any], variables: list[Any], captured: Any
) -> None:
    """Append the description of `values` to `key`."""
    for a in values:
        kind = type(a)
        if kind is EagerTensor or kind is LazyTensor:
            raw = get_held_array(a)
            key.append(raw.shape)
            key.append(raw.dtype)
            tensors.append(a)
        elif kind in PLAIN_TYPES:
            key.append(kind)
            key.append(a)
        elif kind is tuple or kind is list:
            key.append(kind)
            key.append(len(a))
            describe(a, key, tensors, variables, captured)
        elif kind is ARRAY and a.dtype in CANONICAL_DTYPES and a.shape:
            key.append(a.shape)
            key.append(a.dtype)
            tensors.append(make_tensor(a.copy()))
        elif kind is Variable:
            describe_variable(a, kind, key, variables, captured)
        else:
            describe_other(a, key, tensors, variables, captured)


def describe_variable(
    variable: Any, kind: type, key: list[Any], variables: list[Any], captured: Any
) -> None:
    """Append the description of a variable, passed as an object of class `kind`."""
    version = variable._value
    raw = get_held_array(variable._stored_version() if version is None else version)
    key += (kind, raw.shape, raw.dtype, variable._trainable)
    if variable._key in captured:
        key.append(("captured", variable._key))
    else:
        place = 0
        while place < len(variables) and variables[place] is not variable:
            place += 1
        key.append(place)
    variables.append(variable)


def describe_other(
    a: Any, key: list[Any], tensors: list[Any], variables: list[Any], captured: Any
) -> None:
    """Append the description of a value of a less common kind."""
    if isinstance(a, Tensor):
        check_scope(a)
        key += (a._array.shape, a._array.dtype)
        tensors.append(a)
    elif type(a) is dict and len(set(map(type, a))) <= 1:
        key += (dict, tuple(a))
        describe(map(a.__getitem__, sorted(a)), key, tensors, variables, captured)
    elif hasattr(a, "_read_next"):
        key += (Opaque, repr(a.element_spec))
        tensors.append(make_tensor(Opaque(a._source)))
    elif is_structure(a):
        leaves = nest.flatten(a, expand_composites=True)
        key += (type(a), structure_key(a), len(leaves))
        describe(leaves, key, tensors, variables, captured)
    elif (variable := variable_of(a)) is not None:
        describe_variable(variable, type(a), key, variables, captured)
    elif is_array(a):
        tensor = convert(a)
        key += (tensor._array.shape, tensor._array.dtype)
        tensors.append(tensor)
    else:
        key.append(object_key(a))


def is_structure(a: Any) -> bool:
    """Whether a value consists of other values; datasets are composites without components."""
    return nest.is_nested(a) or (
        isinstance(a, CompositeTensor)
        and not hasattr(a, "element_spec")
        and not hasattr(a, "_target_variable")
    )


def object_key(leaf: Any) -> Any:
    """The key of a Python object: by equality, without keeping the object alive."""
    if hasattr(leaf, "element_spec"):
        return ("dataset", id(leaf))
    if isinstance(leaf, TypeSpec):
        return leaf
    if hasattr(leaf, "__tf_tracing_type__"):
        return ("type", leaf.__tf_tracing_type__(None))
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(
            f"tf.function: arguments must be hashable, to look up their trace. Received "
            f"{leaf!r}. Pass tensors or an immutable object."
        ) from None
    if not is_held_weakly(leaf):
        return (type(leaf), leaf)
    part = ("object", weakref.ref(leaf))
    hash(part)  # a weak reference stores the hash for after its object is deleted
    return part


def is_held_weakly(leaf: Any) -> bool:
    """Whether the key of an object refers to it by a weak reference or by its id."""
    if hasattr(leaf, "element_spec"):
        return not hasattr(leaf, "_read_next")
    if isinstance(leaf, (TypeSpec, type)) or hasattr(leaf, "__tf_tracing_type__"):
        return False
    if type(leaf).__module__ == "builtins" and type(leaf) is not FunctionType:
        return False
    try:
        weakref.ref(leaf)
    except TypeError:
        return False
    return True


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array or scalar."""
    return hasattr(value, "__array__") and hasattr(value, "dtype") and hasattr(value, "nbytes")


def structure_key(structure: Any) -> Any:
    """A hashable key of a structure: its containers and dict keys, without the leaves."""
    if isinstance(structure, dict):
        return (type(structure), tuple([(k, structure_key(v)) for k, v in structure.items()]))
    if isinstance(structure, (list, tuple)):
        return (type(structure), tuple([structure_key(v) for v in structure]))
    if isinstance(structure, RaggedTensor):
        return (RaggedTensor, tuple([p._uniform for p in structure._nested_row_partitions]))
    if isinstance(structure, SparseTensor):
        return SparseTensor, str(structure.shape)
    if has_constants(structure):
        return structure._type_spec
    return type(structure) if nest.is_nested(structure) else None


def has_constants(value: Any) -> bool:
    """Whether a value is a composite of a class of the user, whose spec may hold constants."""
    if not isinstance(value, CompositeTensor) or isinstance(value, (Variable, IndexedSlices)):
        return False
    return not hasattr(value, "element_spec") and hasattr(value, "_type_spec")


def leaf_key(leaf: Any) -> Any:
    """The key of one leaf, for the warning that says how two calls differ."""
    if isinstance(leaf, Tensor):
        return (leaf._array.shape, leaf._array.dtype)
    if type(leaf) in PLAIN_TYPES:
        return (type(leaf), leaf)
    key: list[Any] = []
    describe_other(leaf, key, [], [], ())
    return tuple(key) if len(key) != 1 else key[0]
