"""Shared parts of random ops: checks of seeds, dtypes and shapes, and scaling.

A draw is a primitive of a key and a counter. The caller provides both.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import Tensor
from gradtape.ops.elementwise import add, multiply, subtract
from gradtape.ops.random import stateless as r


def numpy_dtypes(*names: str) -> frozenset[Any]:
    """The NumPy dtypes with these TensorFlow names."""
    return frozenset(np.dtype(dtypes.as_dtype(name).as_numpy_dtype) for name in names)


NUMPY_GENERATOR_SIZE = 2048
FLOAT_DTYPES = numpy_dtypes("bfloat16", "float16", "float32", "float64")
SIGNED_DTYPES = numpy_dtypes("int32", "int64")
INTEGER_DTYPES = SIGNED_DTYPES | numpy_dtypes("uint32", "uint64")


def stateless_key(seed: Any) -> tuple[Tensor, Tensor]:
    """Key and counter for the seed of a stateless op."""
    tensor = convert(seed)
    if tensor._array.dtype not in INTEGER_DTYPES:
        raise InvalidArgumentError(
            "stateless random: seed must be integers of 32 or 64 bits. "
            f"Received {tensor.dtype.name}."
        )
    if tensor._array.shape != (2,):
        raise InvalidArgumentError(
            f"stateless random: seed must have shape [2], not {list(tensor._array.shape)}. "
            "Give a pair of integers."
        )
    pair: tuple[Tensor, Tensor] = r.key_and_counter(tensor)
    return pair


def check_sample_shape(shape: Any) -> tuple[int, ...]:
    """The shape of a sample as a tuple.

    Raises:
        InvalidArgumentError: if a size is negative.
    """
    sizes = to_shape_tuple(shape)
    if any(n < 0 for n in sizes):
        raise InvalidArgumentError(
            f"random: the sizes in shape must not be negative. Received {list(sizes)}."
        )
    return sizes


def check_float_dtype(op: str, dtype: Any) -> Any:
    """A floating dtype as a NumPy dtype.

    Raises:
        TypeError: if it is an integer dtype.
        InvalidArgumentError: if it is another dtype that is not supported.
    """
    kind = dtypes.as_dtype(dtype)
    raw = np.dtype(kind.as_numpy_dtype)
    if kind.is_integer:
        raise TypeError(f"{op}: dtype must be a floating type. Received {kind.name}.")
    if raw not in FLOAT_DTYPES:
        raise InvalidArgumentError(f"{op}: dtype must be a floating type. Received {kind.name}.")
    return raw


def is_large_sample(shape: tuple[int, ...], dtype: Any) -> bool:
    """Whether the sample is large enough to pay for creating a NumPy generator."""
    return dtype.name in ("float32", "float64") and prod(shape) >= NUMPY_GENERATOR_SIZE


def scale_and_shift(drawn: Tensor, scale: Any, shift: Any) -> Tensor:
    """`drawn * scale + shift`, in the dtype of `drawn`."""
    result: Tensor = add(multiply(drawn, convert(scale, drawn.dtype)), convert(shift, drawn.dtype))
    return result


def draw_uniform(
    op: str,
    source: Any,
    shape: tuple[int, ...],
    minval: Any,
    maxval: Any,
    dtype: Any,
    fresh: bool = False,
) -> Tensor:
    """Floats or integers in [minval, maxval); `source(op, dtype)` returns key and counter.

    If `fresh`, no seed is set, and NumPy's generator may draw floats.
    """
    kind = dtypes.as_dtype(dtype)
    raw = np.dtype(kind.as_numpy_dtype)
    if raw not in FLOAT_DTYPES | INTEGER_DTYPES:
        raise ValueError(
            f"{op}: dtype must be floating or an integer type of 32 or 64 bits. Received {dtype!r}."
        )
    result: Tensor
    if raw in FLOAT_DTYPES:
        low = convert(0 if minval is None else minval, kind)
        high = convert(1 if maxval is None else maxval, kind)
        draw = r.fresh_uniform if fresh and is_large_sample(shape, raw) else r.random_uniform
        unit = draw(*source("uniform", raw), shape=shape, dtype=raw)
        result = scale_and_shift(unit, subtract(high, low), low)
    elif minval is None and maxval is None and op != "uniform":
        result = r.random_bits(*source("bits", raw), shape=shape, dtype=raw)
    elif maxval is None or minval is None:
        raise ValueError(f"{op}: Must specify maxval for integer dtype {kind.name}. Received None.")
    elif raw not in SIGNED_DTYPES:
        raise ValueError(
            f"{op}: {kind.name} is drawn over its whole range only. Set minval and maxval to None."
        )
    else:
        key = source("integers", raw)
        result = r.random_integers(*key, convert(minval, kind), convert(maxval, kind), shape=shape)
    return result


def check_algorithm(alg: Any) -> None:
    """Raise unless `alg` is Philox or auto_select, for which TensorFlow takes Philox on CPUs."""
    named = str(alg).lower() if isinstance(alg, str) else getattr(alg, "value", alg)
    if named in ("threefry", 2):
        raise InvalidArgumentError(
            "stateless random: the algorithm threefry is not supported. Use 'philox'."
        )
    if named not in ("auto_select", "philox", 1, 3):
        raise ValueError(
            f"stateless random: alg must be 'philox' or 'auto_select'. Received {alg!r}."
        )
