"""Random arrays, and the source of tensors with given values."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import gradtape as tf

HALVES = ("float16", "bfloat16")
REALS = ("float32", "float64")
FLOATS = (*REALS, *HALVES)
COMPLEX = ("complex64", "complex128")
SIGNED = ("int32", "int64", "int8", "int16")
INTEGERS = (*SIGNED, "uint8", "uint16")
NUMBERS = (*FLOATS, *COMPLEX, *INTEGERS)
INEXACT = (*FLOATS, *COMPLEX)
DTYPES = (*NUMBERS, "bool", "string")
USUAL = {  # dtypes of arguments, with their weights
    "float32": 40,
    "float64": 14,
    "int32": 14,
    "bool": 6,
    "int64": 5,
    "complex64": 4,
    "float16": 3,
    "bfloat16": 3,
    "uint8": 3,
    "complex128": 2,
    "int8": 2,
    "string": 2,
    "int16": 1,
    "uint16": 1,
}
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5)
WORDS = (b"", b"a", b"bc", b"d e", b"10", b"-3.5", b"\xc3\xa9")


def draw_dtype(draw: Random) -> str:
    """A dtype; the usual ones are drawn more often."""
    return draw.choices(list(USUAL), list(USUAL.values()))[0]


def draw_shape(draw: Random, sizes: list[int], most: int = 3) -> tuple[int, ...]:
    """A shape of sizes that the program uses elsewhere, too."""
    rank = draw.choices(range(most + 2), [3, 5, 5, 2, 1][: most + 2])[0]
    return tuple(draw.choice(sizes) for _ in range(rank))


def draw_array(draw: Random, dtype: str, shape: tuple[int, ...], special: bool = False) -> Any:
    """An array of small numbers; with `special` also infinities, NaN and ties."""
    count = int(np.prod(shape))
    numpy_dtype = tf.dtypes.as_dtype(dtype).as_numpy_dtype
    if dtype == "string":
        out = np.empty(count, object)
        out[:] = [draw.choice(WORDS) for _ in range(count)]
        return out.reshape(shape)
    if dtype == "bool":
        numbers = [draw.random() < 0.5 for _ in range(count)]
    elif dtype.startswith("u"):
        numbers = [draw.randint(0, 9) for _ in range(count)]
    elif dtype in INTEGERS:
        numbers = [draw.randint(-5, 9) for _ in range(count)]
    elif dtype in COMPLEX:
        numbers = [complex(draw_float(draw, special), draw_float(draw)) for _ in range(count)]
    else:
        numbers = [draw_float(draw, special) for _ in range(count)]
    return np.array(numbers, numpy_dtype).reshape(shape)


def draw_float(draw: Random, special: bool = False) -> float:
    """A number with few digits."""
    if special and draw.random() < 0.2:
        return draw.choice(SPECIAL)
    if draw.random() < 0.1:
        return float(draw.randint(-2, 2))
    return round(draw.gauss(0, 1), 2)


def render_array(array: Any) -> str:
    """Source of nested lists."""
    if array.dtype.kind not in "fV":
        return repr(array.tolist())
    short = [float(str(number)) for number in array.ravel()]  # as few digits as the dtype needs
    return repr(np.array(short).reshape(array.shape).tolist())


def render_tensor(array: Any, dtype: str) -> str:
    """Source of a constant tensor."""
    array = np.asarray(array)
    if not array.size:
        return f"tf.zeros({list(array.shape)}, '{dtype}')"
    return f"tf.constant({render_array(array)}, '{dtype}')"
