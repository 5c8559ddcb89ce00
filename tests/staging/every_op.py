"""Programs of one op each, with arguments, and other values for these arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf

CORPUS = Path(__file__).parents[1] / "conformance" / "ops" / "public.jsonl"
SPECIAL = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def array_of(record: Any) -> Any:
    """The array that a record of the corpus describes."""
    name, shape = record["dtype"], tuple(record["shape"])
    if name.startswith("complex"):
        part = "float32" if name == "complex64" else "float64"
        pair = [flat_of(record["data"][key], part, shape) for key in ("re", "im")]
        return (pair[0] + 1j * pair[1]).astype(name)
    return flat_of(record["data"], name, shape)


def flat_of(data: Any, name: str, shape: tuple[int, ...]) -> Any:
    """Nested lists as an array."""
    for _ in range(len(shape) - 1):
        data = [v for part in data for v in part]
    values = data if shape else [data]
    if name == "string":
        out = np.empty(len(values), object)
        out[:] = [v.encode() for v in values]
        return out.reshape(shape)
    if "float" in name:
        values = [SPECIAL.get(v, v) if isinstance(v, str) else v for v in values]
    dtype = tf.dtypes.as_dtype(name).as_numpy_dtype
    return np.array(values, dtype).reshape(shape)


@cache
def corpus() -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """By id: an expression, the arrays of its arguments, and what else it names."""
    found = {}
    with CORPUS.open(encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            if "raises" in case or "deviation" in case:
                continue
            arguments, others = {}, {}
            for name, record in case["inputs"].items():
                kind = record.get("kind", "tensor")
                (arguments if kind == "tensor" else others)[name] = (array_of(record), kind)
            if arguments:
                plain = {name: array for name, (array, _) in arguments.items()}
                found[case["id"]] = (case["expr"], plain, others)
    return found


def changed(array: Any, way: int) -> Any:
    """Other values of the same dtype and shape."""
    kind = array.dtype.kind
    if array.dtype.name in ("float16", "bfloat16") or kind in "fc":
        kind = "f"
    if kind == "V":
        kind = "f"
    flat = array.ravel()
    if way == 0:
        if kind == "f":
            return (array * np.asarray(0.875, array.dtype)).astype(array.dtype)
        return array
    if way == 1:
        return flat[::-1].reshape(array.shape) if kind != "f" else array
    if way == 2:
        return np.roll(flat, 1).reshape(array.shape)
    if kind == "b":
        return ~array
    if kind in "iu" and array.size:
        return (array.max() - array + array.min()).astype(array.dtype) if way == 3 else (
            np.maximum(array - 1, array.min()).astype(array.dtype)
            if way == 4 else (array + 1).astype(array.dtype)
        )
    if kind == "O":
        out = np.empty(flat.size, object)
        out[:] = [(v[::-1] if way == 3 else v + b"7") for v in flat]
        return out.reshape(array.shape)
    return array


def variants(arrays: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments of several calls."""
    yield arrays
    for way in range(6):
        other = {name: changed(array, way) for name, array in arrays.items()}
        if any(other[n].tobytes() != arrays[n].tobytes() or (other[n].dtype.kind == "O" and other[n].tolist() != arrays[n].tolist()) for n in arrays):
            yield other


def extra():
    from more_programs import PROGRAMS
    return {k: (e.strip().replace('tnp.','tf.experimental.numpy.'), a, {}) for k, (e, a) in PROGRAMS.items()}
