"""Saving a model: its objects, their functions and what these are served as."""

from __future__ import annotations

import inspect
import itertools
import os
import shutil
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.errors import UnimplementedError, public
from gradtape.core.lazy_array import materialize
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.files.access import as_path, translate_os_errors
from gradtape.jit.concrete_function import ConcreteFunction
from gradtape.state.checkpoint.object_graph import ObjectWalk, collect_tensors_and_keys
from gradtape.state.checkpoint.trackable import (
    DEFAULT_SIGNATURE_ATTRIBUTE,
    Trackable,
    is_saved_function,
)
from gradtape.state.hash_table import LookupTable, TableEntries
from gradtape.tape.source import variable_of
from gradtape.tf.saved_model import file_layout
from gradtape.tf.saved_model.asset import Asset
from gradtape.tf.saved_model.function_export import variant_of, variants_of
from gradtape.tf.saved_model.graph_function import Program, Variant, is_stream, leaves_of
from gradtape.tf.saved_model.node_encoder import SIMPLE, CannotSave, Encoder
from gradtape.tf.saved_model.options import SaveOptions
from gradtape.tf.saved_model.restored_function import RestoredConcrete, RestoredFunction

DEFAULT = "serving_default"


@public
def save(
    obj: Any, export_dir: Any, signatures: Any = None, options: SaveOptions | None = None
) -> None:
    """Save an object with its variables and functions, so that it runs without its Python.

    Functions with an `input_signature` are saved for that; others for what they were called with
    before. The format is gradtape's own: see the note.

    Args:
        obj: a module, model or other trackable object.
        export_dir: a directory, made if need be.
        signatures: a `tf.function` with an `input_signature`, a concrete function, or a dict of
            them by name: what is to be served. By default the only function of the object with an
            `input_signature`.
        options: a SaveOptions.

    Raises:
        ValueError: if `obj` is no trackable object, or a signature no function of known arguments.
        AssertionError: if a function uses a variable that is not part of `obj`.
        UnimplementedError: if a function cannot be saved; the message says for the sake of what.

    Note:
        TensorFlow cannot read what is written: the graphs are gradtape's. The variables are a
        checkpoint that it can read.

    Example:
        >>> import tempfile
        >>> module, path = tf.Module(), tempfile.mkdtemp()
        >>> module.by = tf.Variable(2.0)
        >>> @tf.function(input_signature=[tf.TensorSpec([None])])
        ... def scale(x):
        ...     return x * module.by
        >>> module.scale = scale
        >>> tf.saved_model.save(module, path)
        >>> tf.saved_model.load(path).scale(tf.constant([1.0, 2.0, 3.0])).numpy()
        array([2., 4., 6.], dtype=float32)
    """
    if not isinstance(obj, Trackable):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the "
            f"`Trackable` class, for export. Got {obj!r} with type {type(obj)}."
        )
    directory = as_path(export_dir)
    saver = Saver(obj)
    model = saver.model(signatures, options or SaveOptions())
    with translate_os_errors(directory):
        os.makedirs(os.path.join(directory, file_layout.ASSETS), exist_ok=True)
        os.makedirs(os.path.join(directory, "variables"), exist_ok=True)
        for path, name in saver.assets.items():
            shutil.copyfile(path, os.path.join(directory, file_layout.ASSETS, name))
    tensors, _ = saver.values
    file_layout.write(directory, model, tensors)


class Saver:
    """A model on its way to files."""

    def __init__(self, root: Any) -> None:
        """Walk the objects below `root`."""
        self.walk = ObjectWalk(root, {}, "savedmodel")
        self.values = collect_tensors_and_keys(self.walk)
        self.numbers = {id(value): i for i, value in enumerate(self.walk.objects)}
        self.variables: dict[int, int] = {}
        self.tables: list[TableEntries] = []
        self.assets: dict[str, str] = {}  # names by path
        self.asset_tensors: dict[int, int] = {}
        self.functions: list[Any] = []
        self.known: dict[int, int] = {}  # functions by id
        self.variants: dict[Any, list[Variant]] = {}
        for i, value in enumerate(self.walk.objects):
            variable = variable_of(value)
            if variable is not None:
                self.variables.setdefault(variable._key, i)
            if isinstance(value, Asset):
                self.asset_tensors[value.asset_path.uid] = i

    def model(self, signatures: Any, options: SaveOptions) -> dict[str, Any]:
        """Everything but the variables, as a tree."""
        served = self.served(signatures)
        objects = [self.object(i, value) for i, value in enumerate(self.walk.objects)]
        aliases = {name: self.number(f) for name, f in options.function_aliases.items()}
        functions = [self.function(f) for f in self.functions]
        return {
            "objects": objects,
            "functions": functions,
            "aliases": aliases,
            "signatures": {name: self.signature(f) for name, f in served.items()},
            "tables": [self.table(entries) for entries in self.tables],
        }

    def object(self, i: int, value: Any) -> dict[str, Any]:
        """An object: its kind, its children, and what it is made with."""
        tree: dict[str, Any] = {"children": self.walk.children[i]}
        variable = variable_of(value)
        if variable is not None:
            return tree | {"kind": "variable", "key": self.values[1][i]} | facts_of(variable)
        if is_saved_function(value):
            return tree | {"kind": "function", "function": self.number(value)}
        if isinstance(value, Asset):
            return tree | {"kind": "asset", "file": self.asset(value)}
        if isinstance(value, LookupTable):
            shape = {"keys": value.key_dtype.name, "values": value.value_dtype.name}
            default = Encoder([], self.refused).value(value._default)
            number = self.entries(value._entries)
            static = type(value).__name__ == "StaticHashTable"
            return (
                tree
                | shape
                | {
                    "kind": "table",
                    "table": number,
                    "default": default,
                    "static": static,
                }
            )
        if isinstance(value, dict):
            return tree | {"kind": "dict"}
        if isinstance(value, (list, tuple)):
            return tree | {"kind": "list"}
        return tree | {"kind": "object"}

    def number(self, function: Any) -> int:
        """The number of a function."""
        if id(function) not in self.known:
            self.known[id(function)] = len(self.functions)
            self.functions.append(function)
        return self.known[id(function)]

    def asset(self, asset: Asset) -> str:
        """The name of a file among the assets; two of one name get different ones."""
        path = asset.path
        if path not in self.assets:
            stem, end = os.path.splitext(os.path.basename(path))
            names = (f"{stem}{f'_{i}' if i else ''}{end}" for i in itertools.count())
            self.assets[path] = next(n for n in names if n not in self.assets.values())
        return self.assets[path]

    def entries(self, value: Any) -> int:
        """The number of what a table holds.

        Raises:
            CannotSave: if it is something else.
        """
        if not isinstance(value, TableEntries):
            self.refused(value)
        for i, known in enumerate(self.tables):
            if known is value:
                return i
        self.tables.append(value)
        return len(self.tables) - 1

    def refused(self, value: Any) -> Any:
        """Something has no place in a file."""
        raise CannotSave(f"a {type(value).__name__}")

    def table(self, entries: TableEntries) -> dict[str, Any]:
        """What a table holds."""
        encoder = Encoder([], self.refused)
        held = dict(entries.values_by_key)
        return {
            "dtype": encoder.value(entries.dtype),
            "row": list(entries.row_shape),
            "keys": encoder.value(list(held)),
            "values": encoder.value(entries.to_array(list(held.values()), (len(held),))),
            "ready": entries.is_filled,
        }

    def function(self, function: Any) -> dict[str, Any]:
        """A function with all its variants."""
        if isinstance(function, ConcreteFunction):
            parameters = function._function._signature.parameters
            specs, name = None, function.name
        elif isinstance(function, RestoredConcrete):
            parameters, specs, name = function._parameters, None, function.name
        elif isinstance(function, RestoredFunction):
            parameters, specs, name = (
                function.parameters,
                function.input_signature,
                function.name,
            )
        else:
            parameters = function._signature.parameters
            specs, name = function.input_signature, function.name
        encoder = Encoder([], self.refused)
        return {
            "name": name,
            "parameters": [parameter_tree(p, encoder) for p in parameters.parameters.values()],
            "input_signature": arguments_tree(specs, encoder),
            "variants": [self.variant(v) for v in self.variants_of(function)],
        }

    def variants_of(self, function: Any) -> list[Variant]:
        """What a function is saved as."""
        if isinstance(function, RestoredFunction):
            return function.variants
        if isinstance(function, RestoredConcrete):
            return [function.variant]
        if isinstance(function, ConcreteFunction):
            key: Any = id(function)
            if key not in self.variants:
                owner = function._function
                self.variants[key] = [
                    variant_of(owner, function._args, function._kwargs, self.entries)
                ]
            return self.variants[key]
        if id(function) not in self.variants:
            self.variants[id(function)] = self.batched(function) or variants_of(
                function, self.entries
            )
        return self.variants[id(function)]

    def batched(self, function: Any) -> list[Variant]:
        """What a Keras model serves by default, for batches of any size.

        Keras remembers the shapes that a layer was built with. TensorFlow builds on batches of
        unknown size where gradtape's are known, as in `fit`.
        """
        children = dict(self.walk.children[0])
        if (
            DEFAULT_SIGNATURE_ATTRIBUTE not in children
            or self.walk.objects[children[DEFAULT_SIGNATURE_ATTRIBUTE]] is not function
        ):
            return []
        specs = nest.flatten(function.input_signature)
        if any(s.shape.rank in (None, 0) or s.shape[0] is None for s in specs):
            return []
        args = nest.map_structure(any_batch, tuple(function.input_signature))
        try:
            return [variant_of(function, args, {}, self.entries)]
        except UnimplementedError:
            return []

    def variant(self, variant: Variant) -> dict[str, Any]:
        """A function for one signature."""
        return {
            "arguments": arguments_tree(variant.arguments, Encoder([], self.refused)),
            "returned": variant.returned,
            "programs": [
                [list(ranks), self.program(p, variant.function.name)]
                for ranks, p in variant.programs.items()
            ],
        }

    def program(self, program: Program, name: str) -> dict[str, Any]:
        """A graph, and where what it reads from outside is found."""
        states: list[dict[str, Any]] = []
        for variable in program.states:
            if is_stream(variable):
                states.append({"stream": stream_tree(variable)})
            elif variable._key in self.variables:
                states.append({"object": self.variables[variable._key]})
            else:
                raise AssertionError(
                    "Tried to export a function which references an 'untracked' resource. "
                    "TensorFlow objects (e.g. tf.Variable) captured by functions must be 'tracked' "
                    "by assigning them to an attribute of a tracked object or assigned to an "
                    f"attribute of the main object directly. The function {name} uses the variable "
                    f"{variable.name!r} of shape {variable.shape}, which is not part of the object."
                )
        captures = [
            {"asset": self.asset_tensors[tensor.uid]}
            if tensor.uid in self.asset_tensors
            else np.asarray(materialize(tensor._array))
            for tensor in program.captures
        ]
        tables = [self.entries(entries) for entries in program.tables]
        return {"graph": program.tree, "captures": captures, "states": states, "tables": tables}

    def served(self, signatures: Any) -> dict[str, Any]:
        """The functions to be served, by name."""
        if signatures is None:
            chosen = self.default()
            return {} if chosen is None else {DEFAULT: chosen}
        if not isinstance(signatures, dict):
            signatures = {DEFAULT: signatures}
        for name, function in signatures.items():
            if not isinstance(name, str):
                raise ValueError(f"Signature keys must be strings. Received {name!r}.")
            if not is_saved_function(function) or not self.is_definite(function):
                raise ValueError(
                    "Expected a TensorFlow function for which to generate a signature, but got "
                    f"{function!r}. Only `tf.functions` with an input signature or concrete "
                    "functions can be used as a signature."
                )
        return dict(signatures)

    def is_definite(self, function: Any) -> bool:
        """Whether a function takes one kind of arguments."""
        if isinstance(function, (ConcreteFunction, RestoredConcrete)):
            return True
        return function.input_signature is not None

    def default(self) -> Any:
        """What is served if nobody says what: the only function that can be, if there is one."""
        children = dict(self.walk.children[0])
        if DEFAULT_SIGNATURE_ATTRIBUTE in children:
            return self.walk.objects[children[DEFAULT_SIGNATURE_ATTRIBUTE]]
        found = [self.walk.objects[number] for number in children.values()]
        definite = [f for f in found if is_saved_function(f) and self.is_definite(f)]
        variants = [(f, self.variants_of(f)[0]) for f in definite]
        named = [f for f, one in variants if one.returned is not None and servable(one)]
        return named[0] if len(named) == 1 else None

    def signature(self, function: Any) -> dict[str, Any]:
        """A function to be served: names of its arguments, and the variant with named results."""
        (variant,) = self.variants_of(function)
        if not servable(variant):
            raise ValueError(
                f"saved_model.save: {variant.function.name} cannot be served: its result must be "
                f"tensors, a list or tuple of them, or a dict by name. Received {variant.returned}."
            )
        tree = self.variant(variant)
        return tree | {
            "name": variant.function.name,
            "names": argument_names(variant),
            "returned": {"$dict": [[k, v] for k, v in named_results(variant.returned).items()]},
        }


def any_batch(spec: TensorSpec) -> TensorSpec:
    """A spec with a first axis of unknown size."""
    return TensorSpec([None, *spec.shape.as_list()[1:]], spec.dtype, spec.name)


def facts_of(variable: Any) -> dict[str, Any]:
    """What a variable is made with."""
    shape = variable.shape
    return {
        "name": variable.name.removesuffix(":0"),
        "dtype": variable.dtype.name,
        "shape": shape.as_list() if shape.rank is not None else None,
        "trainable": bool(variable.trainable),
        "synchronization": variable.synchronization.name,
        "aggregation": variable.aggregation.name,
    }


def stream_tree(variable: Any) -> dict[str, Any]:
    """The stream of a random op: its seeds, if it has any."""
    key, high = variable.pair
    seeded = variable.kind[1] is not None or variable.kind[2] is not None
    return {"key": str(key), "high": str(high) if seeded else None}


def parameter_tree(parameter: inspect.Parameter, encoder: Encoder) -> list[Any]:
    """A parameter of a function: its name, its kind, and its default if it is a plain value."""
    default: Any = []
    if parameter.default is not parameter.empty:
        try:
            default = [encoder.value(parameter.default)]
        except CannotSave:
            default = []
    return [parameter.name, int(parameter.kind), default]


def arguments_tree(arguments: Any, encoder: Encoder) -> Any:
    """The arguments of a call as a tree."""
    if isinstance(arguments, TypeSpec):
        if type(arguments) in SIMPLE:
            return SIMPLE[type(arguments)](arguments)
        if hasattr(arguments, "ragged_rank"):
            shape, dtype, rank, splits = arguments._serialize()[:4]
            sizes = shape.as_list() if shape.rank is not None else None
            return {"$raggedspec": [sizes, dtype.name, rank, splits.name]}
        raise CannotSave(f"an argument of the type {type(arguments).__name__}")
    if isinstance(arguments, dict):
        items = [[encoder.value(k), arguments_tree(v, encoder)] for k, v in arguments.items()]
        return {"$dict": items}
    if isinstance(arguments, (list, tuple)):
        kind = "$list" if isinstance(arguments, list) else "$tuple"
        return {kind: [arguments_tree(v, encoder) for v in arguments]}
    return encoder.value(arguments)


def argument_names(variant: Variant) -> list[str]:
    """A name for each tensor among the arguments: its spec's, numbered if there are more."""
    names: list[str] = []
    for leaf in leaves_of(variant.arguments):
        if isinstance(leaf, TensorSpec):
            name = leaf.name or "args"
            taken = (f"{name}_{i}" if i else name for i in itertools.count())
            names.append(next(n for n in taken if n not in names))
    return names


def named_results(returned: Any) -> dict[str, Any]:
    """The results of a function by name, as a server wants them."""
    if isinstance(returned, dict) and "$dict" in returned:
        return dict(returned["$dict"])
    if isinstance(returned, dict) and ("$list" in returned or "$tuple" in returned):
        ((_, inside),) = returned.items()
        return {f"output_{i}": one for i, one in enumerate(inside)}
    return {} if returned is None else {"output_0": returned}


def servable(variant: Variant) -> bool:
    """Whether the results can be named."""
    named = named_results(variant.returned)
    specs = nest.flatten(variant.arguments)
    return all(
        isinstance(name, str) and isinstance(one, dict) and "$result" in one
        for name, one in named.items()
    ) and all(isinstance(s, TensorSpec) or not isinstance(s, TypeSpec) for s in specs)
