"""`map_fn` over the rows of sparse and ragged tensors, and with ragged results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.dtypes import int64
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.ragged.conversion import as_ragged_or_tensor, ragged_from_nested_splits
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.tf.array.concat_split import stack, unstack
from gradtape.tf.array.creation import zeros
from gradtape.tf.ragged.conversion import outer_size_of
from gradtape.tf.sparse.shape import concat as concat_sparse
from gradtape.tf.sparse.shape import expand_dims as expand_sparse
from gradtape.tf.sparse.shape import unstack_sparse


def needs_map_rows(elems: Any, signature: Any) -> bool:
    """Whether an input or an output is sparse or ragged."""
    kinds = (SparseTensor, RaggedTensor, SparseTensorSpec, RaggedTensorSpec)
    return any(isinstance(leaf, kinds) for leaf in nest.flatten((elems, signature)))


def unstack_rows(leaf: Any) -> list[Any]:
    """The slices along the first axis."""
    if isinstance(leaf, SparseTensor):
        return unstack_sparse(leaf)
    if isinstance(leaf, RaggedTensor):
        return [leaf[i] for i in range(outer_size_of(leaf))]
    return unstack(leaf)


def default_signature_of(leaf: Any) -> Any:
    """The output signature of a function that returns its input."""
    if not isinstance(leaf, RaggedTensor):
        return leaf.dtype
    return RaggedTensorSpec(leaf.shape[1:], leaf.dtype, leaf.ragged_rank - 1, leaf.row_splits.dtype)


def map_rows(fn: Callable[[Any], Any], elems: Any, signature: Any) -> Any:
    """Apply `fn` to each row of `elems` and stack the results as `signature` specifies."""
    slices = [unstack_rows(leaf) for leaf in nest.flatten(elems)]
    if signature is None:
        signature = nest.map_structure(default_signature_of, elems)
    columns: list[list[Any]] = [[] for _ in nest.flatten(signature)]
    for row in zip(*slices, strict=True):
        result = fn(nest.pack_sequence_as(elems, list(row)))
        nest.assert_same_structure(signature, result)
        for column, leaf in zip(columns, nest.flatten(result), strict=True):
            is_sparse = isinstance(leaf, SparseTensor)
            column.append(leaf if is_sparse else as_ragged_or_tensor(leaf))
    specs = nest.flatten(signature)
    whole = [stack_results(spec, column) for spec, column in zip(specs, columns, strict=True)]
    return nest.pack_sequence_as(signature, whole)


def stack_results(spec: Any, column: list[Any]) -> Any:
    """Stack the results for one leaf of the signature."""
    dtype = getattr(spec, "dtype", spec)
    for leaf in column:
        if leaf.dtype != dtype:
            raise InvalidArgumentError(
                f"map_fn: fn must return {dtype}, as its signature says. Received {leaf.dtype!r}."
            )
    if isinstance(spec, SparseTensorSpec):
        return stack_sparse(spec, column)
    if not isinstance(spec, RaggedTensorSpec):
        return stack(column) if column else zeros([0], dtype)
    if not column:
        inner = [n or 0 for n in (spec.shape.as_list() if spec.shape.rank else [])]
        start = make_tensor(spec.row_splits_dtype.as_numpy_dtype([0]))
        flat = zeros([0, *inner[spec.ragged_rank + 1 :]], dtype)
        return ragged_from_nested_splits(flat, [start] * (spec.ragged_rank + 1))
    from gradtape.tf.ragged.shape import stack as ragged_stack

    return ragged_stack(column)


def stack_sparse(spec: SparseTensorSpec, column: list[Any]) -> SparseTensor:
    """Stack sparse tensors along a new first axis; the largest sizes count."""
    if column:
        return concat_sparse(0, [expand_sparse(one, 0) for one in column], True)
    sizes = [0, *(n or 0 for n in (spec.shape.as_list() if spec.shape.rank else []))]
    return SparseTensor(
        zeros([0, len(sizes)], int64),
        zeros([0], spec.dtype),
        make_tensor(np.array(sizes, np.int64)),
    )
