"""Embedding lookups of several rows per example, combined into one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FLOAT32, FRESH, INT64, with_shape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import scatter_add
from gradtape.ops.no_nan import divide_no_nan
from gradtape.tf.nn.embedding import embedding_lookup

COMBINERS = ("mean", "sqrtn", "sum")


def combine_embeddings(
    params: Any, ids: Any, rows: Any, weights: Any, size: int, combiner: str | None, max_norm: Any
) -> Tensor:
    """Look up `ids` in `params` and combine the results with equal `rows`."""
    how = combiner or "mean"
    if how not in COMBINERS:
        raise ValueError(f"combiner must be one of {COMBINERS}. Received {combiner!r}.")
    found = embedding_lookup(params, ids, max_norm)
    rank = found._array.ndim
    kind = found._array.dtype
    if weights is None:
        weight: Any = make_tensor(np.ones(np.shape(ids._array), kind))
    else:
        weight = e.cast(convert(weights), dtype=kind)
    column = s.reshape(weight, shape=(*weight._array.shape, *(1,) * (rank - 1)), rank=1)
    total = scatter_add(e.multiply(found, column), rows, axis=-rank, size=size)
    if how == "sum":
        return total
    scale = scatter_add(weight if how == "mean" else e.square(weight), rows, axis=-1, size=size)
    scale = e.sqrt(scale) if how == "sqrtn" else scale
    scale = s.reshape(scale, shape=(size, *(1,) * (rank - 1)), rank=1)
    return divide_no_nan(total, scale)


def split_sparse_tensor(op: str, sparse: Any, which: str) -> tuple[Tensor, Tensor]:
    """Split a sparse or ragged tensor into indices and values."""
    if isinstance(sparse, RaggedTensor):
        if sparse.ragged_rank != 1 or sparse.flat_values._array.ndim != 1:
            raise ValueError(
                f"{op}: ragged {which} must have two axes. Received shape {sparse.shape}."
            )
        rows = e.cast(sparse.value_rowids(), dtype=np.dtype(np.int64))
        return s.reshape(rows, shape=(*rows._array.shape, 1), rank=1), sparse.flat_values
    if not all(hasattr(sparse, name) for name in ("indices", "values", "dense_shape")):
        raise TypeError(f"{op}: {which} must be a SparseTensor. Received {type(sparse).__name__}.")
    return convert(sparse.indices), convert(sparse.values)


def check_same_kind(op: str, ids: Any, weights: Any) -> None:
    """Raise unless ids and weights are both sparse or both ragged."""
    if weights is not None and isinstance(ids, RaggedTensor) != isinstance(weights, RaggedTensor):
        raise TypeError(
            f"{op}: ids and weights must both be sparse or both be ragged. Received "
            f"{type(ids).__name__} and {type(weights).__name__}."
        )


@public
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Rows of a table, several per example, combined into one row.

    Args:
        params: the table, or a list of its parts.
        sp_ids: a SparseTensor or RaggedTensor of ids; the ids of one row belong to one example.
        sp_weights: weights of the kind and with the indices of `sp_ids`, or None for ones.
        combiner: "sum", "mean" or "sqrtn" (the sum over the norm of the weights); "mean" if None.
        max_norm: rows of the table are first scaled down to this norm, if given.
        name: has no effect here.
        allow_fast_lookup: has no effect here.

    Returns:
        A row for each row of `sp_ids`, up to the last one that is not empty.
    """
    op = "embedding_lookup_sparse"
    places, ids = split_sparse_tensor(op, sp_ids, "sp_ids")
    check_same_kind(op, sp_ids, sp_weights)
    weights = None if sp_weights is None else split_sparse_tensor(op, sp_weights, "sp_weights")[1]
    if weights is not None and weights._array.shape != ids._array.shape:
        raise InvalidArgumentError(
            f"{op}: sp_weights must have a value for each of sp_ids. Received shapes "
            f"{list(weights._array.shape)} and {list(ids._array.shape)}."
        )
    rows = apply_raw(take_first_column, places)
    return combine_embeddings(
        params, ids, rows, weights, compute_integer(count_rows, rows), combiner, max_norm
    )


@with_shape(lambda places: places.shape[:1])
def take_first_column(places: Any) -> Any:
    """Take the first entry of each row of raw indices."""
    return places[:, 0]


def count_rows(rows: Any) -> int:
    """Number of rows: the largest raw row plus one."""
    return int(rows.max(initial=-1)) + 1


@public
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`embedding_lookup_sparse` that skips invalid ids and returns a row for empty examples, too.

    Args:
        embedding_weights: the table, or a list of its parts.
        sparse_ids: a SparseTensor (..., n) of ids; negative ids are skipped.
        sparse_weights: a SparseTensor with the indices of `sparse_ids`, or None for ones. Ids
            whose weight is not positive are skipped, unless the combiner is "sum".
        combiner: "sum", "mean" or "sqrtn".
        default_id: the id for empty examples; they get zeros if None.
        max_norm: rows of the table are first scaled down to this norm, if given.
        name: has no effect here.
        allow_fast_lookup: has no effect here.

    Returns:
        (..., width), with an entry for each example, including empty ones.
    """
    op = "safe_embedding_lookup_sparse"
    places, ids = split_sparse_tensor(op, sparse_ids, "sparse_ids")
    if isinstance(sparse_ids, RaggedTensor):
        lead: tuple[int, ...] = (int(sparse_ids.nrows()),)
        places = s.pad(places, paddings=((0, 1),), value=0)
    else:
        lead = tuple(int(n) for n in np.asarray(convert(sparse_ids.dense_shape)._array))[:-1]
    size = int(np.prod(lead))
    weights = None
    if sparse_weights is not None:
        weights = split_sparse_tensor(op, sparse_weights, "sparse_weights")[1]
    given = (places, ids, weights, lead, combiner != "sum", default_id)
    rows, known, kept = apply_raw(clean_sparse_ids, *given, dynamic=True, outputs=True)
    weights = None if weights is None else kept
    out = combine_embeddings(embedding_weights, known, rows, weights, size, combiner, max_norm)
    return s.reshape(out, shape=(*lead, *out._array.shape[1:]), rank=out._array.ndim)


def clean_sparse_ids_specs(places: Any, ids: Any, weights: Any, *_: Any) -> list[Any]:
    """Specs of the results of `clean_sparse_ids`: how many entries remain depends on the data."""
    dtypes = (INT64, ids.dtype, FLOAT32 if weights is None else weights.dtype)
    return [Spec(((FRESH,), dtype)) for dtype in dtypes]


@with_shape(clean_sparse_ids_specs)
def clean_sparse_ids(
    places: Any, ids: Any, weights: Any, lead: tuple[int, ...], positive: bool, default_id: Any
) -> tuple[Any, Any, Any]:
    """Drop invalid raw entries and add `default_id` to empty rows; return rows, ids, weights."""
    rows = np.ravel_multi_index(tuple(places[:, :-1].T), lead) if len(places) else places[:, 0]
    weights = np.ones(ids.shape, np.float32) if weights is None else weights
    keep = (ids >= 0) & (weights > 0) if positive else ids >= 0
    rows, known, weights = rows[keep], ids[keep], weights[keep]
    if default_id is not None:
        empty = np.setdiff1d(np.arange(int(np.prod(lead))), rows)
        rows = np.concatenate([rows, empty])
        known = np.concatenate([known, np.full(len(empty), default_id, known.dtype)])
        weights = np.concatenate([weights, np.ones(len(empty), weights.dtype)])
    return rows.astype(np.int64), known, weights
