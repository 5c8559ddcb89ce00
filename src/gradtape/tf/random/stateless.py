"""Stateless tf.random functions: results depend only on the seed argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shape_rule import keep_shape, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops.gather_scatter import take
from gradtape.ops.random import stateless as r
from gradtape.state.random.sample import (
    INTEGER_DTYPES,
    check_algorithm,
    check_float_dtype,
    check_sample_shape,
    draw_uniform,
    scale_and_shift,
    stateless_key,
)
from gradtape.tf.array.concat_split import stack

SHUFFLE_KEY_WORD = 498247692  # first word of the key of `index_shuffle`; the seed follows


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
    """Numbers drawn uniformly from [minval, maxval), determined by the seed.

    Args:
        shape: of the result.
        seed: a pair of integers.
        minval: lower bound, included.
        maxval: upper bound, excluded; 1 for floats if None.
        dtype: a floating type or an integer type of 32 or 64 bits. With minval and maxval None,
            integers are drawn over their whole range.
        name: has no effect here.
        alg: "philox" or "auto_select", which is the same.

    Returns:
        A tensor of `shape` and `dtype`.

    Example:
        >>> tf.random.stateless_uniform([2], seed=[1, 2]).numpy()
        array([0.8440604 , 0.19204533], dtype=float32)
    """
    check_algorithm(alg)
    return draw_uniform(
        "stateless_uniform",
        lambda op, raw: stateless_key(seed),
        check_sample_shape(shape),
        minval,
        maxval,
        dtype,
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
    """Samples of a normal distribution, determined by the seed.

    Args:
        shape: of the result.
        seed: a pair of integers.
        mean: of the distribution.
        stddev: standard deviation.
        dtype: a floating type.
        name: has no effect here.
        alg: "philox" or "auto_select", which is the same.

    Returns:
        A tensor of `dtype`.

    Example:
        >>> a = tf.random.stateless_normal([3], seed=[1, 2])
        >>> b = tf.random.stateless_normal([3], seed=[1, 2])
        >>> bool(tf.reduce_all(a == b))
        True
    """
    check_algorithm(alg)
    raw = check_float_dtype("stateless_normal", dtype)
    return scale_and_shift(
        r.random_normal(*stateless_key(seed), shape=check_sample_shape(shape), dtype=raw),
        stddev,
        mean,
    )


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
    """Samples of a normal distribution truncated at two standard deviations.

    The seed determines them.

    Args:
        shape: of the result.
        seed: a pair of integers.
        mean: of the distribution before truncation.
        stddev: standard deviation before truncation.
        dtype: a floating type.
        name: has no effect here.
        alg: "philox" or "auto_select", which is the same.

    Returns:
        A tensor of `dtype`.

    Example:
        >>> tf.random.stateless_truncated_normal([3], seed=[1, 2]).shape
        TensorShape([3])
    """
    check_algorithm(alg)
    raw = check_float_dtype("stateless_truncated_normal", dtype)
    drawn = r.random_truncated_normal(
        *stateless_key(seed), shape=check_sample_shape(shape), dtype=raw
    )
    return scale_and_shift(drawn, stddev, mean)


@public
def split(seed: Any, num: int = 2, alg: Any = "auto_select") -> Tensor:
    """New seeds derived from one seed.

    Args:
        seed: a pair of integers.
        num: how many seeds to make.
        alg: "philox" or "auto_select", which is the same.

    Returns:
        A tensor of shape (num, 2) and the dtype of `seed`.

    Example:
        >>> tf.random.split([1, 2], 2).numpy()
        array([[1105988140, 1738052849],
               [-335576002,  370444179]], dtype=int32)
    """
    pair = convert(seed)
    return stateless_uniform([num, 2], pair, None, None, pair.dtype, alg=alg)


@public
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """A new seed derived from a seed and an integer.

    Args:
        seed: a pair of integers.
        data: an integer of 32 or 64 bits.
        alg: "philox" or "auto_select", which is the same.

    Returns:
        A pair of integers of the dtype of `data`.
    """
    number = convert(data)
    first = stateless_uniform([], seed, None, None, number.dtype, alg=alg)
    result: Tensor = stack([first, number])
    return result


@public
def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Tensor:
    """`value` with its slices along the first axis in an order determined by the seed.

    Args:
        value: a tensor with at least one axis.
        seed: a pair of integers.
        alg: "philox" or "auto_select", which is the same.
        name: has no effect here.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> tf.random.experimental.stateless_shuffle([1, 2, 3, 4], seed=[1, 2]).shape
        TensorShape([4])
    """
    check_algorithm(alg)
    tensor = convert(value)
    key, counter = stateless_key(seed)
    if not tensor._array.shape or tensor._array.shape[0] < 2:
        return tensor
    order = apply_raw(r.permute_indices, key, counter, tensor._array.shape[0])
    result: Tensor = take(tensor, order, axis=-tensor.ndim)
    return result


@public
def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """The image of `index` under a permutation of the integers from 0 to `max_index`.

    The permutation itself is not computed.

    Args:
        index: an integer or a vector of integers in [0, max_index].
        seed: a pair of integers, or one for each index.
        max_index: the largest integer, or one for each index.

    Returns:
        A tensor like `index`.

    Raises:
        InvalidArgumentError: if an index does not lie in [0, max_index].
    """
    given = [convert(x) for x in (index, seed, max_index)]
    indices, pairs, _ = (x._array for x in given)
    if indices.dtype not in INTEGER_DTYPES or pairs.dtype not in INTEGER_DTYPES:
        raise InvalidArgumentError(
            "index_shuffle: index and seed must be integers of 32 or 64 bits. "
            f"Received {indices.dtype} and {pairs.dtype}."
        )
    if pairs.shape[-1:] != (2,) or np.ndim(indices) > 1:
        raise InvalidArgumentError(
            "index_shuffle: seed must have shape [2] or [n, 2], index at most one axis. "
            f"Received {list(pairs.shape)} and {list(np.shape(indices))}."
        )
    result: Tensor = apply_raw(shuffle_indices, *given)
    return result


@with_shape(keep_shape)
def shuffle_indices(indices: Any, pairs: Any, tops: Any) -> Any:
    """Images of raw indices under the permutations that raw seeds determine."""
    if np.any(indices < 0) or np.any(indices > tops):
        raise InvalidArgumentError(
            f"index_shuffle: index must be in [0, max_index]. Received {indices} and {tops}."
        )
    keys = np.broadcast_to(pairs, (*np.shape(indices), 2)).reshape(-1, 2).tolist()
    each = np.broadcast_to(tops, np.shape(indices)).reshape(-1).tolist()
    found = [
        r.shuffle_index(i, (SHUFFLE_KEY_WORD, *key), top)
        for i, key, top in zip(np.reshape(indices, -1).tolist(), keys, each, strict=True)
    ]
    return np.array(found, indices.dtype).reshape(np.shape(indices))[()]
