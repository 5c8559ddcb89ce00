"""Checks the tree of a model, part by part, before anything is built from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from keyword import iskeyword
from typing import Any

import numpy as np

from gradtape.core.dtypes import DType, from_numpy_dtype
from gradtape.core.enums import VariableAggregation, VariableSynchronization
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.files.tensor_bundle import BundleReader
from gradtape.jit.argument_match import leaves_of
from gradtape.state.checkpoint.trackable import AutoTrackable
from gradtape.tf.saved_model.checksum import VERSION
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.file_layout import check_asset_name
from gradtape.tf.saved_model.graph_check import GraphChecker
from gradtape.tf.saved_model.limit import MAX_RANK
from gradtape.tf.saved_model.result_structure import check_structure_tree
from gradtape.tf.saved_model.tree_check import (
    expect_bool,
    expect_choice,
    expect_dict,
    expect_dtype,
    expect_index,
    expect_int,
    expect_list,
    expect_name,
    expect_sizes,
    expect_text,
)
from gradtape.tf.saved_model.value_decoder import ValueDecoder

MODEL_FIELDS = ("version", "objects", "functions", "aliases", "signatures", "tables")
VARIABLE_FIELDS = (
    "key", "name", "dtype", "shape", "trainable", "synchronization", "aggregation",
)  # fmt: skip
OBJECT_FIELDS: dict[str, tuple[str, ...]] = {
    "variable": VARIABLE_FIELDS,
    "function": ("function",),
    "asset": ("file",),
    "table": ("keys", "values", "table", "default", "static"),
    "list": (),
    "dict": (),
    "object": (),
}
FUNCTION_FIELDS = ("name", "parameters", "input_signature", "variants")
VARIANT_FIELDS = ("arguments", "returned", "programs")
MAX_SEED = (1 << 64) - 1


class ArgumentDecoder(ValueDecoder):
    """Decodes arguments of calls: values and specs."""

    tags = ValueDecoder.tags | {
        "$raggedspec": "decode_ragged_spec",
        "$sparsespec": "decode_sparse_spec",
    }

    def decode_ragged_spec(self, inner: Any) -> RaggedTensorSpec:
        """A RaggedTensorSpec."""
        shape, dtype, rank, splits = expect_list(inner, 4)
        expect_choice(splits, ("int32", "int64"), "dtype of row splits")
        try:
            return RaggedTensorSpec(
                expect_sizes(shape),
                expect_dtype(dtype),
                expect_int(rank, 0, MAX_RANK),
                expect_dtype(splits),
            )
        except (TypeError, ValueError) as error:
            raise MalformedModel(f"a spec of a ragged tensor is wrong: {error}") from None

    def decode_sparse_spec(self, inner: Any) -> SparseTensorSpec:
        """A SparseTensorSpec."""
        shape, dtype = expect_list(inner, 2)
        return SparseTensorSpec(expect_sizes(shape), expect_dtype(dtype))


def check_each(trees: Any, what: str, check: Callable[[Any], None]) -> None:
    """Check every entry of a list, and say in an error which one it is."""
    for i, tree in enumerate(expect_list(trees)):
        try:
            check(tree)
        except MalformedModel as error:
            raise error.inside(f"{what}[{i}]") from None


class CheckpointContents:
    """Dtypes and shapes of tensors that are going to be a checkpoint."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        """Raw arrays by key."""
        self.tensors = tensors

    def __contains__(self, key: str) -> bool:
        """Whether there is a tensor of this name."""
        return key in self.tensors

    def dtype(self, key: str) -> DType:
        """The dtype of a tensor."""
        return from_numpy_dtype(self.tensors[key].dtype)

    def shape(self, key: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return tuple(self.tensors[key].shape)


class ModelChecker:
    """Checks a model whose variables are in `variables`."""

    def __init__(self, tree: Any, variables: BundleReader | CheckpointContents) -> None:
        """Start with the tree of a model."""
        self.tree = expect_dict(tree, *MODEL_FIELDS)
        self.variables = variables
        self.decoder = ArgumentDecoder()
        self.node_count = 0

    def check(self) -> None:
        """Check everything.

        Raises:
            MalformedModel: if a part is not what the format allows.
        """
        tree = self.tree
        expect_int(tree["version"], VERSION, VERSION)
        for part in ("objects", "functions", "tables"):
            expect_list(tree[part])
        if not tree["objects"]:
            raise MalformedModel("a model has at least one object")
        check_each(tree["tables"], "tables", self.check_table)
        check_each(tree["objects"], "objects", self.check_object)
        check_each(tree["functions"], "functions", self.check_function)
        for name, number in expect_mapping(tree["aliases"]).items():
            expect_name(name)
            expect_index(number, len(tree["functions"]), "function")
        for name, signature in expect_mapping(tree["signatures"]).items():
            try:
                self.check_signature(signature)
            except MalformedModel as error:
                raise error.inside(f"signatures[{shorten(expect_name(name))}]") from None

    def check_object(self, tree: Any) -> None:
        """Check an object, and the names and numbers of its children."""
        kind = tree.get("kind") if isinstance(tree, dict) else None
        fields = OBJECT_FIELDS[expect_choice(kind, OBJECT_FIELDS, "kind of objects")]
        expect_dict(tree, "kind", "children", *fields)
        for child in expect_list(tree["children"]):
            name, number = expect_list(child, 2)
            expect_index(number, len(self.tree["objects"]), "object")
            if kind == "object":
                check_attribute_name(name)
            else:
                expect_text(name)
        if kind == "variable":
            self.check_variable(tree)
        elif kind == "function":
            expect_index(tree["function"], len(self.tree["functions"]), "function")
        elif kind == "asset":
            check_asset_name(expect_text(tree["file"]))
        elif kind == "table":
            self.check_table_object(tree)

    def check_variable(self, tree: dict[str, Any]) -> None:
        """Check a variable against its entry in the checkpoint."""
        key = expect_text(tree["key"])
        if key not in self.variables:
            raise MalformedModel(f"there is no value {shorten(key)} of a variable")
        dtype, sizes = expect_dtype(tree["dtype"]), expect_sizes(tree["shape"])
        expect_name(tree["name"])
        expect_bool(tree["trainable"])
        expect_choice(tree["synchronization"], VariableSynchronization.__members__, "choice")
        expect_choice(tree["aggregation"], VariableAggregation.__members__, "choice")
        try:
            saved_dtype = self.variables.dtype(key)
        except (KeyError, TypeError):
            saved_dtype = None
        if saved_dtype is not dtype:
            raise MalformedModel(f"the value of the variable has another dtype than {dtype.name}")
        saved = self.variables.shape(key)
        if sizes is not None and (
            len(sizes) != len(saved)
            or any(n is not None and n != m for n, m in zip(sizes, saved, strict=True))
        ):
            raise MalformedModel(f"the value of the variable has the shape {saved}, not {sizes}")

    def check_table(self, tree: Any) -> None:
        """Check the entries of a table."""
        expect_dict(tree, "dtype", "row", "keys", "values", "ready")
        dtype, keys = self.decoder.decode(tree["dtype"]), self.decoder.decode(tree["keys"])
        row = expect_sizes(tree["row"])
        expect_bool(tree["ready"])
        if not isinstance(dtype, np.dtype) or row is None or None in row:
            raise MalformedModel("a table has a dtype and a shape of values")
        if not isinstance(keys, list) or any(type(k) not in (int, float, bytes) for k in keys):
            raise MalformedModel("the keys of a table are numbers or strings")
        values = tree["values"]
        wanted = (len(keys), *row)
        if not isinstance(values, np.ndarray) or (values.dtype, values.shape) != (dtype, wanted):
            raise MalformedModel(
                f"the values of a table have dtype {dtype} and shape {wanted}. "
                f"Received {shorten(values)}"
            )

    def check_table_object(self, tree: dict[str, Any]) -> None:
        """Check a table against its entries."""
        expect_dtype(tree["keys"])
        dtype = expect_dtype(tree["values"])
        expect_bool(tree["static"])
        entries = self.tree["tables"][
            expect_index(tree["table"], len(self.tree["tables"]), "table")
        ]
        default = tree["default"]
        if not isinstance(default, np.ndarray) or list(default.shape) != entries["row"]:
            raise MalformedModel("the default value of a table has the shape of its values")
        if from_numpy_dtype(default.dtype) is not dtype or entries["values"].dtype != default.dtype:
            raise MalformedModel(f"the values of a table have the dtype {dtype.name}")

    def check_function(self, tree: Any) -> None:
        """Check a function with all its variants."""
        expect_dict(tree, *FUNCTION_FIELDS)
        expect_name(tree["name"])
        parameters = self.decode_parameters(tree["parameters"])
        self.decode_arguments(tree["input_signature"])
        check_each(tree["variants"], "variants", partial(self.check_variant, parameters))

    def decode_parameters(self, trees: Any) -> inspect.Signature:
        """The parameters of a Python function."""
        made = []
        for one in expect_list(trees):
            name, kind, default = expect_list(one, 3)
            value: Any = inspect.Parameter.empty
            if len(expect_list(default)) == 1:
                value = self.decoder.decode(default[0])
            elif default:
                raise MalformedModel("a parameter has one default")
            place = inspect._ParameterKind(expect_int(kind, 0, 4))
            if place.name.startswith("VAR_") and value is not inspect.Parameter.empty:
                raise MalformedModel(f"the parameter {shorten(name)} cannot have a default")
            made.append(inspect.Parameter(expect_identifier(name), place, default=value))
        try:
            return inspect.Signature(made)
        except ValueError as error:
            raise MalformedModel(f"these are no parameters of a function: {error}") from None

    def decode_arguments(self, tree: Any) -> Any:
        """The arguments of a call; they can be flattened."""
        arguments = self.decoder.decode(tree)
        try:
            leaves_of(arguments)
        except (TypeError, ValueError) as error:
            raise MalformedModel(f"these are no arguments of a call: {error}") from None
        return arguments

    def check_variant(self, parameters: inspect.Signature, tree: Any) -> None:
        """Check a function for one signature: `parameters` take its arguments."""
        self.check_variant_parts(expect_dict(tree, *VARIANT_FIELDS))
        args, kwargs = self.decode_arguments(tree["arguments"])
        try:
            parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise MalformedModel(f"the parameters do not take the arguments: {error}") from None

    def check_variant_parts(self, tree: dict[str, Any]) -> list[TensorSpec]:
        """Check a function for one signature; return the specs of its tensors."""
        arguments = self.decode_arguments(tree["arguments"])
        if not isinstance(arguments, tuple) or len(arguments) != 2:
            raise MalformedModel("arguments are a tuple and a dict")
        args, kwargs = arguments
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise MalformedModel("arguments are a tuple and a dict")
        for name in kwargs:
            expect_identifier(name)
        specs = [leaf for leaf in leaves_of(arguments) if isinstance(leaf, TensorSpec)]
        counts = set()
        for pair in expect_list(tree["programs"]):
            ranks, program = expect_list(pair, 2)
            check_ranks(ranks, specs)
            counts.add(self.check_program(program, len(specs)))
        if len(counts) > 1:
            raise MalformedModel(f"graphs return {sorted(counts)} results")
        check_structure_tree(tree["returned"], min(counts, default=0))
        return specs

    def check_program(self, tree: Any, input_count: int) -> int:
        """Check a graph with its captures, variables and tables; return the number of results."""
        expect_dict(tree, "graph", "captures", "states", "tables")
        for number in expect_list(tree["tables"]):
            expect_index(number, len(self.tree["tables"]), "table")
        checker = GraphChecker(len(expect_list(tree["states"])), len(tree["tables"]))
        checker.node_count = self.node_count
        graph = tree["graph"]
        checker.check_program(graph)
        self.node_count = checker.node_count
        if len(graph["inputs"]) != input_count:
            raise MalformedModel(f"a graph has {input_count} inputs. Received {graph['inputs']}")
        if len(graph["captures"]) != len(expect_list(tree["captures"])):
            raise MalformedModel(f"a graph has {len(graph['captures'])} captures")
        for capture in tree["captures"]:
            if not isinstance(capture, np.ndarray):
                self.expect_object(expect_dict(capture, "asset")["asset"], "asset")
        for state in tree["states"]:
            if isinstance(state, dict) and "stream" in state:
                check_stream(expect_dict(state, "stream")["stream"])
            else:
                self.expect_object(expect_dict(state, "object")["object"], "variable")
        for spec in expect_list(graph["specs"], len(graph["outputs"])):
            sizes, dtype = expect_list(spec, 2)
            expect_dtype(dtype)
            if expect_sizes(sizes) is None:
                raise MalformedModel("a result of a graph has a rank")
        return len(graph["outputs"])

    def expect_object(self, number: Any, kind: str) -> None:
        """Check that an object is of this kind."""
        objects = self.tree["objects"]
        if objects[expect_index(number, len(objects), "object")]["kind"] != kind:
            raise MalformedModel(f"the object {number} is no {kind}")

    def check_signature(self, tree: Any) -> None:
        """Check a signature: names of its tensors, and named results."""
        expect_dict(tree, *VARIANT_FIELDS, "name", "names")
        expect_name(tree["name"])
        specs = self.check_variant_parts(tree)
        names = [expect_identifier(name) for name in expect_list(tree["names"], len(specs))]
        if len(set(names)) != len(names):
            raise MalformedModel(f"the names of arguments differ. Received {shorten(names)}")
        for pair in expect_list(expect_dict(tree["returned"], "$dict")["$dict"]):
            expect_name(pair[0])
            expect_dict(pair[1], "$result")


def expect_mapping(tree: Any) -> dict[str, Any]:
    """A dict with any keys."""
    if not isinstance(tree, dict):
        raise MalformedModel(f"a dict is expected. Received {shorten(tree)}")
    return tree


def expect_identifier(tree: Any) -> str:
    """A name that a parameter can have."""
    name = expect_text(tree)
    if not name.isidentifier() or iskeyword(name):
        raise MalformedModel(f"{shorten(name)} is no name of a parameter")
    return name


def check_attribute_name(tree: Any) -> None:
    """Check the name of an attribute: it must not replace a method of the loaded object."""
    name = expect_name(tree)
    special = name.startswith("__") and name.endswith("__")
    if name != "__call__" and (special or hasattr(AutoTrackable, name) or not name):
        raise MalformedModel(f"an object cannot have an attribute {shorten(name)}")


def check_ranks(ranks: Any, specs: list[TensorSpec]) -> None:
    """Check the ranks of tensors against their specs."""
    for rank, spec in zip(expect_list(ranks, len(specs)), specs, strict=True):
        expect_int(rank, 0, MAX_RANK)
        if spec.shape.rank not in (None, rank):
            raise MalformedModel(f"a tensor has the rank {spec.shape.rank}. Received {rank}")


def check_stream(tree: Any) -> None:
    """Check the seeds of a random op."""
    expect_dict(tree, "key", "high")
    for text in (tree["key"], tree["high"]):
        if text is None and tree["key"] is not None:
            continue
        digits = expect_text(text, 21).removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or int(digits) > MAX_SEED:
            raise MalformedModel(f"a seed has 64 bits. Received {shorten(text)}")
