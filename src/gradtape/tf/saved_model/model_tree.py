"""Parts of the tree of a model: variables, parameters, arguments and signatures."""

from __future__ import annotations

import inspect
import itertools
import re
from keyword import iskeyword
from typing import Any

from gradtape.core import nest
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.jit.argument_match import leaves_of
from gradtape.tf.saved_model.failure import CannotSave
from gradtape.tf.saved_model.node_encoder import SIMPLE_ENCODERS, Encoder, encode_shape
from gradtape.tf.saved_model.variant import Variant


def describe_variable(variable: Any) -> dict[str, Any]:
    """The properties of a variable."""
    return {
        "name": variable.name.removesuffix(":0"),
        "dtype": variable.dtype.name,
        "shape": encode_shape(variable.shape),
        "trainable": bool(variable.trainable),
        "synchronization": variable.synchronization.name,
        "aggregation": variable.aggregation.name,
    }


def encode_stream(variable: Any) -> dict[str, Any]:
    """The stream of a random op: its seeds; `high` is None if it has no seed."""
    key, high = variable.pair
    has_seed = variable.kind[1] is not None or variable.kind[2] is not None
    return {"key": str(key), "high": str(high) if has_seed else None}


def encode_parameter(parameter: inspect.Parameter) -> list[Any]:
    """A parameter of a function: its name, its kind, and its default if that is a plain value."""
    default: Any = []
    if parameter.default is not parameter.empty:
        try:
            default = [Encoder().encode(parameter.default)]
        except CannotSave:
            default = []
    return [parameter.name, int(parameter.kind), default]


def encode_arguments(arguments: Any) -> Any:
    """The arguments of a call, with specs in place of tensors."""
    encode = Encoder().encode
    if isinstance(arguments, TypeSpec):
        if type(arguments) in SIMPLE_ENCODERS:
            return SIMPLE_ENCODERS[type(arguments)](arguments)
        if hasattr(arguments, "ragged_rank"):
            shape, dtype, rank, splits = arguments._serialize()[:4]
            return {"$raggedspec": [encode_shape(shape), dtype.name, rank, splits.name]}
        if isinstance(arguments, SparseTensorSpec):
            return {"$sparsespec": [encode_shape(arguments.shape), arguments.dtype.name]}
        raise CannotSave(f"an argument has the type {type(arguments).__name__}")
    if isinstance(arguments, dict):
        return {"$dict": [[encode(k), encode_arguments(v)] for k, v in arguments.items()]}
    if isinstance(arguments, (list, tuple)):
        kind = "$list" if isinstance(arguments, list) else "$tuple"
        return {kind: [encode_arguments(v) for v in arguments]}
    return encode(arguments)


def as_parameter_name(name: str) -> str:
    """A name that a parameter can have, made of the name of a spec as TensorFlow does."""
    safe = re.sub(r"\W", "_", name)
    safe = safe if safe[:1].isalpha() or safe.startswith("_") else f"arg_{safe}"
    return f"{safe}_" if iskeyword(safe) else safe


def name_arguments(variant: Variant) -> list[str]:
    """A different name for each tensor among the arguments: that of its spec, or numbered."""
    names: list[str] = []
    for leaf in leaves_of(variant.arguments):
        if isinstance(leaf, TensorSpec):
            name = as_parameter_name(leaf.name or "args")
            numbered = (f"{name}_{i}" if i else name for i in itertools.count())
            names.append(next(n for n in numbered if n not in names))
    return names


def name_results(returned: Any) -> dict[str, Any]:
    """The results of a function by name, as a signature returns them."""
    if isinstance(returned, dict) and "$dict" in returned:
        return dict(returned["$dict"])
    if isinstance(returned, dict) and ("$list" in returned or "$tuple" in returned):
        ((_, inner),) = returned.items()
        return {f"output_{i}": one for i, one in enumerate(inner)}
    return {} if returned is None else {"output_0": returned}


def has_named_results(variant: Variant) -> bool:
    """Whether the results can be named, so that the function can be a signature."""
    named = name_results(variant.returned)
    specs = nest.flatten(variant.arguments)
    return all(
        isinstance(name, str) and isinstance(one, dict) and "$result" in one
        for name, one in named.items()
    ) and all(isinstance(s, TensorSpec) or not isinstance(s, TypeSpec) for s in specs)
