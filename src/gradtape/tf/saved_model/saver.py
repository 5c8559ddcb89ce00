"""Saves a model: its objects, their functions and its signatures."""

from __future__ import annotations

import itertools
import os
import shutil
from typing import Any

import numpy as np

from gradtape.core.errors import UnimplementedError, public
from gradtape.core.lazy_array import materialize
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
from gradtape.tf.saved_model.checksum import VERSION
from gradtape.tf.saved_model.constant_pool import ConstantPool, unpack_constants
from gradtape.tf.saved_model.failure import CannotSave, MalformedModel
from gradtape.tf.saved_model.function_export import export_function, export_signature
from gradtape.tf.saved_model.graph_function import GraphFunction, is_stream
from gradtape.tf.saved_model.limit import check_limits
from gradtape.tf.saved_model.model_check import CheckpointContents, ModelChecker
from gradtape.tf.saved_model.model_tree import (
    describe_variable,
    encode_arguments,
    encode_parameter,
    encode_stream,
    has_named_results,
    name_arguments,
    name_results,
)
from gradtape.tf.saved_model.node_encoder import Encoder, refuse_object
from gradtape.tf.saved_model.options import SaveOptions
from gradtape.tf.saved_model.restored_function import RestoredConcrete, RestoredFunction
from gradtape.tf.saved_model.variant import Variant

DEFAULT_SIGNATURE = "serving_default"


@public
def save(
    obj: Any, export_dir: Any, signatures: Any = None, options: SaveOptions | None = None
) -> None:
    """Save an object with its variables and functions, so that it runs without its Python code.

    A function with an `input_signature` is saved for that signature. Other functions are saved for
    the arguments of earlier calls.

    Args:
        obj: a module, model or other trackable object.
        export_dir: a directory, which is created if it is missing.
        signatures: a `tf.function` with an `input_signature`, a concrete function, or a dict of
            these by name. By default, the only function of the object with an `input_signature`.
        options: a SaveOptions.

    Returns:
        None.

    Raises:
        ValueError: if `obj` is not trackable, or the arguments of a signature are not known.
        AssertionError: if a function uses a variable that is not part of `obj`.
        UnimplementedError: if a function cannot be saved; the message says why.

    Note:
        TensorFlow cannot read the graphs, which consist of gradtape's ops. It can read the
        variables, which are a checkpoint.

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
    pool = ConstantPool()
    packed = saver.encode_model(signatures, options or SaveOptions(), pool)
    with translate_os_errors(directory):
        os.makedirs(os.path.join(directory, file_layout.ASSETS), exist_ok=True)
        os.makedirs(os.path.dirname(os.path.join(directory, file_layout.VARIABLES)), exist_ok=True)
        for path, name in saver.assets.items():
            shutil.copyfile(path, os.path.join(directory, file_layout.ASSETS, name))
    file_layout.write_model(directory, packed, pool, saver.tensors, saver.assets.values())


class Saver:
    """Encodes the objects below a root.

    Attributes:
        tensors: the values of variables, by key.
        keys: for each object, the key of its value, or "".
        variables: numbers of the variables, by the variable's own key.
        tables: entries of all tables.
        assets: names of asset files, by path.
        asset_tensors: numbers of the assets, by the uid of their tensor.
        functions: all functions; `function_numbers` has their numbers by id.
        variants: the variants of each function, by id.
    """

    def __init__(self, root: Any) -> None:
        """Walk the objects below `root`."""
        self.walk = ObjectWalk(root, {}, "savedmodel")
        self.tensors, self.keys = collect_tensors_and_keys(self.walk)
        self.variables: dict[int, int] = {}
        self.tables: list[TableEntries] = []
        self.assets: dict[str, str] = {}
        self.asset_tensors: dict[int, int] = {}
        self.functions: list[Any] = []
        self.function_numbers: dict[int, int] = {}
        self.variants: dict[int, list[Variant]] = {}
        for i, value in enumerate(self.walk.objects):
            variable = variable_of(value)
            if variable is not None:
                self.variables.setdefault(variable._key, i)
            if isinstance(value, Asset):
                self.asset_tensors[value.asset_path.uid] = i

    def encode_model(self, signatures: Any, options: SaveOptions, pool: ConstantPool) -> Any:
        """The model without its variables, as a tree that JSON holds; its arrays go to `pool`.

        Raises:
            UnimplementedError: if the tree is not what the loader accepts.
        """
        chosen = self.choose_signatures(signatures)
        try:
            objects = [self.encode_object(i, value) for i, value in enumerate(self.walk.objects)]
            aliases = {n: self.add_function(f) for n, f in options.function_aliases.items()}
            model = {
                "version": VERSION,
                "objects": objects,
                "functions": [self.encode_function(f) for f in self.functions],
                "aliases": aliases,
                "signatures": {name: self.encode_signature(f) for name, f in chosen.items()},
                "tables": [self.encode_entries(entries) for entries in self.tables],
            }
            packed = pool.pack(model)
            check_limits(packed)
            ModelChecker(
                unpack_constants(packed, pool.arrays), CheckpointContents(self.tensors)
            ).check()
        except (CannotSave, MalformedModel) as error:
            raise UnimplementedError(
                f"saved_model.save: the object cannot be saved: {error}."
            ) from None
        return packed

    def encode_object(self, i: int, value: Any) -> dict[str, Any]:
        """An object: its kind, its children and its parts."""
        tree: dict[str, Any] = {"children": self.walk.children[i]}
        variable = variable_of(value)
        if variable is not None:
            return tree | {"kind": "variable", "key": self.keys[i]} | describe_variable(variable)
        if is_saved_function(value):
            return tree | {"kind": "function", "function": self.add_function(value)}
        if isinstance(value, Asset):
            return tree | {"kind": "asset", "file": self.add_asset(value)}
        if isinstance(value, LookupTable):
            return tree | {
                "kind": "table",
                "keys": value.key_dtype.name,
                "values": value.value_dtype.name,
                "table": self.add_table(value._entries),
                "default": Encoder().encode(value._default),
                "static": type(value).__name__ == "StaticHashTable",
            }
        if isinstance(value, dict):
            return tree | {"kind": "dict"}
        if isinstance(value, (list, tuple)):
            return tree | {"kind": "list"}
        return tree | {"kind": "object"}

    def add_function(self, function: Any) -> int:
        """The number of a function, which is added if it is new."""
        if id(function) not in self.function_numbers:
            self.function_numbers[id(function)] = len(self.functions)
            self.functions.append(function)
        return self.function_numbers[id(function)]

    def add_asset(self, asset: Asset) -> str:
        """The name of an asset file; two files of the same name get different ones."""
        path = asset.path
        if path not in self.assets:
            base = os.path.basename(path)
            safe = "".join(c if c.isprintable() and c not in "/\\:" else "_" for c in base)
            stem, end = os.path.splitext(safe)
            names = (f"{stem}{f'_{i}' if i else ''}{end}" for i in itertools.count())
            self.assets[path] = next(n for n in names if n not in self.assets.values())
        return self.assets[path]

    def add_table(self, value: Any) -> int:
        """The number of the entries of a table, which are added if they are new.

        Raises:
            CannotSave: if `value` is something else.
        """
        if not isinstance(value, TableEntries):
            refuse_object(value)
        for i, known in enumerate(self.tables):
            if known is value:
                return i
        self.tables.append(value)
        return len(self.tables) - 1

    def encode_entries(self, entries: TableEntries) -> dict[str, Any]:
        """The entries of a table."""
        encoder = Encoder()
        held = dict(entries.values_by_key)
        values = entries.to_array(list(held.values()), (len(held),))
        return {
            "dtype": encoder.encode(np.dtype(entries.dtype)),
            "row": list(entries.row_shape),
            "keys": encoder.encode(list(held)),
            "values": np.asarray(values),
            "ready": entries.is_filled,
        }

    def encode_function(self, function: Any) -> dict[str, Any]:
        """A function with all its variants."""
        if isinstance(function, ConcreteFunction):
            parameters, specs = function._function._signature.parameters, None
        elif isinstance(function, RestoredConcrete):
            parameters, specs = function._parameters, None
        else:
            parameters, specs = function._signature.parameters, function.input_signature
        return {
            "name": function.name,
            "parameters": [encode_parameter(p) for p in parameters.parameters.values()],
            "input_signature": encode_arguments(specs),
            "variants": [self.encode_variant(v) for v in self.variants_of(function)],
        }

    def variants_of(self, function: Any) -> list[Variant]:
        """The variants as which a function is saved."""
        if isinstance(function, RestoredFunction):
            return function.variants
        if isinstance(function, RestoredConcrete):
            return [function.variant]
        found = self.variants.get(id(function))
        if found is None:
            if isinstance(function, ConcreteFunction):
                owner, args, kwargs = function._function, function._args, function._kwargs
                found = [export_signature(owner, args, kwargs, self.add_table)]
            else:
                found = export_function(function, self.add_table)
            self.variants[id(function)] = found
        return found

    def encode_variant(self, variant: Variant) -> dict[str, Any]:
        """A function for one signature."""
        return {
            "arguments": encode_arguments(variant.arguments),
            "returned": variant.returned,
            "programs": [
                [list(ranks), self.encode_graph(graph, variant.name)]
                for ranks, graphs in variant.graphs.items()
                for graph in graphs
            ],
        }

    def encode_graph(self, graph: GraphFunction, name: str) -> dict[str, Any]:
        """A graph, and where its captures, variables and tables are."""
        states: list[dict[str, Any]] = []
        for variable in graph.states:
            if is_stream(variable):
                states.append({"stream": encode_stream(variable)})
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
            for tensor in graph.captures
        ]
        tables = [self.add_table(entries) for entries in graph.tables]
        return {"graph": graph.tree, "captures": captures, "states": states, "tables": tables}

    def choose_signatures(self, signatures: Any) -> dict[str, Any]:
        """The functions of the signatures, by name."""
        if signatures is None:
            chosen = self.find_default_signature()
            return {} if chosen is None else {DEFAULT_SIGNATURE: chosen}
        if not isinstance(signatures, dict):
            signatures = {DEFAULT_SIGNATURE: signatures}
        for name, function in signatures.items():
            if not isinstance(name, str):
                raise ValueError(f"Signature keys must be strings. Received {name!r}.")
            if not is_saved_function(function) or not has_one_signature(function):
                raise ValueError(
                    "Expected a TensorFlow function for which to generate a signature, but got "
                    f"{function!r}. Only `tf.functions` with an input signature or concrete "
                    "functions can be used as a signature."
                )
        return dict(signatures)

    def find_default_attribute(self) -> Any:
        """The function that Keras marks as the default signature, or None."""
        number = dict(self.walk.children[0]).get(DEFAULT_SIGNATURE_ATTRIBUTE)
        return None if number is None else self.walk.objects[number]

    def find_default_signature(self) -> Any:
        """The default signature: the only function that can be one, or None."""
        marked = self.find_default_attribute()
        if marked is not None:
            return marked
        found = [self.walk.objects[number] for _, number in self.walk.children[0]]
        definite = [f for f in found if is_saved_function(f) and has_one_signature(f)]
        variants = [(f, self.variants_of(f)[0]) for f in dict.fromkeys(definite)]
        named = [f for f, one in variants if one.returned is not None and has_named_results(one)]
        return named[0] if len(named) == 1 else None

    def encode_signature(self, function: Any) -> dict[str, Any]:
        """A signature: names of its arguments, and a variant with named results."""
        (variant,) = self.variants_of(function)
        if not has_named_results(variant):
            raise ValueError(
                f"saved_model.save: {variant.name} cannot be a signature: its result must "
                "be a tensor, a list or tuple of tensors, or a dict from strings to tensors. "
                f"Received {variant.returned}."
            )
        return self.encode_variant(variant) | {
            "name": variant.name,
            "names": name_arguments(variant),
            "returned": {"$dict": [[k, v] for k, v in name_results(variant.returned).items()]},
        }


def has_one_signature(function: Any) -> bool:
    """Whether the arguments of a function are known."""
    if isinstance(function, (ConcreteFunction, RestoredConcrete)):
        return True
    return function.input_signature is not None
