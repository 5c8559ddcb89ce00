"""What nodes of a graph are made with, as plain trees: dicts, lists, numbers, strings and arrays.

A dict with one key that begins with `$` stands for anything else. Nothing in a tree is code:
functions are known by their names in gradtape.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor
from gradtape.graph.custom_gradient import UserGradient
from gradtape.graph.graph import Constant, Effect, Graph, Node
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.side_effect import TensorSlot
from gradtape.graph.subgraph import Body
from gradtape.graph.trace_op import INSTALL

# Modules of gradtape.tf whose functions nodes may call, by name.
HOMES = frozenset(
    """
    array.creation array.dynamic_index array.dynamic_partition array.gather_slice array.mask
    array.scatter array.shape array.sort_unique audio debugging.assertion debugging.check_numerics
    debugging.shape_assertion image.adjustment image.codec image.crop_flip image.extract_glimpse
    image.random_augmentation image.random_box io.csv io.parse_example io.parse_sequence_example
    io.print io.serialization linalg.band_matrix linalg.conjugate_gradient linalg.decomposition
    linalg.linear_operator.matrix linalg.solve lookup.experimental lookup.hash_table math.bincount
    math.segment nn.argmax_pool nn.ctc_decoder nn.ctc_loss nn.dilation nn.embedding_sparse
    nn.fractional_pool nn.isotonic_regression numpy.array numpy.elementwise numpy.index public_op
    ragged.broadcast ragged.conversion ragged.creation ragged.gather_slice ragged.method
    ragged.reduce ragged.shape ragged.strings random.candidate_sampler random.distribution
    random.stateful random.stateless random.unigram_sampler raw_ops.projective_transform
    raw_ops.unique_bucketize sets sparse.arithmetic sparse.conversion sparse.cross sparse.index
    strings.byte_string strings.conversion strings.hash_bucket strings.join strings.regex
    strings.unicode
    """.split()  # noqa: SIM905  a list of names reads better so
)
NUMPY = frozenset(("asarray", "flatnonzero", "iscomplex", "isreal", "signbit"))
WRITING = ("write_file",)  # what is read from a file must not write others
LAYERS = ("gradtape.ops.", "gradtape.core.", "gradtape.graph.raw_function")


class CannotSave(Exception):  # noqa: N818  turned into an error by who knows the function
    """Something has no place in a file."""


def name_of_function(function: Any) -> str:
    """How a function of gradtape is called in a file."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    text = f"{module}:{name}"
    try:
        found = function_named(text)
    except CannotSave:
        raise CannotSave(f"the function {text}") from None
    while found is not function and hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    if found is not function:
        raise CannotSave(f"the function {text}")
    return text


def function_named(text: str) -> Any:
    """The function of gradtape that is called so.

    Raises:
        CannotSave: if there is none that a file may name.
    """
    module, _, name = text.partition(":")
    home = module.removeprefix("gradtape.tf.")
    allowed = (module.startswith("gradtape.tf.") and home in HOMES) or module.startswith(LAYERS)
    allowed = (allowed and name not in WRITING) or (module == "numpy" and name in NUMPY)
    try:
        found = getattr(importlib.import_module(module), name) if allowed else None
    except (ImportError, AttributeError):
        found = None
    if not callable(found) or getattr(found, "__module__", None) != module:
        raise CannotSave(f"the function {text}")
    return found


class Encoder:
    """Trees of the nodes of one trace.

    Attributes:
        states: variables' keys, in order; an `install` refers to them by position.
        tables: for what a table holds (`Entries`), how it is referred to.
    """

    def __init__(self, states: list[int], tables: Callable[[Any], Any]) -> None:
        """For a path with these variables."""
        self.states = states
        self.tables = tables

    def node(self, node: Node) -> dict[str, Any]:
        """An application."""
        op = node.op
        inputs = [self.operand(i) for i in node.inputs]
        tree: dict[str, Any] = {"op": op.name, "in": inputs, "out": list(node.outputs)}
        parts = getattr(op.kernel, "parts", None)
        try:
            if parts is not None:
                function, args = parts[:2]
                tree["call"] = name_of_function(function)
                if isinstance(op, Effect):
                    tree["args"] = self.value(args)
                else:
                    places = {place: i for i, place in enumerate(parts[2])}
                    tree["args"] = [
                        {"$hole": places[i]} if i in places else self.value(a)
                        for i, a in enumerate(args)
                    ]
                    tree["flags"] = [op.dynamic, op.outputs]
            elif isinstance(op, Effect):
                raise CannotSave("Python does it when the function runs")
            elif op is INSTALL:
                tree["static"] = {"key": self.states.index(node.static["key"])}
            else:
                tree["static"] = {name: self.value(value) for name, value in node.static.items()}
        except CannotSave as error:
            raise CannotSave(f"{op.name} ({error})") from None
        return tree

    def operand(self, operand: Any) -> Any:
        """What a node reads: the number of a value, or a constant."""
        if isinstance(operand, Constant):
            return self.value(operand.raw)
        return {"$value": int(operand)}

    def graph(self, graph: Graph) -> dict[str, Any]:
        """A graph inside a node."""
        numbers = [*graph.inputs, *(o for node in graph.nodes for o in node.outputs)]
        specs = [(n, graph.specs[n]) for n in dict.fromkeys(numbers)]
        return {
            "inputs": list(graph.inputs),
            "nodes": [self.node(node) for node in graph.nodes],
            "outputs": [self.operand(o) for o in graph.outputs],
            "specs": [[n, list(spec.shape), self.value(spec.dtype)] for n, spec in specs],
        }

    def value(self, value: Any) -> Any:
        """Whatever a node is made with."""
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        simple = SIMPLE.get(kind)
        if simple is not None:
            return simple(value)
        if kind in (tuple, list):
            return {f"${kind.__name__}": [self.value(v) for v in value]}
        for known, encode in OTHERS.items():
            if isinstance(value, known):
                return encode(self, value)
        return self.tables(value)

    def fields(self, value: Any) -> Any:
        """A tuple with named fields, of a class of gradtape's ops."""
        name = f"{type(value).__module__}:{type(value).__name__}"
        if fields_named(name) is not type(value):
            raise CannotSave(f"a {type(value).__name__}")
        return {"$fields": [name, [self.value(v) for v in value]]}

    def function(self, function: Any) -> Any:
        """A function of gradtape, or a primitive."""
        op = getattr(function, "op", None)
        return {"$primitive": op.name} if op else {"$function": name_of_function(function)}

    def body(self, body: Body) -> dict[str, Any]:
        """The body of a loop or branch."""
        graph = body.existing_graph
        if graph is None:
            raise CannotSave("a body that has never run")
        return self.graph(graph)

    def custom(self, custom: UserGradient) -> dict[str, Any]:
        """A gradient that the user supplied."""
        return {
            "inputs": [self.operand(i) for i in custom.inputs],
            "seeds": list(custom.seeds),
            "nodes": [self.node(node) for node in custom.nodes],
            "answers": [self.answer(a) for a in custom.input_gradients],
            "trouble": custom.trace_error,
        }

    def answer(self, answer: Any) -> Any:
        """What a supplied gradient gives for one input."""
        if answer is None:
            return None
        if type(answer) is tuple:
            return {"$slices": [self.operand(part) for part in answer]}
        return self.operand(answer)


SHAPE = ("carries", "captures", "xs", "ys", "saved", "reverse")
SIMPLE: dict[type, Callable[[Any], Any]] = {
    EagerTensor: lambda v: v._array if isinstance(v._array, np.ndarray) else np.asarray(v._array),
    TensorSlot: lambda v: {"$hole": v.position},
    bytes: lambda v: {"$bytes": v.decode("latin-1")},
    complex: lambda v: {"$complex": [v.real, v.imag]},
    slice: lambda v: {"$slice": [v.start, v.stop, v.step]},
    type(Ellipsis): lambda v: {"$ellipsis": []},
    TensorShape: lambda v: {"$tensorshape": v.as_list() if v.rank is not None else None},
    TensorSpec: lambda v: {
        "$spec": [v.shape.as_list() if v.shape.rank is not None else None, v.dtype.name, v.name]
    },
}


OTHERS: dict[Any, Callable[[Encoder, Any], Any]] = {
    (np.ndarray, np.generic): lambda encoder, v: np.asarray(v),
    (np.dtype, DType): lambda encoder, v: {"$dtype": [as_dtype(v).name, isinstance(v, DType)]},
    type: lambda encoder, v: {"$dtype": [as_dtype(v).name, False]},
    dict: lambda encoder, v: {
        "$dict": [[encoder.value(k), encoder.value(x)] for k, x in v.items()]
    },
    Body: lambda encoder, v: {"$body": encoder.body(v)},
    LoopLayout: lambda encoder, v: {"$shape": [encoder.value(getattr(v, name)) for name in SHAPE]},
    UserGradient: lambda encoder, v: {"$custom": encoder.custom(v)},
    tuple: Encoder.fields,
    FunctionType: Encoder.function,
}


def fields_named(text: str) -> Any:
    """The class of tuples among gradtape's ops that is called so, or None."""
    module, _, name = text.partition(":")
    if not module.startswith("gradtape.ops."):
        return None
    found = getattr(importlib.import_module(module), name, None)
    is_one = isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields")
    return found if is_one else None


def dtype_of(name: str, is_ours: bool) -> Any:
    """A dtype by its name."""
    dtype = as_dtype(name)
    return dtype if is_ours else np.dtype(dtype.as_numpy_dtype)
