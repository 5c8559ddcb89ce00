"""Loading a saved model: objects with variables, and functions that run without their Python."""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy as np

from gradtape.core.dtypes import as_dtype
from gradtape.core.enums import VariableAggregation, VariableSynchronization
from gradtape.core.errors import DataLossError, UnimplementedError, public
from gradtape.core.ragged.spec import RaggedTensorSpec
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
from gradtape.tf.saved_model.graph_function import Program, Variant
from gradtape.tf.saved_model.node_decoder import Decoder
from gradtape.tf.saved_model.node_encoder import CannotSave, function_named
from gradtape.tf.saved_model.options import LoadOptions
from gradtape.tf.saved_model.restored_function import RestoredFunction, Signature, _SignatureMap


@public
def contains_saved_model(export_dir: Any) -> bool:
    """Whether a directory holds a saved model, gradtape's or TensorFlow's.

    Args:
        export_dir: a path.
    """
    directory = as_path(export_dir)
    names = (file_layout.MODEL, *file_layout.THEIRS)
    return any(os.path.isfile(os.path.join(directory, name)) for name in names)


@public
def load(export_dir: Any, tags: Any = None, options: LoadOptions | None = None) -> Any:
    """Load what `tf.saved_model.save` saved.

    Args:
        export_dir: the directory.
        tags: accepted; there is one set of functions, that for serving.
        options: a LoadOptions.

    Returns:
        An object whose attributes are those of the object that was saved: variables, lists, dicts
        and other objects, and functions, which take what they were traced for. Its attribute
        `signatures` maps names to what is to be served.

    Raises:
        OSError: if there is no saved model.
        UnimplementedError: if TensorFlow wrote it.
        DataLossError: if its files are truncated or corrupt.
    """
    directory = as_path(export_dir)
    if not os.path.isfile(os.path.join(directory, file_layout.MODEL)):
        for name in file_layout.THEIRS:
            if os.path.isfile(os.path.join(directory, name)):
                raise UnimplementedError(
                    f"saved_model.load: {os.path.join(directory, name)} holds a graph of "
                    "TensorFlow's ops, which gradtape cannot run. Its variables can be had: "
                    f"tf.train.Checkpoint(...).restore({directory!r}) on objects of the same "
                    "structure, or tf.train.load_checkpoint of variables/variables in it. A Keras "
                    "model is better saved as a .keras file, which gradtape reads."
                )
        raise OSError(
            f"SavedModel file does not exist at: {directory}/{{saved_model.pbtxt|saved_model.pb}}, "
            f"nor is there a {file_layout.MODEL}."
        )
    return Loader(directory, options or LoadOptions()).root


class UserObject(AutoTrackable):
    """An object of a loaded model."""


class Loader:
    """A model on its way from files."""

    def __init__(self, directory: str, options: LoadOptions) -> None:
        """Read the files and make the objects."""
        self.directory = directory
        self.model, self.reader = file_layout.read(directory)
        check_names(self.model["functions"], directory)
        check_names(list(self.model["signatures"].values()), directory)
        self.plain = Decoder({}, [])
        self.tables = [self.entries(tree) for tree in self.model["tables"]]
        self.skips = options.experimental_skip_checkpoint
        trees = self.model["objects"]
        self.objects = [self.object(tree) for tree in trees]
        for tree, value in zip(trees, self.objects, strict=True):
            if tree["kind"] == "function":
                self.fill(value, self.model["functions"][tree["function"]])
        for tree, value in zip(trees, self.objects, strict=True):
            self.attach(tree, value)
        self.root = self.objects[0]
        if options.experimental_load_function_aliases:
            functions = self.model["functions"]
            aliases = {n: self.made(functions[i]) for n, i in self.model["aliases"].items()}
            object.__setattr__(self.root, "function_aliases", aliases)
        signatures = {n: self.signature(tree) for n, tree in self.model["signatures"].items()}
        described = {
            "signatures": _SignatureMap(signatures),
            "tensorflow_version": VERSION,
            "tensorflow_git_version": GIT_VERSION,
        }
        for name, value in described.items():
            object.__setattr__(self.root, name, value)

    def object(self, tree: dict[str, Any]) -> Any:
        """An object without its children."""
        kind = tree["kind"]
        if kind == "variable":
            return self.variable(tree)
        if kind == "function":
            return RestoredFunction([], inspect.Signature(), None, "")
        if kind == "asset":
            return Asset(os.path.join(self.directory, file_layout.ASSETS, tree["file"]))
        if kind == "table":
            return self.table(tree)
        if kind == "list":
            return ListWrapper()
        if kind == "dict":
            return _DictWrapper()
        # A class of its own, so that `__call__` can be a function of the model.
        return type("_UserObject", (UserObject,), {})()

    def variable(self, tree: dict[str, Any]) -> Variable:
        """A variable with its value."""
        dtype = as_dtype(tree["dtype"])
        if self.skips:
            raw = np.zeros(self.reader.shape(tree["key"]), dtype.as_numpy_dtype)
        else:
            raw = self.reader.read(tree["key"])
        return Variable(
            make_tensor(raw if raw.shape or raw.dtype == object else raw[()]),
            trainable=tree["trainable"],
            name=tree["name"],
            dtype=dtype,
            shape=tree["shape"],
            synchronization=VariableSynchronization[tree["synchronization"]],
            aggregation=VariableAggregation[tree["aggregation"]],
        )

    def entries(self, tree: dict[str, Any]) -> TableEntries:
        """What a table holds."""
        value = self.plain.value
        entries = TableEntries(value(tree["dtype"]), tuple(tree["row"]))
        keys, rows = value(tree["keys"]), tree["values"]
        entries.values_by_key = dict(zip(keys, entries.as_list(rows), strict=True))
        entries.is_filled = tree["ready"]
        return entries

    def table(self, tree: dict[str, Any]) -> Any:
        """A table."""
        kind: Any = StaticHashTable if tree["static"] else MutableHashTable
        table = kind.__new__(kind)
        LookupTable.__init__(
            table,
            as_dtype(tree["keys"]),
            as_dtype(tree["values"]),
            self.plain.value(tree["default"]),
            "hash_table",
        )
        table._entries = self.tables[tree["table"]]
        return table

    def attach(self, tree: dict[str, Any], value: Any) -> None:
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
                    type(value).__call__ = called
                object.__setattr__(value, name, child)
                value._track_trackable(child, name, overwrite=True)

    def made(self, tree: dict[str, Any]) -> RestoredFunction:
        """A function."""
        function = RestoredFunction([], inspect.Signature(), None, "")
        self.fill(function, tree)
        return function

    def fill(self, function: RestoredFunction, tree: dict[str, Any]) -> None:
        """Make a function what it was."""
        function.parameters = self.parameters(tree["parameters"])
        specs = self.arguments(tree["input_signature"])
        function.input_signature = specs
        function._name = function.__name__ = tree["name"]
        function.variants = [self.variant(one, tree["name"]) for one in tree["variants"]]

    def parameters(self, trees: list[Any]) -> inspect.Signature:
        """The parameters of a function."""
        made = []
        for name, kind, default in trees:
            value = self.plain.value(default[0]) if default else inspect.Parameter.empty
            made.append(inspect.Parameter(name, inspect._ParameterKind(kind), default=value))
        return inspect.Signature(made)

    def arguments(self, tree: Any) -> Any:
        """The arguments of a call."""
        if isinstance(tree, dict):
            ((kind, inside),) = tree.items()
            if kind == "$raggedspec":
                shape, dtype, rank, splits = inside
                return RaggedTensorSpec(shape, as_dtype(dtype), rank, as_dtype(splits))
            if kind == "$dict":
                return {self.plain.value(k): self.arguments(v) for k, v in inside}
            if kind in ("$list", "$tuple"):
                items = [self.arguments(v) for v in inside]
                return items if kind == "$list" else tuple(items)
        return self.plain.value(tree)

    def variant(self, tree: dict[str, Any], name: str) -> Variant:
        """A function for one signature."""
        programs = {tuple(ranks): self.program(one) for ranks, one in tree["programs"]}
        return Variant(self.arguments(tree["arguments"]), programs, tree["returned"], name)

    def program(self, tree: dict[str, Any]) -> Program:
        """A graph and what it reads from outside."""
        captures = [
            self.objects[c["asset"]].asset_path
            if isinstance(c, dict)
            else make_tensor(c if c.shape or c.dtype == object else c[()])
            for c in tree["captures"]
        ]
        states = [
            stream_of(s["stream"]) if "stream" in s else self.objects[s["object"]]
            for s in tree["states"]
        ]
        tables = [self.tables[number] for number in tree["tables"]]
        return Program(tree["graph"], captures, states, tables)

    def signature(self, tree: dict[str, Any]) -> Signature:
        """A function to be served."""
        return Signature(self.variant(tree, tree["name"]), tree["names"])


def check_names(tree: Any, directory: str) -> None:
    """Check that a file names no functions but those that graphs are made with.

    Raises:
        DataLossError: if it does.
    """
    if isinstance(tree, list):
        for one in tree:
            check_names(one, directory)
    elif isinstance(tree, dict):
        for key, one in tree.items():
            if key in ("call", "$function") and isinstance(one, str):
                try:
                    function_named(one)
                except CannotSave:
                    raise DataLossError(
                        f"{directory}: the model names {one!r}, which is no function that graphs "
                        "are made with. It is corrupt, or of another version of gradtape."
                    ) from None
            else:
                check_names(one, directory)


def called(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function that `__call__` of the saved object was."""
    return vars(self)["__call__"](*args, **kwargs)


def stream_of(tree: dict[str, Any]) -> Any:
    """The stream of a random op: where it was seeded, from its start."""
    high = random_seed_pair()[1] if tree["high"] is None else int(tree["high"])
    return make_stream_variable((None, None, None), (int(tree["key"]), high), True)
