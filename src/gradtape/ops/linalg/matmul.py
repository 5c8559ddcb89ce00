"""Matrix products over the last two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.blas_thread import blas_threads, run_product
from gradtape.core.dtypes import accumulator
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import conj
from gradtape.ops.shape import reshape, shape_of, swap


def matmul_wrt_b(g, a, b_spec):
    """For many `a` and one matrix `b`, one tall product instead of a sum over a batch."""
    shape = shape_of(a)
    n = len(shape)
    if n > 2 and len(b_spec.shape) == 2:
        rows = 1
        for size in shape[:-1]:
            rows *= size
        a = reshape(a, shape=(rows, shape[-1]), rank=n)
        g = reshape(g, shape=(rows, b_spec.shape[-1]), rank=n)
    return matmul(swap(a), g)


def matmul_shape(a, b):
    return (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])


@primitive(core=2, a=lambda g, b: matmul(g, swap(b)), b=matmul_wrt_b, shape=matmul_shape)
def matmul(a, b):
    """Matrix product over the last two axes, accumulated in float32 for the half types."""
    if a.ndim == 2 == b.ndim and a.itemsize > 2:
        if a.size * b.size >= blas_threads.product:
            return run_product(np.dot, a, b)
        return a.dot(b) if type(a) is np.ndarray else np.dot(a, b)  # calling the method is faster
    wide = accumulator(a.dtype)
    if wide is not a.dtype:
        return matmul_raw(a.astype(wide), b.astype(wide)).astype(a.dtype)
    return matmul_raw(a, b)


def matmul_raw(a: Any, b: Any) -> Any:
    """Matrix product of raw arrays, written so that NumPy calls BLAS."""
    if b.ndim == 2:
        if a.ndim == 2:
            return run_product(np.dot, a, b)
        if a.size:
            rows = run_product(np.dot, a.reshape(-1, a.shape[-1]), b)
            return rows.reshape(*a.shape[:-1], b.shape[-1])
    elif a.ndim == 2 and b.shape[-1] == 1 and b.size:  # a stack of vectors is one matrix
        rows = run_product(np.dot, b.reshape(-1, b.shape[-2]), a.swapaxes(0, 1))
        return rows.reshape(*b.shape[:-2], a.shape[0], 1)
    elif a.shape[-1] == 1 and a.ndim > 2:  # outer products, which BLAS computes one by one
        return a * b
    return run_product(np.matmul, a, b)


def adjoint(x: Any) -> Any:
    """Conjugate transpose."""
    return conj(swap(x))
