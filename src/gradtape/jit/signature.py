"""Signatures: binding the arguments of a call, and the cache key of its trace."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from gradtape.core import nest
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.ports import devices
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.devices.array import (
    HOST,
    NO_FAST_PATH,
    Device,
    choose_device,
)
from gradtape.tape.source import variable_of

PLAIN_TYPES = frozenset({bool, int, float, complex, str, bytes, type(None)})


class Call:
    """The arguments of one call.

    Attributes:
        args: positional arguments in the function's order, including defaults.
        kwargs: keyword-only arguments.
        leaves: the flattened arguments, with NumPy arrays converted to tensors.
        key: cache key; equal for calls that may share a trace.
        parts: the cache key of each leaf.
        watched: objects in the key by weak reference; the key is dropped with them.
        given: the arguments as they were passed, if all were passed by position.
        device: where the call runs; None for the host, unless a capture is on an accelerator.
    """

    __slots__ = (
        "args",
        "device",
        "key",
        "kwargs",
        "leaf_keys",
        "leaves",
        "positional",
        "weak_objects",
    )

    def __init__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], given: tuple[Any, ...] = ()
    ) -> None:
        """Flatten the arguments and compute the key; `given` holds the passed positional ones."""
        self.positional = given
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        self.weak_objects: list[Any] = []
        variables: dict[int, int] = {}
        for i, leaf in enumerate(leaves):
            if type(leaf) not in PLAIN_TYPES and not isinstance(leaf, Tensor) and is_array(leaf):
                leaves[i] = convert(leaf)
        self.leaf_keys = tuple([self.leaf_key(leaf, variables) for leaf in leaves])
        self.args, self.kwargs = nest.pack_sequence_as(
            (args, kwargs), leaves, expand_composites=True
        )
        self.leaves = leaves
        self.key: Any = (structure_key((args, kwargs)), self.leaf_keys)
        self.device: Device | None = None
        if devices.active:
            self.device = call_device(leaves)
            self.key = (*self.key, self.device)

    def substitute_tensors(self, inputs: Sequence[Tensor], trace: Any) -> tuple[Any, Any]:
        """The arguments with the tensors of a trace in place of theirs."""
        given = iter(inputs)
        leaves = []
        for leaf in self.leaves:
            if isinstance(leaf, Tensor):
                leaf = next(given)
            elif hasattr(leaf, "_read_next"):
                trace.opaque_values[id(leaf)] = next(given)
                trace.kept_alive.append(leaf)
            leaves.append(leaf)
        args, kwargs = nest.pack_sequence_as(
            (self.args, self.kwargs), leaves, expand_composites=True
        )
        return args, kwargs

    def tensor_names(self, parameters: list[str]) -> list[str]:
        """A name for each tensor among the leaves: its parameter's, with a number if needed."""
        names: list[str] = []
        used: dict[str, int] = {}
        for i, value in enumerate([*self.args, *self.kwargs.values()]):
            keyword = list(self.kwargs)[i - len(self.args)] if i >= len(self.args) else ""
            base = keyword or parameters[min(i, len(parameters) - 1)]
            for leaf in nest.flatten(value, expand_composites=True):
                if isinstance(leaf, Tensor) or hasattr(leaf, "_read_next"):
                    count = used.get(base, 0)
                    used[base] = count + 1
                    names.append(f"{base}_{count}" if count else base)
        return names

    def leaf_key(self, leaf: Any, variables: dict[int, int]) -> Any:
        """The cache key of one leaf."""
        if isinstance(leaf, Tensor):
            return (leaf._array.shape, leaf._array.dtype)
        if type(leaf) in PLAIN_TYPES:
            return (type(leaf), leaf)
        variable = variable_of(leaf)
        if variable is not None:
            alias = variables.setdefault(variable._key, len(variables))
            raw = variable._stored_version()._array
            return ("variable", raw.shape, raw.dtype, variable._trainable, alias, type(leaf))
        if hasattr(leaf, "_read_next"):
            return ("iterator", repr(leaf.element_spec))
        if hasattr(leaf, "element_spec"):
            self.weak_objects.append(leaf)
            return ("dataset", id(leaf))
        if isinstance(leaf, TypeSpec):
            return leaf
        return self.object_key(leaf)

    def object_key(self, leaf: Any) -> Any:
        """The cache key of a Python object: by equality, without keeping the object alive."""
        if hasattr(leaf, "__tf_tracing_type__"):
            return ("type", leaf.__tf_tracing_type__(None))
        try:
            hash(leaf)
        except TypeError:
            raise TypeError(
                f"tf.function: arguments must be hashable, to look up their trace. Received "
                f"{leaf!r}. Pass tensors or an immutable object."
            ) from None
        builtin = type(leaf).__module__ == "builtins" and type(leaf) is not FunctionType
        if isinstance(leaf, type) or builtin:
            return (type(leaf), leaf)
        try:
            part = ("object", weakref.ref(leaf))
        except TypeError:
            return (type(leaf), leaf)
        hash(part)  # a weak reference stores the hash for after its object is deleted
        self.weak_objects.append(leaf)
        return part


def call_device(leaves: Sequence[Any]) -> Device | None:
    """The device of a call with these arguments, by the rule of `device.array.target`."""
    if local.device is not None and local.device is not NO_FAST_PATH:
        return local.device
    raws = [leaf._array for leaf in leaves if isinstance(leaf, Tensor)]
    raws += [v._stored_version()._array for v in map(variable_of, leaves) if v is not None]
    device = choose_device(raws)
    return None if device is HOST else device


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
        return SparseTensor
    return type(structure) if nest.is_nested(structure) else None


class Signature:
    """The parameters of a Python function, and the specs of `input_signature`."""

    def __init__(self, python_function: Any, specs: Any = None) -> None:
        """Read the parameters; `specs` describe the first of them."""
        self.parameters = inspect.signature(python_function)
        if specs is not None and not isinstance(specs, (list, tuple)):
            raise TypeError(
                f"tf.function: input_signature must be a tuple or list. Received {specs!r}."
            )
        self.specs = None if specs is None else tuple(specs)
        self.python_function = python_function
        kinds = [p.kind for p in self.parameters.parameters.values()]
        self.count = len(kinds)
        plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.is_simple = specs is None and all(kind in plain for kind in kinds)
        self.leading_parameters = (
            0  # parameters before those that `specs` describe: a method's `self`
        )
        if self.specs is not None:
            names = list(self.parameters.parameters)
            self.leading_parameters = int(names[:1] == ["self"] and len(self.specs) < len(names))
            self.check_specs()

    def check_specs(self) -> None:
        """Check `input_signature` against the parameters.

        Raises:
            TypeError: if it does not fit.
        """
        assert self.specs is not None
        for spec in nest.flatten(self.specs):
            if not isinstance(spec, TypeSpec):
                raise TypeError(
                    "tf.function: input_signature must be a sequence of tf.TypeSpec. "
                    f"Received {spec!r}."
                )
        parameters = list(self.parameters.parameters.values())
        positional = [
            p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ][self.leading_parameters :]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        if len(self.specs) > len(positional) and not variadic:
            raise TypeError(
                f"tf.function: input_signature has {len(self.specs)} specs, but the function takes "
                f"{len(positional)} positional arguments."
            )
        for parameter in positional[len(self.specs) :]:
            if parameter.default is parameter.empty:
                raise TypeError(
                    f"tf.function: input_signature has no spec for {parameter.name!r}, which has "
                    "no default. Add a spec for every required argument."
                )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Bind arguments to the parameters."""
        if self.is_simple and not kwargs and len(args) == self.count:
            return Call(args, {}, args)
        bound = bind_arguments(self.parameters, args, kwargs)
        values = bound.args
        if self.specs is not None:
            values = self.cast_to_specs(values)
        return Call(values, bound.kwargs, () if kwargs or self.specs else args)

    def cast_to_specs(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Convert the arguments to the specs of `input_signature`.

        Raises:
            TypeError: if that is impossible.
        """
        assert self.specs is not None
        own = self.leading_parameters
        count = own + len(self.specs)
        if len(values) < count:
            raise TypeError(f"tf.function: expected {count} arguments. Received {len(values)}.")
        given = [cast_structure(spec, v) for spec, v in zip(self.specs, values[own:], strict=False)]
        parameters = list(self.parameters.parameters.values())
        for i, value in enumerate(values[count:], count):
            default = parameters[i].default if i < len(parameters) else inspect.Parameter.empty
            if isinstance(default, Tensor):
                continue
            if type(value) in PLAIN_TYPES and not (
                type(default) in PLAIN_TYPES and value == default
            ):
                raise TypeError(
                    f"Binding inputs to tf.function failed: argument {i} is not described by "
                    f"input_signature. Received {value!r}; only its default may be given."
                )
        return (*values[:own], *given, *values[count:])


def cast_structure(spec: Any, value: Any) -> Any:
    """Convert a value to the structure and specs of `spec`."""
    try:
        return nest.map_structure_up_to(spec, cast_argument, spec, value)
    except ValueError as error:
        raise TypeError(f"Binding inputs to tf.function failed due to `{error}`.") from None


def cast_argument(spec: Any, value: Any) -> Any:
    """Convert one value to `spec`."""
    if not isinstance(spec, TensorSpec) or isinstance(value, TensorSpec):
        if not spec.is_compatible_with(value):
            raise make_mismatch_error(spec, value)
        return value
    try:
        tensor = convert(value, None if isinstance(value, Tensor) else spec.dtype)
    except (TypeError, ValueError):
        raise make_mismatch_error(spec, value) from None
    if tensor.dtype is not spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        raise make_mismatch_error(spec, value)
    return value if variable_of(value) is not None else tensor


def make_mismatch_error(spec: Any, value: Any) -> TypeError:
    """The error for a value that does not fit `input_signature`."""
    return TypeError(
        f"Binding inputs to tf.function failed due to `Can not cast {value!r} to {spec!r}`. Pass "
        "a value that fits input_signature."
    )


def make_weak_reference(thing: Any, callback: Any) -> Any:
    """A weak reference to `thing`, or `thing` itself if its class does not support them."""
    try:
        return weakref.ref(thing, callback)
    except TypeError:
        return thing


def describe_difference(before: tuple[Any, ...], after: tuple[Any, ...]) -> str:
    """Describe to the user how the arguments of two calls differ."""
    if len(before) != len(after):
        return f"{len(before)} values in the arguments became {len(after)}"
    for i, (a, b) in enumerate(zip(before, after, strict=True)):
        if a != b:
            return (
                f"value {i} of the arguments was {format_leaf_key(a)} and is {format_leaf_key(b)}"
            )
    return "the structure of the arguments changed"


def format_leaf_key(part: Any) -> str:
    """The cache key of a leaf as readable text."""
    if isinstance(part, tuple) and len(part) == 2:
        if isinstance(part[0], tuple):
            return f"a tensor of {part[1]}{list(part[0])}"
        if part[0] == "object":
            return "an object known by identity"
        return f"the Python value {part[1]!r}"
    return repr(part)


def bind_arguments(
    parameters: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """Bind arguments to parameters, including defaults.

    Raises:
        TypeError: if they do not fit.
    """
    try:
        bound = parameters.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(
            f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} "
            f"and kwargs: {kwargs} for signature: {parameters}."
        ) from None
    bound.apply_defaults()
    return bound
