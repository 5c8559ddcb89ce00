"""Schemas of primitives, from the static parameters of their kernels, and of `cond` and `loop`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache

import gradtape.ops
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.graph.control_node import COND, LOOP
from gradtape.graph.custom_gradient import CUSTOM, UserGradient
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.size_tensor import FILL_ARRAY, RANGE_ARRAY, SIZE_ARRAY
from gradtape.graph.subgraph import Body
from gradtape.graph.trace_op import INSTALL
from gradtape.ops.convolution.window import Window
from gradtape.ops.image.filter_matrix import FilterMatrixSpec
from gradtape.tf.saved_model.attribute_type import (
    AXES,
    AXIS,
    DTYPE,
    FLAG,
    INDEX,
    INTEGER,
    LABEL,
    NUMBER,
    OFFSET,
    POSITIVE,
    RANK,
    SHAPE,
    SIZE,
    AttributeType,
    InstanceOf,
    Integer,
    Optional,
    Record,
    Scalar,
    SequenceOf,
    Text,
    TupleOf,
    has_product_below,
)
from gradtape.tf.saved_model.limit import MAX_RANK, MAX_SIZE
from gradtape.tf.saved_model.op_schema import PrimitiveSchema

MAX_TAPS = 1 << 20  # elements of a window
PADDINGS = SequenceOf(TupleOf(OFFSET, OFFSET), MAX_RANK)


class WindowRecord(Record):
    """A `Window`: all fields have one entry for each axis, and the number of taps is limited."""

    def __init__(self) -> None:
        """With a type for each field."""
        steps = SequenceOf(POSITIVE, MAX_RANK)
        super().__init__(Window, size=steps, strides=steps, dilations=steps, paddings=PADDINGS)

    def accepts(self, value: object) -> bool:
        """Whether this is a window of a size that can be computed with."""
        if not isinstance(value, Window) or not super().accepts(value):
            return False
        has_equal_lengths = len({len(field) for field in value}) == 1
        return has_product_below(value.size, MAX_TAPS) and has_equal_lengths


WINDOW = WindowRecord()
FILTER = Record(
    FilterMatrixSpec,
    kind=Text(64, r"\w+"),
    n=SIZE,
    m=SIZE,
    antialias=FLAG,
    sigma=NUMBER,
)

# Types of static parameters, by name and annotation; None stands for all other annotations.
STATIC_TYPES: dict[str, dict[str | None, AttributeType]] = {
    "alpha": {None: NUMBER},
    "axes": {None: AXES},
    "axis": {"int": AXIS, None: AXES},
    "back": {None: FLAG},
    "band": {None: FILTER},
    "below": {None: SIZE},
    "clip": {"bool": FLAG, None: NUMBER},
    "count": {None: SIZE},
    "crossed": {None: FLAG},
    "depth": {None: SIZE},
    "descending": {None: FLAG},
    "dtype": {None: DTYPE},
    "each": {None: SIZE},
    "equation": {None: Text(1000, r"[^\W\d_]*(,[^\W\d_]*)*->[^\W\d_]*")},
    "every": {None: FLAG},
    "exclusive": {None: FLAG},
    "groups": {None: POSITIVE},
    "k": {None: SIZE},
    "keepdims": {None: FLAG},
    "key": {None: INDEX},
    "largest": {None: FLAG},
    "least": {None: NUMBER},
    "length": {None: POSITIVE},
    "lower": {None: FLAG},
    "masked": {None: FLAG},
    "most": {None: SIZE},
    "op": {None: LABEL},
    "order": {None: Integer(0, 16)},
    "ordered": {None: FLAG},
    "paddings": {None: PADDINGS},
    "peephole": {None: FLAG},
    "perm": {None: AXES},
    "rank": {None: RANK},
    "reverse": {None: FLAG},
    "samples": {None: SIZE},
    "shape": {None: SHAPE},
    "sigma": {None: NUMBER},
    "size": {None: SIZE},
    "sizes": {None: SHAPE},
    "spatial": {None: SHAPE},
    "step": {None: POSITIVE},
    "threshold": {None: NUMBER},
    "value": {None: Scalar()},
    "window": {None: WINDOW},
}

BODY = InstanceOf(Body, "the graph of a body")
GRAPH_OP_ATTRIBUTES: tuple[tuple[Primitive, dict[str, AttributeType]], ...] = (
    (COND, {"branches": TupleOf(BODY, BODY)}),
    (
        LOOP,
        {
            "body": BODY,
            "test": Optional(BODY),
            "shape": InstanceOf(LoopLayout, "the layout of a loop"),
        },
    ),
    (CUSTOM, {"custom": InstanceOf(UserGradient, "a gradient function")}),
    (INSTALL, {"key": SIZE}),
    (SIZE_ARRAY, {"sizes": SequenceOf(INTEGER, MAX_SIZE), "shape": SHAPE, "dtype": DTYPE}),
    (FILL_ARRAY, {"value": Scalar(), "shape": SHAPE, "dtype": DTYPE}),
    (RANGE_ARRAY, {"start": INTEGER, "stop": INTEGER, "step": INTEGER, "dtype": DTYPE}),
)
GRAPH_OPS = {op.name: PrimitiveSchema(op, types) for op, types in GRAPH_OP_ATTRIBUTES}


def find_primitive(name: str) -> PrimitiveSchema | None:
    """The schema of a primitive; None if there is none, or if it cannot be part of a file."""
    if name not in REGISTRY:
        import_all_primitives()
    op = REGISTRY.get(name)
    return None if op is None else schema_of(op)


@cache
def schema_of(op: Primitive) -> PrimitiveSchema | None:
    """The schema of a primitive; None if a static parameter has no type."""
    annotations = inspect.unwrap(op.kernel).__annotations__
    attributes = {}
    for name in op.statics:
        types = STATIC_TYPES.get(name)
        if types is None:
            return None
        annotation = annotations.get(name)
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        attributes[name] = types[text] if text in types else types[None]
    return PrimitiveSchema(op, attributes)


@cache
def import_all_primitives() -> None:
    """Import every module that defines primitives; most are imported when they are first used."""
    for module in pkgutil.walk_packages(gradtape.ops.__path__, "gradtape.ops."):
        importlib.import_module(module.name)
