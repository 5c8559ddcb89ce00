"""Functions that make ragged tensors of flat values and splits, or convert to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.ports import RaggedPort
from gradtape.core.ragged.row_partition import RowPartition
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.tensor import Tensor


def ragged_from_splits(values: Any, splits: Tensor, uniform: int | None = None) -> RaggedTensor:
    """Make a RaggedTensor of values and row splits; `uniform` is the uniform row length."""
    return RaggedTensor(
        values, RowPartition(splits, uniform, internal=RaggedPort), internal=RaggedPort
    )


def ragged_from_nested_splits(
    flat: Any, splits: Sequence[Tensor], sizes: Sequence[int | None] = ()
) -> Any:
    """Make a RaggedTensor of nested splits, outermost first; without splits, return `flat`."""
    lengths = list(sizes) or [None] * len(splits)
    for one, uniform in zip(reversed(splits), reversed(lengths), strict=True):
        flat = ragged_from_splits(flat, one, uniform)
    return flat


def as_ragged_or_tensor(value: Any, dtype: Any = None, hint: Any = None) -> Any:
    """Convert to a tensor; a ragged tensor is returned unchanged."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and value.dtype is not dtypes.as_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor "
                f"with dtype {value.dtype.name}: {value}. Cast it first."
            )
        return value
    return convert(value, dtype, hint)
