"""Signatures: binding the arguments of a call to the parameters of a function."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

from gradtape.core import nest
from gradtape.core.argument import describe
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.ports import devices
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.symbolic_tensor import check_scope
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.devices.array import HOST, NO_FAST_PATH, Device, choose_device
from gradtape.jit.cache_key import PLAIN_TYPES, cache_key, is_array, is_held_weakly, leaf_key
from gradtape.state.variable.argument import make_variable_argument
from gradtape.state.variable.variable import Variable
from gradtape.tape.source import variable_of

FLAT_TYPES = frozenset({EagerTensor, *PLAIN_TYPES})


class Call:
    """The arguments of one call, bound to the parameters.

    Attributes:
        args: positional arguments in the function's order, including defaults.
        kwargs: keyword-only arguments.
        leaves: the flattened arguments, with NumPy arrays converted to tensors.
        key: cache key; equal for calls that may share a trace.
        tensors: the tensors among the leaves, including wrapped iterators.
        variables: the variables among the leaves.
        is_flat: whether all arguments are positional tensors and Python values.
        weak_objects: objects in the key by weak reference; the key is dropped with them.
        device: where the call runs; None for the host, unless a capture is on an accelerator.
    """

    __slots__ = ("args", "device", "is_flat", "key", "kwargs", "leaves", "tensors", "variables")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], captured: Any = ()) -> None:
        """Flatten the arguments and compute the key; see `cache_key` for `captured`."""
        self.is_flat = not kwargs and FLAT_TYPES.issuperset(map(type, args))
        if self.is_flat:
            self.leaves = list(args)
        else:
            kwargs = {name: kwargs[name] for name in sorted(kwargs)}
            self.leaves = nest.flatten((args, kwargs), expand_composites=True)
            arrays = [i for i, leaf in enumerate(self.leaves) if is_unconverted_array(leaf)]
            for i in arrays:
                self.leaves[i] = convert(self.leaves[i])
            if arrays:
                args, kwargs = self.pack((args, kwargs), self.leaves)
        self.args, self.kwargs = args, kwargs
        self.tensors: list[Any] = []
        self.variables: list[Any] = []
        self.key: Any = cache_key(args, kwargs, self.tensors, self.variables, captured)
        self.device: Device | None = None
        if devices.active:
            self.device = call_device(self.leaves)
            self.key = (*self.key, self.device)

    @property
    def weak_objects(self) -> list[Any]:
        """Objects that the key refers to weakly."""
        if self.is_flat:
            return []
        return [leaf for leaf in self.leaves if is_weak_object(leaf)]

    @property
    def leaf_keys(self) -> tuple[Any, ...]:
        """The key of each leaf, for the warning about retracing."""
        return tuple([leaf_key(leaf) for leaf in self.leaves])

    def pack(self, structure: Any, leaves: list[Any]) -> Any:
        """Pack leaves like the arguments, as (args, kwargs)."""
        if self.is_flat:
            return tuple(leaves), {}
        return nest.pack_sequence_as(structure, leaves, expand_composites=True)

    def substitute_tensors(
        self, inputs: Sequence[Tensor], trace: Any, hides_dense_shapes: bool = False
    ) -> tuple[Any, Any]:
        """The arguments with the tensors of a trace, and with aliases of variables.

        With `hides_dense_shapes`, the sizes of sparse tensors are unknown in the trace.
        """
        given = iter(inputs)
        aliases: dict[int, Any] = {}
        leaves = []
        for leaf in self.leaves:
            if isinstance(leaf, Tensor):
                leaf = next(given)
            elif type(leaf) is Variable:
                if leaf._key not in aliases:
                    aliases[leaf._key] = make_variable_argument(leaf)
                leaf = aliases[leaf._key]
            elif hasattr(leaf, "_read_next"):
                trace.represent_iterator(leaf, next(given))
            leaves.append(leaf)
        trace.versions.set_arguments(aliases)
        args, kwargs = self.pack((self.args, self.kwargs), leaves)
        if hides_dense_shapes and not self.is_flat:
            for one in nest.flatten((args, kwargs)):
                if isinstance(one, SparseTensor):
                    one._shape = TensorShape([None] * len(one.shape))
        return args, kwargs

    def tensor_names(self, parameters: list[str]) -> list[str]:
        """A name for each tensor among the leaves: its parameter's, with a number if needed."""
        names: list[str] = []
        used: dict[str, int] = {}
        for i, value in enumerate([*self.args, *self.kwargs.values()]):
            keyword = list(self.kwargs)[i - len(self.args)] if i >= len(self.args) else ""
            base = keyword or parameters[min(i, len(parameters) - 1)]
            leaves = [value]
            if not isinstance(value, Tensor):
                leaves = nest.flatten(value, expand_composites=True)
            for leaf in leaves:
                if isinstance(leaf, Tensor) or hasattr(leaf, "_read_next"):
                    count = used.get(base, 0)
                    used[base] = count + 1
                    names.append(f"{base}_{count}" if count else base)
        return names


def is_unconverted_array(leaf: Any) -> bool:
    """Whether a leaf is a NumPy array or scalar, which the call converts to a tensor."""
    return type(leaf) not in PLAIN_TYPES and not isinstance(leaf, Tensor) and is_array(leaf)


def is_weak_object(leaf: Any) -> bool:
    """Whether the key of a call refers to this leaf weakly."""
    if type(leaf) in PLAIN_TYPES or isinstance(leaf, Tensor) or variable_of(leaf) is not None:
        return False
    return is_held_weakly(leaf)


def call_device(leaves: Sequence[Any]) -> Device | None:
    """The device of a call with these arguments, by the rule of `device.array.target`."""
    if local.device is not None and local.device is not NO_FAST_PATH:
        return local.device
    raws = [leaf._array for leaf in leaves if isinstance(leaf, Tensor)]
    raws += [v._stored_version()._array for v in map(variable_of, leaves) if v is not None]
    device = choose_device(raws)
    return None if device is HOST else device


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

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], captured: Any = ()) -> Call:
        """Bind arguments to the parameters; see `cache_key` for `captured`."""
        if self.is_simple and not kwargs and len(args) == self.count:
            return Call(args, {}, captured)
        bound = bind_arguments(self.parameters, args, kwargs)
        values = bound.args
        if self.specs is not None:
            values = self.cast_to_specs(values)
        return Call(values, bound.kwargs, captured)

    def order_keywords(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Names of keyword arguments in the order in which a bound call has the arguments."""
        places = {
            name: i
            for i, (name, p) in enumerate(self.parameters.parameters.items())
            if p.kind is p.POSITIONAL_OR_KEYWORD
        }
        return tuple(sorted(names, key=lambda name: (places.get(name, len(places)), name)))

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
        parameters = list(self.parameters.parameters.values())
        given = [
            cast_structure(spec, values[i], parameters[min(i, self.count - 1)].name)
            for i, spec in enumerate(self.specs, own)
        ]
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


def cast_structure(spec: Any, value: Any, name: str) -> Any:
    """Convert the argument `name` to the structure and specs of `spec`."""
    try:
        return nest.map_structure_up_to(spec, partial(cast_argument, name), spec, value)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise TypeError(
            f"Binding inputs to tf.function failed due to `{reason}`, for the argument {name!r}. "
            f"Pass a value of the structure {spec!r}."
        ) from None


def cast_argument(name: str, spec: Any, value: Any) -> Any:
    """Convert one value, which is or belongs to the argument `name`, to `spec`."""
    check_scope(value)
    if not isinstance(spec, TensorSpec) or isinstance(value, TensorSpec):
        if not spec.is_compatible_with(value):
            raise make_mismatch_error(name, spec, value)
        return value
    try:
        tensor = convert(value, None if isinstance(value, Tensor) else spec.dtype)
    except (TypeError, ValueError):
        raise make_mismatch_error(name, spec, value) from None
    if tensor.dtype is not spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        raise make_mismatch_error(name, spec, value)
    return value if variable_of(value) is not None else tensor


def make_mismatch_error(name: str, spec: Any, value: Any) -> TypeError:
    """The error for an argument that does not fit `input_signature`."""
    return TypeError(
        f"Binding inputs to tf.function failed due to `Can not cast {describe_value(value)} to "
        f"{spec!r}`, for the argument {name!r}. Pass a value that fits input_signature."
    )


def describe_value(value: Any) -> str:
    """A value for an error message: the spec of a tensor or array, not its content."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return repr(TensorSpec(value.shape, value.dtype))
    return describe(value)


def describe_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The number of the arguments of a call, and what they are."""
    parts = [describe_value(value) for value in args]
    parts += [f"{name}={describe_value(value)}" for name, value in kwargs.items()]
    return f"{len(parts)} arguments ({', '.join(parts)})"


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
            f"Binding inputs to tf.function failed due to `{error}`. Received "
            f"{describe_call(args, kwargs)} for the {len(parameters.parameters)} parameters "
            f"{parameters}."
        ) from None
    bound.apply_defaults()
    return bound


def as_specs(call: Call) -> Any:
    """Arguments of a call, as (args, kwargs), with specs in place of tensors."""

    def leaf(value: Any) -> Any:
        return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value

    if call.is_flat:
        return tuple(map(leaf, call.args)), {}
    return nest.map_structure(leaf, (call.args, call.kwargs))
