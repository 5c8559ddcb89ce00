"""tf.random: numbers from a seed of their own or from the global one, as TensorFlow's."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import random as r
from gradtape.ops.elementwise import stop_gradient
from gradtape.ops.index import take
from gradtape.state.seed import SEEDS
from gradtape.state.seed import set_seed as start_over
from gradtape.tf.check import FLOATS, numpy_dtypes
from gradtape.tf.elementwise import add, multiply, subtract

INTEGERS = numpy_dtypes("int32", "int64")
WORDS = INTEGERS | numpy_dtypes("uint32", "uint64")
GENEROUS = 256  # blocks that a stateful op uses up for each number, however few it needs


@public
def set_seed(seed: int | None) -> None:
    """Set the global seed, from which ops without a seed of their own take theirs.

    Args:
        seed: an integer; None for numbers that differ from run to run.

    Example:
        >>> tf.random.set_seed(7)
        >>> a = tf.random.uniform([2])
        >>> tf.random.set_seed(7)
        >>> bool(tf.reduce_all(a == tf.random.uniform([2])))
        True
    """
    start_over(seed)


def key_of(seed: Any) -> tuple[Tensor, Tensor]:
    """Key and counter of a stateless op."""
    tensor = convert(seed)
    if tensor._array.dtype not in WORDS:
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


def stream_of(op: str, shape: tuple[int, ...], dtype: Any, seed: Any) -> tuple[Tensor, Tensor]:
    """Key and counter of a stateful op, which moves on."""
    own = None if seed is None else int(seed)
    key, counter = SEEDS.stream((op, dtype), own, GENEROUS * prod(shape))
    return eager(key), eager(counter)


def size_of(shape: Any) -> tuple[int, ...]:
    """The shape asked for."""
    sizes = shape_tuple(shape)
    if any(n < 0 for n in sizes):
        raise InvalidArgumentError(
            f"random: shape must hold no negative number. Received {list(sizes)}."
        )
    return sizes


def float_dtype(op: str, dtype: Any) -> Any:
    """A floating dtype, as NumPy's."""
    kind = dtypes.as_dtype(dtype)
    raw = np.dtype(kind.as_numpy_dtype)
    if kind.is_integer:
        raise TypeError(f"{op}: dtype must be a floating type. Received {kind.name}.")
    if raw not in FLOATS:
        raise InvalidArgumentError(f"{op}: dtype must be a floating type. Received {kind.name}.")
    return raw


def scaled(drawn: Tensor, scale: Any, shift: Any) -> Tensor:
    """`drawn * scale + shift`, in the dtype drawn."""
    result: Tensor = add(multiply(drawn, convert(scale, drawn.dtype)), convert(shift, drawn.dtype))
    return result


def uniform_numbers(
    op: str, source: Any, shape: tuple[int, ...], minval: Any, maxval: Any, dtype: Any
) -> Tensor:
    """Floats or integers between bounds; `source(op, dtype)` gives key and counter."""
    kind = dtypes.as_dtype(dtype)
    raw = np.dtype(kind.as_numpy_dtype)
    if raw not in FLOATS | WORDS:
        raise ValueError(
            f"{op}: dtype must be floating or an integer type of 32 or 64 bits. Received {dtype!r}."
        )
    result: Tensor
    if raw in FLOATS:
        low = convert(0 if minval is None else minval, kind)
        high = convert(1 if maxval is None else maxval, kind)
        unit = r.random_uniform(*source("uniform", raw), shape=shape, dtype=raw)
        result = scaled(unit, subtract(high, low), low)
    elif minval is None and maxval is None and op == "stateless_uniform":
        result = r.random_bits(*source("bits", raw), shape=shape, dtype=raw)
    elif maxval is None or minval is None:
        raise ValueError(f"{op}: Must specify maxval for integer dtype {kind.name}. Received None.")
    elif raw not in INTEGERS:
        raise ValueError(
            f"{op}: {kind.name} is drawn over its whole range only; let minval and maxval be None."
        )
    else:
        key = source("integers", raw)
        result = r.random_integers(*key, convert(minval, kind), convert(maxval, kind), shape=shape)
    return result


@public
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn uniformly from [minval, maxval).

    Args:
        shape: of the result.
        minval: lower bound, included.
        maxval: upper bound, excluded; 1 for floats if None. Integers need it.
        dtype: a floating type, int32 or int64.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of `shape` and `dtype`.
    """
    sizes = size_of(shape)
    return uniform_numbers(
        "uniform", lambda op, raw: stream_of(op, sizes, raw, seed), sizes, minval, maxval, dtype
    )


@public
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Numbers of a normal distribution.

    Args:
        shape: of the result; `mean` and `stddev` broadcast against it.
        mean: of the distribution.
        stddev: standard deviation.
        dtype: a floating type.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of `dtype`.
    """
    raw, sizes = float_dtype("normal", dtype), size_of(shape)
    drawn = r.random_normal(*stream_of("normal", sizes, raw, seed), shape=sizes, dtype=raw)
    return scaled(drawn, stddev, mean)


@public
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Numbers of a normal distribution, none further than two standard deviations from the mean.

    Args:
        shape: of the result; `mean` and `stddev` broadcast against it.
        mean: of the distribution before it is cut off.
        stddev: standard deviation before it is cut off.
        dtype: a floating type.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of `dtype`.
    """
    raw, sizes = float_dtype("truncated_normal", dtype), size_of(shape)
    stream = stream_of("truncated_normal", sizes, raw, seed)
    return scaled(r.random_truncated_normal(*stream, shape=sizes, dtype=raw), stddev, mean)


@public
def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """`value` with its slices along the first axis in another order.

    Args:
        value: a tensor.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of the same shape and dtype; no gradient flows through it.
    """
    tensor = convert(value)
    size = tensor._array.shape[0] if tensor._array.shape else 1
    own = None if seed is None else int(seed)
    key, counter = SEEDS.stream(("shuffle", tensor._array.dtype), own, (max(size, 1) + 2) // 4)
    if size < 2:
        return tensor
    order = eager(r.permutation(key, counter, size))
    result: Tensor = take(stop_gradient(tensor), order, axis=-tensor.ndim)
    return result


@public
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Numbers drawn uniformly from [minval, maxval); the same for the same seed.

    Args:
        shape: of the result.
        seed: a pair of integers.
        minval: lower bound, included.
        maxval: upper bound, excluded; 1 for floats if None.
        dtype: a floating type or an integer type of 32 or 64 bits. With minval and maxval None,
            integers are drawn over their whole range.
        name: accepted for TensorFlow's sake.
        alg: Philox, under any of its names.

    Returns:
        A tensor of `shape` and `dtype`.

    Example:
        >>> tf.random.stateless_uniform([2], seed=[1, 2]).numpy()
        array([0.8440604 , 0.19204533], dtype=float32)
    """
    check_algorithm(alg)
    return uniform_numbers(
        "stateless_uniform", lambda op, raw: key_of(seed), size_of(shape), minval, maxval, dtype
    )


@public
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Numbers of a normal distribution; the same for the same seed.

    Args:
        shape: of the result.
        seed: a pair of integers.
        mean: of the distribution.
        stddev: standard deviation.
        dtype: a floating type.
        name: accepted for TensorFlow's sake.
        alg: Philox, under any of its names.

    Returns:
        A tensor of `dtype`.
    """
    check_algorithm(alg)
    raw = float_dtype("stateless_normal", dtype)
    return scaled(r.random_normal(*key_of(seed), shape=size_of(shape), dtype=raw), stddev, mean)


@public
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Numbers of a normal distribution cut off at two standard deviations; the same for a seed.

    Args:
        shape: of the result.
        seed: a pair of integers.
        mean: of the distribution before it is cut off.
        stddev: standard deviation before it is cut off.
        dtype: a floating type.
        name: accepted for TensorFlow's sake.
        alg: Philox, under any of its names.

    Returns:
        A tensor of `dtype`.
    """
    check_algorithm(alg)
    raw = float_dtype("stateless_truncated_normal", dtype)
    drawn = r.random_truncated_normal(*key_of(seed), shape=size_of(shape), dtype=raw)
    return scaled(drawn, stddev, mean)


def check_algorithm(alg: Any) -> None:
    """Only Philox is drawn with; it is also what TensorFlow selects on CPUs."""
    named = str(alg).lower() if isinstance(alg, str) else getattr(alg, "value", alg)
    if named in ("threefry", 2):
        raise NotImplementedError(
            "stateless random: the algorithm threefry is not there. Use 'philox'."
        )
    if named not in ("auto_select", "philox", 1, 3):
        raise ValueError(
            f"stateless random: alg must be 'philox' or 'auto_select'. Received {alg!r}."
        )
