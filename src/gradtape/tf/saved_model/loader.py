"""Loads a saved model: objects with variables, and functions that run without their Python code."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gradtape.core.dtypes import as_dtype
from gradtape.core.enums import VariableAggregation, VariableSynchronization
from gradtape.core.errors import DataLossError, UnimplementedError, public
from gradtape.core.tensor import make_tensor
from gradtape.files.access import as_path
from gradtape.state.checkpoint.trackable import AutoTrackable, ListWrapper, _DictWrapper
from gradtape.state.hash_table import LookupTable, TableEntries
from gradtape.state.random.function_stream import make_stream_variable
from gradtape.state.random.seed import random_seed_pair
from gradtape.state.variable.variable import Variable
from gradtape.tf.api.version import GIT_VERSION, VERSION
from gradtape.tf.lookup.experimental import MutableHashTable
from gradtape.tf.lookup.hash_table import StaticHashTable
from gradtape.tf.saved_model import file_layout
from gradtape.tf.saved_model.asset import Asset
from gradtape.tf.saved_model.failure import MalformedModel
from gradtape.tf.saved_model.graph_function import GraphFunction
from gradtape.tf.saved_model.model_check import ModelChecker
from gradtape.tf.saved_model.options import LoadOptions
from gradtape.tf.saved_model.restored_function import RestoredFunction, Signature, _SignatureMap
from gradtape.tf.saved_model.variant import Variant


@public
def contains_saved_model(export_dir: Any) -> bool:
    """Whether a directory holds a saved model, gradtape's or TensorFlow's.

    Args:
        export_dir: a path.

    Returns:
        A bool.
    """
    directory = as_path(export_dir)
    names = (file_layout.MODEL, *file_layout.TENSORFLOW_MODELS)
    return any(os.path.isfile(os.path.join(directory, name)) for name in names)


@public
def load(export_dir: Any, tags: Any = None, options: LoadOptions | None = None) -> Any:
    """Load a model that `tf.saved_model.save` saved.

    The files are checked before anything is built from them. Loading runs none of the model's
    functions. Calling them opens no files, starts no processes and runs no Python code.

    Args:
        export_dir: the directory.
        tags: has no effect here.
        options: a LoadOptions.

    Returns:
        An object with the attributes of the saved object: variables, lists, dicts, other objects,
        and functions, which take the arguments that they were saved for. Its attribute
        `signatures` maps names to signatures.

    Raises:
        OSError: if there is no saved model.
        UnimplementedError: if TensorFlow wrote it.
        DataLossError: if its files are damaged, or have another version of the format.
    """
    directory = as_path(export_dir)
    if not os.path.isfile(os.path.join(directory, file_layout.MODEL)):
        raise explain_missing_model(directory)
    try:
        return Loader(directory, options or LoadOptions()).root
    except MalformedModel as error:
        raise DataLossError(
            f"saved_model.load: {directory} is damaged, or is not a model of this version of "
            f"gradtape: {error}."
        ) from None


def explain_missing_model(directory: str) -> Exception:
    """Why a directory has no model of gradtape."""
    for name in file_layout.TENSORFLOW_MODELS:
        if os.path.isfile(os.path.join(directory, name)):
            return UnimplementedError(
                f"saved_model.load: {os.path.join(directory, name)} holds a graph of "
                "TensorFlow's ops, which gradtape cannot run. Read its variables with "
                f"tf.train.Checkpoint(...).restore({directory!r}) on objects of the same "
                "structure, or with tf.train.load_checkpoint of variables/variables in it. A Keras "
                "model is better saved as a .keras file, which gradtape reads."
            )
    return OSError(
        f"SavedModel file does not exist at: {directory}/{{saved_model.pbtxt|saved_model.pb}}, "
        f"nor is there a {file_layout.MODEL}."
    )


class UserObject(AutoTrackable):
    """An object of a loaded model."""


def call_saved_function(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function that was `__call__` of the saved object."""
    return vars(self)["__call__"](*args, **kwargs)


class Loader:
    """Builds the objects of a model from its files."""

    def __init__(self, directory: str, options: LoadOptions) -> None:
        """Read and check the files, then build the objects.

        Raises:
            MalformedModel: if the files are not what the format allows.
        """
        self.files = file_layout.ModelFiles(directory)
        self.model = self.files.tree
        self.skips_values = options.experimental_skip_checkpoint
        self.checker = ModelChecker(self.model, self.files.variables)
        self.checker.check()
        assets = [tree["file"] for tree in self.model["objects"] if tree["kind"] == "asset"]
        self.assets = {name: self.files.asset_path(name) for name in assets}
        self.tables = [self.build_entries(tree) for tree in self.model["tables"]]
        self.objects = [self.build_object(tree) for tree in self.model["objects"]]
        self.connect()
        self.add_attributes(options)

    def connect(self) -> None:
        """Build the functions, which use other objects, and give objects their children."""
        for i, tree in enumerate(self.model["objects"]):
            if tree["kind"] == "function":
                self.objects[i] = self.build_function(self.model["functions"][tree["function"]])
        self.root = self.objects[0]
        for tree, value in zip(self.model["objects"], self.objects, strict=True):
            self.attach_children(tree, value)

    def add_attributes(self, options: LoadOptions) -> None:
        """Give the root the attributes that TensorFlow adds."""
        if options.experimental_load_function_aliases:
            functions = self.model["functions"]
            aliases = {
                name: self.build_function(functions[i]) for name, i in self.model["aliases"].items()
            }
            object.__setattr__(self.root, "function_aliases", aliases)
        signatures = {n: self.build_signature(s) for n, s in self.model["signatures"].items()}
        object.__setattr__(self.root, "signatures", _SignatureMap(signatures))
        object.__setattr__(self.root, "tensorflow_version", VERSION)
        object.__setattr__(self.root, "tensorflow_git_version", GIT_VERSION)

    def build_object(self, tree: dict[str, Any]) -> Any:
        """An object without its children; None for a function, which is built later."""
        kind = tree["kind"]
        if kind == "variable":
            return self.build_variable(tree)
        if kind == "function":
            return None
        if kind == "asset":
            return Asset(self.assets[tree["file"]])
        if kind == "table":
            return self.build_table(tree)
        if kind == "list":
            return ListWrapper()
        if kind == "dict":
            return _DictWrapper()
        # A class of its own, so that `__call__` can be a function of the model.
        return type("_UserObject", (UserObject,), {})()

    def build_variable(self, tree: dict[str, Any]) -> Variable:
        """A variable with its value."""
        dtype = as_dtype(tree["dtype"])
        if self.skips_values:
            raw = np.zeros(self.files.variables.shape(tree["key"]), dtype.as_numpy_dtype)
        else:
            raw = self.files.variables.read(tree["key"])
        return Variable(
            make_tensor(raw if raw.shape or raw.dtype == object else raw[()]),
            trainable=tree["trainable"],
            name=tree["name"],
            dtype=dtype,
            shape=tree["shape"],
            synchronization=VariableSynchronization[tree["synchronization"]],
            aggregation=VariableAggregation[tree["aggregation"]],
        )

    def build_entries(self, tree: dict[str, Any]) -> TableEntries:
        """The entries of a table."""
        decode = self.checker.decoder.decode
        entries = TableEntries(decode(tree["dtype"]), tuple(tree["row"]))
        pairs = zip(decode(tree["keys"]), entries.as_list(tree["values"]), strict=True)
        entries.values_by_key = dict(pairs)
        entries.is_filled = tree["ready"]
        return entries

    def build_table(self, tree: dict[str, Any]) -> Any:
        """A table."""
        kind: Any = StaticHashTable if tree["static"] else MutableHashTable
        table = kind.__new__(kind)
        LookupTable.__init__(
            table, as_dtype(tree["keys"]), as_dtype(tree["values"]), tree["default"], "hash_table"
        )
        table._entries = self.tables[tree["table"]]
        return table

    def attach_children(self, tree: dict[str, Any], value: Any) -> None:
        """Give an object its children."""
        for name, number in tree["children"]:
            child = self.objects[number]
            if tree["kind"] == "list":
                if name.isdigit():
                    value.append(child)
            elif tree["kind"] == "dict":
                value[name] = child
            elif tree["kind"] == "object":
                if name == "__call__":
                    type(value).__call__ = call_saved_function
                object.__setattr__(value, name, child)
                value._track_trackable(child, name, overwrite=True)

    def build_function(self, tree: dict[str, Any]) -> RestoredFunction:
        """A function with its variants."""
        return RestoredFunction(
            [self.build_variant(one, tree["name"]) for one in tree["variants"]],
            self.checker.decode_parameters(tree["parameters"]),
            self.checker.decode_arguments(tree["input_signature"]),
            tree["name"],
        )

    def build_variant(self, tree: dict[str, Any], name: str) -> Variant:
        """A function for one signature."""
        arguments = self.checker.decode_arguments(tree["arguments"])
        variant = Variant(arguments, {}, tree["returned"], name)
        names = [spec.name or "an argument" for spec in variant.specs]
        for ranks, one in tree["programs"]:
            variant.graphs.setdefault(tuple(ranks), []).append(self.build_graph(one, names))
        return variant

    def build_graph(self, tree: dict[str, Any], names: list[str]) -> GraphFunction:
        """A graph with its captures, variables and tables; `names` are those of its inputs."""
        captures = [
            make_tensor(c if c.shape or c.dtype == object else c[()])
            if isinstance(c, np.ndarray)
            else self.objects[c["asset"]].asset_path
            for c in tree["captures"]
        ]
        states = [
            build_stream(s["stream"]) if "stream" in s else self.objects[s["object"]]
            for s in tree["states"]
        ]
        tables = [self.tables[number] for number in tree["tables"]]
        return GraphFunction(tree["graph"], captures, states, tables, names)

    def build_signature(self, tree: dict[str, Any]) -> Signature:
        """A signature."""
        return Signature(self.build_variant(tree, tree["name"]), tree["names"])


def build_stream(tree: dict[str, Any]) -> Any:
    """The stream of a random op, at its start; without a seed, at a random place."""
    high = random_seed_pair()[1] if tree["high"] is None else int(tree["high"])
    return make_stream_variable((None, None, None), (int(tree["key"]), high), True)
