"""Random graphs of primitives, for hypothesis."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from gradtape.ops import elementwise as e
from gradtape.ops import reduce, shape
from gradtape.ops.gather_scatter import gather
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.nn.softmax import log_softmax, softmax
from tests.compile.numpy.builder import Builder, constant

SHAPES = [(), (4,), (3, 4), (1, 4), (3, 1), (2, 3, 4)]
EMPTY = [(0, 4), (0,), (3, 0)]
DTYPES = ["float32", "float64", "bfloat16", "int32", "int64", "bool", "complex64"]
UNARY = {
    "f": [
        e.negative,
        e.square,
        e.tanh,
        e.exp,
        e.sigmoid,
        e.relu,
        e.absolute,
        e.sqrt,
        e.softplus,
        e.reciprocal,
        e.floor,
        e.sign,
        e.identity,
        e.zeros_like,
        e.ones_like,
        e.stop_gradient,
    ],
    "i": [e.negative, e.square, e.absolute, e.relu, e.sign, e.identity, e.zeros_like],
    "b": [e.logical_not, e.identity],
    "c": [e.negative, e.square, e.exp, e.conj, e.absolute, e.real, e.imag, e.identity],
}
BINARY = {
    "f": [
        e.add,
        e.subtract,
        e.multiply,
        e.divide,
        e.maximum,
        e.minimum,
        e.greater,
        e.equal,
        e.where_positive,
        e.power,
        e.squared_difference,
        e.multiply_by_slope,
    ],
    "i": [e.add, e.subtract, e.multiply, e.maximum, e.minimum, e.less, e.not_equal],
    "b": [e.logical_and, e.logical_or, e.logical_xor],
    "c": [e.add, e.subtract, e.multiply, e.divide, e.equal],
}
NUMBERS = {"f": [2.0, 1, 1.0, -0.5, 0.0], "i": [2, 1, -3], "b": [], "c": [1, 2.0]}


def kind_of(value: Any) -> str:
    """f, i, b or c; bfloat16 is a float."""
    kind = np.asarray(value).dtype.kind
    return {"V": "f", "u": "i"}.get(kind, kind)


def draw_array(draw: Any, shape_: tuple[int, ...], dtype: str) -> Any:
    """Draw an array that may contain a zero, an infinity or a NaN."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    x = rng.normal(size=shape_) * 2
    if dtype == "complex64":
        return (x + 1j * rng.normal(size=shape_)).astype(dtype)
    if dtype == "bool":
        return np.asarray(x > 0)
    if dtype.startswith("int"):
        return np.asarray(x * 3).astype(dtype)
    if draw(st.booleans()) and x.size:
        x = np.asarray(x)
        x.flat[0] = draw(st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]))
    return np.asarray(x).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


@st.composite
def programs(draw: Any, dtypes: Any = tuple(DTYPES), steps: int = 12) -> Any:
    """A builder with random nodes, and the numbers of the values to return."""
    dtype = draw(st.sampled_from(dtypes))
    shapes = SHAPES if draw(st.integers(0, 5)) else EMPTY
    count = draw(st.integers(1, 3))
    given = [draw_array(draw, draw(st.sampled_from(shapes)), dtype) for _ in range(count)]
    builder = Builder(*given)
    for _ in range(draw(st.integers(1, steps))):
        step(draw, builder)
    last = len(builder.values) - 1
    outputs = [*draw(st.lists(st.integers(0, last), min_size=1, max_size=4)), last]
    return builder, outputs


def step(draw: Any, builder: Builder) -> None:
    """Draw a node and add it if it is valid."""
    x = draw(st.integers(0, len(builder.values) - 1))
    value = builder.values[x]
    kind, n = kind_of(value), np.ndim(value)
    choice = draw(st.integers(0, 9))
    if choice <= 2:
        builder.apply(draw(st.sampled_from(UNARY[kind])), x)
    elif choice <= 5:
        other = partner(draw, builder, x)
        op = draw(st.sampled_from(BINARY[kind]))
        args = (x, other) if draw(st.booleans()) else (other, x)
        if op in (e.where_positive, e.multiply_by_slope) and any(type(a) is not int for a in args):
            return
        attempt(builder, op, *args)
    elif choice == 6 and n and kind != "b":
        reduction(draw, builder, x, value, n)
    elif choice == 7 and n:
        layout(draw, builder, x, value, n)
    elif choice == 8 and kind == "f":
        for_floats(draw, builder, x, value, n)
    elif choice == 9 and kind in "fi":
        mask = builder.apply(e.greater, x, x if n else constant(np.asarray(value).dtype.type(0)))
        other = partner(draw, builder, x)
        if type(other) is int:
            attempt(builder, draw(st.sampled_from([e.gate])), other, mask)
            attempt(builder, e.select, mask, x, other)


def reduction(draw: Any, builder: Builder, x: int, value: Any, n: int) -> None:
    """Add a reduction, and perhaps a `spread` of its result."""
    kind = kind_of(value)
    axis = draw(st.sampled_from([(-1,), tuple(range(-n, 0))]))
    ops = [reduce.reduce_sum, reduce.reduce_mean] + ([reduce.reduce_max] if kind != "c" else [])
    op = draw(st.sampled_from(ops))
    if kind == "i" and op is reduce.reduce_mean:
        return
    keep = draw(st.booleans())
    out = builder.apply(op, x, axis=axis, keepdims=keep)
    if draw(st.booleans()):
        builder.apply(reduce.spread, out, axis=axis, keepdims=keep, shape=np.shape(value))


def partner(draw: Any, builder: Builder, x: int) -> Any:
    """Draw another value of the same dtype, or a number."""
    dtype = np.asarray(builder.values[x]).dtype
    same = [i for i, v in enumerate(builder.values) if np.asarray(v).dtype == dtype]
    numbers = NUMBERS[kind_of(builder.values[x])] if dtype.kind != "V" else []
    if numbers and draw(st.integers(0, 3)) == 0:
        return constant(draw(st.sampled_from(numbers)))
    return draw(st.sampled_from(same))


def attempt(builder: Builder, op: Any, *args: Any) -> None:
    """Apply an op if the operands broadcast."""
    try:
        builder.apply(op, *args)
    except (ValueError, TypeError, OverflowError):
        return


def layout(draw: Any, builder: Builder, x: int, value: Any, n: int) -> None:
    """Add an op that changes the shape."""
    choice = draw(st.integers(0, 7))
    size = value.size
    if choice == 0:
        builder.apply(shape.reshape, x, shape=(size,), rank=n)
    elif choice == 1 and n > 1:
        builder.apply(shape.swap, x)
    elif choice == 2:
        builder.apply(shape.slice_, x, key=(slice(0, 2),), rank=1)
    elif choice == 3:
        builder.apply(shape.concat, x, x, axis=-1)
    elif choice == 4:
        builder.apply(shape.stack, x, x, axis=-1)
    elif choice == 5 and value.shape[-1] > 1:
        first = value.shape[-1] // 2
        builder.apply(shape.split, x, axis=-1, sizes=(first, value.shape[-1] - first))
    elif choice == 6:
        builder.apply(reduce.broadcast_to, x, shape=(2, *value.shape), rank=n)
    elif choice == 7:
        builder.apply(shape.pad, x, paddings=((1, 1),), value=np.asarray(value).dtype.type(0))


def for_floats(draw: Any, builder: Builder, x: int, value: Any, n: int) -> None:
    """Add an op that only floats have."""
    choice = draw(st.integers(0, 4))
    if choice == 0 and n > 1:
        builder.apply(matmul, builder.apply(shape.swap, x), x)
    elif choice == 1 and n:
        builder.apply(draw(st.sampled_from([softmax, log_softmax])), x, axis=-1)
    elif choice == 2:
        builder.apply(e.cast, x, dtype=np.dtype("float64" if value.dtype.itemsize == 4 else "f4"))
    elif choice == 3 and n and value.shape[0]:
        builder.apply(gather, x, constant(np.array([0, 0], np.int32)), axis=-n)
    elif choice == 4:
        builder.apply(e.discretize, builder.apply(e.is_finite, x), dtype=np.dtype("int32"))
