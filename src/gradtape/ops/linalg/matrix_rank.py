"""Lowering of the matrix rank for JAX; see `xla_lowering`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.linalg.decomposition import svd


def rank_of(x: Any, tol: Any) -> Any:
    """Number of singular values above `tol`, by default the rounding error of the largest."""
    values = svd(x)[0]
    if tol is None:
        largest = np.max(values, axis=-1, keepdims=True, initial=0)
        least = max(x.shape[-2:]) * largest * np.finfo(values.dtype).eps
    else:
        least = tol
    return np.sum(values > least, axis=-1).astype(np.int32)
