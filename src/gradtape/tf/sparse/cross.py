"""Crosses of categorical features: every combination of the values in a row, joined or hashed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.dtypes import string
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import make_tensor
from gradtape.graph.host_function import call_on_host, describe_sparse
from gradtape.tf.strings.hash_bucket import farmhash

DEFAULT_HASH_KEY = 0xDECAFCAFFE
DEFAULT_SEPARATOR = "_X_"
MURMUR_FACTOR = np.uint64(0xC6A4A7935BD1E995)  # the constants of MurmurHash64A
MURMUR_SHIFT = np.uint64(47)
LARGEST_HASH = np.uint64(2**63 - 1)


@public
def cross(inputs: Any, name: str | None = None, separator: str | None = None) -> SparseTensor:
    """Row by row, all combinations of one value from each input, as strings.

    Args:
        inputs: tensors or SparseTensors of shape (batch, n) of strings or integers.
        name: of the op.
        separator: string between values; "_X_" if None.

    Returns:
        A SparseTensor of strings.

    Example:
        >>> tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([["x"]])]).values.numpy()
        array([b'a_X_x', b'b_X_x'], dtype=object)
    """
    between = (DEFAULT_SEPARATOR if separator is None else separator).encode()
    columns = as_cross_columns(inputs, "cross")
    return set_static_shape(cross_columns(columns, separator=between), columns)


@public
def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Row by row, all combinations of one value from each input, as hashes.

    Args:
        inputs: tensors or SparseTensors of shape (batch, n) of strings or integers.
        num_buckets: hashes are taken modulo this number; 0 for no bound.
        hash_key: the initial value of the hash.
        name: of the op.

    Returns:
        A SparseTensor of int64.

    Example:
        >>> inputs = [tf.constant([["a", "b"]]), tf.constant([["e"]])]
        >>> tf.sparse.cross_hashed(inputs, num_buckets=100).values.numpy()
        array([17, 61])
    """
    num_buckets = as_integer(num_buckets, "num_buckets")
    if num_buckets < 0:
        raise InvalidArgumentError(
            f"cross_hashed: num_buckets must be >= 0. Received {num_buckets}."
        )
    key = DEFAULT_HASH_KEY if hash_key is None else hash_key
    columns = as_cross_columns(inputs, "cross_hashed")
    return set_static_shape(cross_columns(columns, buckets=num_buckets, key=key), columns)


def as_cross_columns(inputs: Any, op: str) -> list[Any]:
    """Convert the inputs to tensors or sparse tensors, and check shape and dtype."""
    if not isinstance(inputs, Sequence):
        raise TypeError(f"{op}: inputs must be a list. Received {type(inputs).__name__}.")
    columns = [one if isinstance(one, SparseTensor) else convert(one) for one in inputs]
    for column in columns:
        if len(column.shape) != 2:
            raise InvalidArgumentError(
                f"{op}: inputs must have the shape (batch, n). Received {column.shape}."
            )
        if not (column.dtype.is_integer or column.dtype.name == "string"):
            raise TypeError(
                f"{op}: inputs must be strings or integers. Received {column.dtype.name}."
            )
    return columns


def set_static_shape(result: SparseTensor, columns: list[Any]) -> SparseTensor:
    """Replace the dense shape by one that does not depend on values, if all columns are dense."""
    if any(isinstance(column, SparseTensor) for column in columns):
        return result
    width = prod(column._array.shape[1] for column in columns)
    shape = np.array([columns[0]._array.shape[0], width], np.int64)
    return SparseTensor(result.indices, result.values, make_tensor(shape))


def describe_cross(columns: list[Any], separator: bytes | None = None, **_: Any) -> Any:
    """Result rule of `cross_columns`."""
    return describe_sparse([None, None], np.int64 if separator is None else string)


@call_on_host(describe_cross)
def cross_columns(
    columns: list[Any], separator: bytes | None = None, buckets: int = 0, key: int = 0
) -> SparseTensor:
    """Compute the crosses: joined by `separator`, or hashed if it is None."""
    parts = [flatten_column(column) for column in columns]
    batch = parts[0][2]
    if any(rows != batch for _, _, rows in parts):
        raise InvalidArgumentError(
            f"cross: inputs must have one batch size. Received {[rows for _, _, rows in parts]}."
        )
    counts = np.array([np.bincount(at, minlength=batch) for _, at, _ in parts], np.int64)
    totals = counts.prod(axis=0)
    row = np.repeat(np.arange(batch), totals)
    place = np.arange(len(row)) - np.repeat(np.cumsum(totals) - totals, totals)
    left = place
    chosen = []
    for (values, _, _), count in reversed(list(zip(parts, counts, strict=True))):
        first = (np.cumsum(count) - count)[row]  # index of the first value of the row
        chosen.append(values[first + left % np.maximum(count, 1)[row]])
        left = left // np.maximum(count, 1)[row]
    chosen.reverse()
    values = (
        join_crosses(chosen, separator)
        if separator is not None
        else hash_crosses(chosen, buckets, key)
    )
    width = int(totals.max(initial=0))
    return SparseTensor(
        make_tensor(np.stack([row, place], axis=1).astype(np.int64)),
        make_tensor(values),
        make_tensor(np.array([batch, width], np.int64)),
    )


def flatten_column(column: Any) -> tuple[Any, Any, int]:
    """The values of a column, the row number of each, and the number of rows."""
    if isinstance(column, SparseTensor):
        return column.values.numpy(), column.indices.numpy()[:, 0], int(column.shape[0])
    raw = column.numpy()
    return raw.reshape(-1), np.repeat(np.arange(raw.shape[0]), raw.shape[1]), raw.shape[0]


def join_crosses(chosen: list[Any], separator: bytes) -> Any:
    """Convert values to strings and join them with `separator`."""
    texts = [c if c.dtype == object else c.astype(str).astype(object) for c in chosen]
    texts = [
        t if c.dtype == object else encode_strings(t) for t, c in zip(texts, chosen, strict=True)
    ]
    out = texts[0]
    for text in texts[1:]:
        out = out + separator + text
    return out


def encode_strings(texts: Any) -> Any:
    """Encode an array of `str` as an array of `bytes`."""
    out = np.empty(len(texts), object)
    out[:] = [text.encode() for text in texts]
    return out


def hash_crosses(chosen: list[Any], buckets: int, key: int) -> Any:
    """Hash the values of each combination."""
    out = np.full(len(chosen[0]), key & (2**64 - 1), np.uint64)
    for values in chosen:
        if values.dtype == object:
            hashes = {text: farmhash(text) for text in set(values.tolist())}
            prints = np.array([hashes[text] for text in values.tolist()], np.uint64)
        else:
            prints = values.astype(np.int64).view(np.uint64)
        out = out ^ MURMUR_FACTOR ^ (shift_mix_array(prints * MURMUR_FACTOR) * MURMUR_FACTOR)
        out = shift_mix_array(shift_mix_array(out * MURMUR_FACTOR) * MURMUR_FACTOR)
    bound = np.uint64(buckets) if buckets else LARGEST_HASH
    return (out % bound).astype(np.int64)


def shift_mix_array(x: Any) -> Any:
    """MurmurHash's shift-mix of each element: x ^ (x >> 47)."""
    return x ^ (x >> MURMUR_SHIFT)
