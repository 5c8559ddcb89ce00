"""tf.ragged.cross and cross_hashed: all combinations of the elements of ragged rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.argument import as_integer, as_sequence
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import as_ragged_or_tensor, ragged_from_splits
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FRESH, INT64, with_shape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host
from gradtape.graph.raw_function import apply_raw
from gradtape.tf.array.gather import gather
from gradtape.tf.ragged.conversion import from_sparse, from_tensor, outer_size_of
from gradtape.tf.sparse.cross import DEFAULT_HASH_KEY, hash_crosses
from gradtape.tf.strings.conversion import as_string
from gradtape.tf.strings.join import join


@public
def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """All combinations of one element from each input, row by row, joined by "_X_".

    Args:
        inputs: ragged, sparse or dense tensors of rank 2 with strings or integers; the last of
            them varies fastest.
        name: has no effect here.

    Returns:
        A RaggedTensor of strings.

    Example:
        >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["d"], ["e"]]])
        <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>
    """
    splits, chosen = choose_combinations("cross", inputs)
    return ragged_from_splits(join([as_string(values) for values in chosen], "_X_"), splits)


@public
def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """All combinations of one element from each input, row by row, as hashes.

    Args:
        inputs: ragged, sparse or dense tensors of rank 2 with strings or integers.
        num_buckets: hashes are taken modulo this number; 0 for no bound.
        hash_key: the initial value of the hash.
        name: has no effect here.

    Returns:
        A RaggedTensor of int64.

    Example:
        >>> rows = tf.ragged.constant([["a"], ["b", "c"]])
        >>> tf.ragged.cross_hashed([rows, [["d"], ["e"]]], num_buckets=100)
        <tf.RaggedTensor [[82], [61, 41]]>
    """
    buckets = as_integer(num_buckets, "num_buckets")
    if buckets < 0:
        raise InvalidArgumentError(f"cross_hashed: num_buckets must be >= 0. Received {buckets}.")
    splits, chosen = choose_combinations("cross_hashed", inputs)
    key = DEFAULT_HASH_KEY if hash_key is None else hash_key
    return ragged_from_splits(hash_values(chosen, buckets, key), splits)


@call_on_host(lambda chosen, *_, **__: Spec((chosen[0]._array.shape, INT64)))
def hash_values(chosen: list[Tensor], buckets: int, key: int) -> Tensor:
    """The hash of the elements at each position of several tensors."""
    return make_tensor(hash_crosses([values._array for values in chosen], buckets, key))


def choose_combinations(op: str, inputs: Any) -> tuple[Tensor, list[Tensor]]:
    """Row splits of all combinations, and for each input its element in each of them."""
    parts = [as_ragged_matrix(one) for one in as_sequence(inputs, "inputs")]
    if len({outer_size_of(part) for part in parts}) > 1:
        raise InvalidArgumentError(f"ragged.{op}: inputs must have the same number of rows.")
    splits, *index = apply_raw(
        cross_row_splits, *(part.row_splits for part in parts), dynamic=True, outputs=True
    )
    return splits, [gather(part.values, at) for part, at in zip(parts, index, strict=True)]


def as_ragged_matrix(value: Any) -> RaggedTensor:
    """Convert a sparse or dense tensor of rank 2 to a ragged one."""
    if isinstance(value, SparseTensor):
        return from_sparse(value)
    found = as_ragged_or_tensor(value)
    return found if isinstance(found, RaggedTensor) else from_tensor(found)


def cross_row_splits_specs(*input_splits: Any) -> list[Any]:
    """Specs of the results of `cross_row_splits`."""
    return [Spec((input_splits[0].shape, INT64)), *[Spec(((FRESH,), INT64))] * len(input_splits)]


@with_shape(cross_row_splits_specs)
def cross_row_splits(*input_splits: Any) -> tuple[Any, ...]:
    """Row splits of all combinations, and for each input the index of the value in each."""
    lengths = [row_splits.lengths_of(splits).astype(np.int64) for splits in input_splits]
    new = row_splits.splits_from_lengths(np.prod(lengths, axis=0))
    ids, rest = row_splits.rowids_of(new), row_splits.offsets_of(new)
    found = []
    for splits, own in zip(reversed(input_splits), reversed(lengths), strict=True):
        rest, at = np.divmod(rest, own[ids])
        found.append(splits[ids] + at)
    return (new, *reversed(found))
