"""The pseudo-inverse of matrices, for least squares without full rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.blas_thread import run_lapack
from gradtape.core.primitive import primitive
from gradtape.ops.linalg.matmul import adjoint, matmul
from gradtape.ops.linalg.nonfinite import map_finite, map_masked
from gradtape.ops.no_nan import conj_if_complex
from gradtape.ops.shape import swap


def pseudo_inverse_wrt_a(g, a, out):
    """Golub and Pereyra, 1973, equation 4.12; it holds where the rank does not change."""
    gt, outh = swap(g), adjoint(out)
    left = matmul(gt, matmul(out, outh))  # times the projection onto what `a` does not reach
    left = left - matmul(a, matmul(out, left))
    right = matmul(matmul(outh, out), gt)
    right = right - matmul(matmul(right, out), a)
    return conj_if_complex(left + right) - matmul(swap(out), matmul(g, swap(out)))


def transpose_shape(a):
    return (*a.shape[:-2], a.shape[-1], a.shape[-2])


@primitive(a=pseudo_inverse_wrt_a, shape=transpose_shape)
def pseudo_inverse(a):
    """Moore-Penrose inverse; singular values below the rounding error count as zero."""
    return map_finite(compute_pseudo_inverse, a)


def compute_pseudo_inverse(a: Any) -> Any:
    """Pseudo-inverse of finite matrices."""
    tolerance = np.finfo(a.dtype).eps * min(a.shape[-2:])
    return run_lapack(np.linalg.pinv, a, rcond=tolerance)


@pseudo_inverse.lower
def lower_pseudo_inverse(a):
    return map_masked(compute_pseudo_inverse_on_jax, a)


def compute_pseudo_inverse_on_jax(a: Any) -> Any:
    """Pseudo-inverse of finite matrices on JAX."""
    return np.linalg.pinv(a, rtol=np.finfo(a.dtype).eps * min(a.shape[-2:]))
