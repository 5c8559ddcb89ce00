"""Programs of one op each, and variations of the values of their arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf
from tests.jit.more_programs import PROGRAMS
from tests.jit.numpy_programs import NUMPY

CORPUS = Path(__file__).parents[1] / "conformance" / "ops" / "public.jsonl"
SPECIAL = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


@dataclass
class Program:
    """An expression.

    Attributes:
        expression: Python source that uses `tf`, `tnp` and the names of `arrays` and `others`.
        arrays: arrays that are passed as tensors.
        others: arrays and variables that the expression captures.
    """

    expression: str
    arrays: dict[str, Any]
    others: dict[str, Any] = field(default_factory=dict)

    def function(self) -> Any:
        """A Python function of the tensors."""
        code = compile(self.expression.strip(), self.expression, "eval")
        around = {"tf": tf, "np": np, "tnp": tf.experimental.numpy, **self.others}

        def function(*values: Any) -> Any:
            return eval(code, {**around, **dict(zip(self.arrays, values, strict=True))})

        return function

    def calls(self) -> Iterator[list[Any]]:
        """Tensors for several calls: twice the same values, others, and the first again."""
        first = [tf.constant(array) for array in self.arrays.values()]
        yield first
        yield first
        for way in WAYS:
            others = [way(array) for array in self.arrays.values()]
            pairs = zip(others, self.arrays.values(), strict=True)
            if any(a.tolist() != b.tolist() for a, b in pairs):
                yield [tf.constant(array) for array in others]
        yield first


def is_number(array: Any) -> bool:
    """Whether an array holds floats or complex numbers."""
    return bool(tf.dtypes.as_dtype(array.dtype).is_floating or array.dtype.kind == "c")


def scaled(array: Any) -> Any:
    """Scale floats down a little; order, sign and symmetry stay the same."""
    return (
        (array * np.asarray(0.875, array.dtype)).astype(array.dtype) if is_number(array) else array
    )


def backwards(array: Any) -> Any:
    """Reverse arrays that are not floats."""
    return array if is_number(array) else array.ravel()[::-1].reshape(array.shape)


def shifted(array: Any) -> Any:
    """Shift all elements by one place."""
    return np.roll(array.ravel(), 1).reshape(array.shape)


def mirrored(array: Any) -> Any:
    """Mirror integers within their range, negate booleans, and reverse strings."""
    if array.dtype.kind == "b":
        return ~array
    if array.dtype.kind == "O":
        return filled([text[::-1] for text in array.ravel()], array.shape)
    if array.dtype.kind in "iu" and array.size:
        return (array.max() - array + array.min()).astype(array.dtype)
    return array


def lowered(array: Any) -> Any:
    """Lower integers by one, but not below the minimum; append a byte to strings."""
    if array.dtype.kind == "O":
        return filled([text + b"7" for text in array.ravel()], array.shape)
    if array.dtype.kind in "iu" and array.size:
        return np.maximum(array - np.ones_like(array), array.min()).astype(array.dtype)
    return array


def raised(array: Any) -> Any:
    """Raise integers by one, which is often out of range."""
    return array + np.ones_like(array) if array.dtype.kind in "iu" else array


WAYS = (scaled, backwards, shifted, mirrored, lowered, raised)


def filled(items: list[Any], shape: tuple[int, ...]) -> Any:
    """An array of objects."""
    out = np.empty(len(items), object)
    out[:] = items
    return out.reshape(shape)


def array_of(record: Any) -> Any:
    """The array that a record of the corpus describes."""
    name, shape = record["dtype"], tuple(record["shape"])
    if name.startswith("complex"):
        part = "float32" if name == "complex64" else "float64"
        real, imaginary = (plain(record["data"][key], part, shape) for key in ("re", "im"))
        return (real + 1j * imaginary).astype(name)
    return plain(record["data"], name, shape)


def plain(data: Any, name: str, shape: tuple[int, ...]) -> Any:
    """Convert nested lists to an array."""
    for _ in range(len(shape) - 1):
        data = [v for part in data for v in part]
    values = data if shape else [data]
    if name == "string":
        return filled([v.encode() for v in values], shape)
    if "float" in name:
        values = [SPECIAL.get(v, v) if isinstance(v, str) else v for v in values]
    return np.array(values, tf.dtypes.as_dtype(name).as_numpy_dtype).reshape(shape)


def programs() -> dict[str, Program]:
    """All programs by id."""
    found = {name: Program(*parts) for name, parts in PROGRAMS.items()}
    found |= {f"numpy/{text}": Program(text, arrays) for text, arrays in NUMPY.items()}
    with CORPUS.open(encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            if "raises" in case or "deviation" in case:
                continue
            arrays, others = {}, {}
            for name, record in case["inputs"].items():
                kind, array = record.get("kind", "tensor"), array_of(record)
                if kind == "tensor":
                    arrays[name] = array
                else:
                    others[name] = tf.Variable(array) if kind == "variable" else array
            if arrays:
                found[case["id"]] = Program(case["expr"], arrays, others)
    return found
