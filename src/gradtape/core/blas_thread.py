"""Threads of BLAS: gradtape's matrix products run in one thread, other code keeps its threads.

The threads of OpenBLAS wait for each other in busy loops. On a machine with other work, one product
then takes up to a hundred times longer. So `BlasLibrary.run` sets OpenBLAS to one thread around a
plan or kernel with a large product, and restores the number afterwards. OpenBLAS itself uses one
thread for small products, which therefore cost nothing here.

The environment variables OPENBLAS_NUM_THREADS and OMP_NUM_THREADS turn this off; a number set by
`limit_blas_threads` replaces the one. Other BLAS libraries keep their threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections import deque
from collections.abc import Callable
from importlib import import_module
from itertools import starmap
from typing import Any

import numpy as np

from gradtape.core.ownership import HAS_GIL

# Multiply-adds, elements and so on from which OpenBLAS uses threads in any of its versions.
MIN_THREADED_PRODUCT = 1 << 18  # a matrix by a matrix, real
MIN_THREADED_VECTOR = 9216  # complex products, and dot products
MIN_THREADED_LAPACK = 24 * 24  # decompositions
MIN_THREADED_SUM = 1 << 17  # products with a vector of ones; below, switching costs too much
NEVER = 1 << 100  # above all sizes; Python compares integers faster than with infinity

ENVIRONMENT_NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
NO_ARGUMENTS = ((),)
FIRST = (0,)
SYMBOLS = [
    (f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
    for prefix in ("scipy_", "")
    for suffix in ("64_", "", "_64")
]


class BlasThreadSettings:
    """Settings of the process: the attributes of `blas_threads`.

    Attributes:
        limit: number of threads of a product, or None to leave the libraries alone.
        product, vector, lapack, sum: sizes from which `limit` matters; `NEVER` without a limit.
    """

    __slots__ = ("lapack", "limit", "product", "sum", "vector")

    def __init__(self) -> None:
        """Set no limit."""
        self.limit: int | None = None
        self.product = self.vector = self.lapack = self.sum = NEVER


blas_threads = BlasThreadSettings()  # reading an object's slot is faster than a class attribute


class BlasLibrary:
    """The OpenBLAS that an extension module is linked to, if it is an OpenBLAS.

    Attributes:
        holders: one object for each call that runs with the limit.
        saved: the number of threads to restore; empty if there is nothing to restore.
    """

    def __init__(self, module: str) -> None:
        """The library of `module`; it is looked up on first use."""
        self.module = module
        self.holders: list[object] = []
        self.saved: list[int] = []
        self.functions: tuple[Callable[[], int], Callable[[int], None]] | None = None
        self.is_known = False

    def find(self) -> tuple[Callable[[], int], Callable[[int], None]] | None:
        """Look up the functions that read and set the number of threads."""
        if not self.is_known:
            if HAS_GIL:
                self.functions = find_thread_functions(self.module)
            self.is_known = True
        return self.functions

    def run(self, function: Callable[..., Any], *args: Any, **static: Any) -> Any:
        """Call a function with the limit of `blas_threads`.

        Every step that changes something is one C call, and Python switches threads and runs
        signal handlers only between calls. So concurrent calls count correctly without a lock, and
        an interrupt anywhere restores the number.
        """
        found, limit = self.functions or self.find(), blas_threads.limit
        if found is None or limit is None:
            return function(*args, **static)
        read_number, set_number = found
        holders, saved, mine = self.holders, self.saved, object()
        restore = map(set_number, map(saved.pop, FIRST))
        save = starmap(read_number, NO_ARGUMENTS)
        try:
            holders.append(mine)
            if not saved:
                saved.extend(save)
            set_number(limit)
            return function(*args, **static)
        finally:
            try:
                if mine in holders:
                    holders.remove(mine)
            finally:
                if not holders and saved:
                    deque(restore, 0)

    def reset_after_fork(self) -> None:
        """Forget calls of threads that the child process does not have."""
        self.holders.clear()
        if self.saved and self.functions is not None:
            self.functions[1](self.saved[0])
        self.saved.clear()


NUMPY_BLAS = BlasLibrary("numpy.linalg._umath_linalg")
SCIPY_BLAS = BlasLibrary("scipy.linalg._fblas")


def find_thread_functions(module: str) -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Find OpenBLAS's functions through an extension module; None if it has another BLAS."""
    path = getattr(import_module(module), "__file__", None) or ""
    package = os.path.dirname(import_module(module.partition(".")[0]).__file__ or "")
    from glob import glob  # the import of the package needs no other module of it

    for name in [path, *glob(f"{package}.libs/*openblas*")]:
        with contextlib.suppress(OSError):
            library = ctypes.PyDLL(name)  # calls keep the GIL: they are short
            for read_name, set_name in SYMBOLS:
                with contextlib.suppress(AttributeError):
                    read_number, set_number = library[read_name], library[set_name]
                    read_number.argtypes, set_number.argtypes = [], [ctypes.c_int]
                    set_number.restype = None
                    return read_number, set_number
    return None


def limit_blas_threads(number: int) -> None:
    """Set the number of threads of a product; 0: one thread, unless the environment names some."""
    settings = blas_threads
    named = any(os.environ.get(name) for name in ENVIRONMENT_NAMES)
    settings.limit = number if number > 0 else None if named else 1
    free = settings.limit is None
    settings.product = NEVER if free else MIN_THREADED_PRODUCT
    settings.vector = NEVER if free else MIN_THREADED_VECTOR
    settings.lapack = NEVER if free else MIN_THREADED_LAPACK
    settings.sum = NEVER if free else MIN_THREADED_SUM


def run_product(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """Multiply matrices, in the limited number of threads if they are large."""
    if is_threaded_product(a.size * b.shape[-1], a.dtype, a.shape[-2] * b.shape[-1]):
        return NUMPY_BLAS.run(function, a, b)
    return function(a, b)


def run_sum(function: Callable[..., Any], x: Any, *args: Any) -> Any:
    """Sum `x` by products with ones, in the limited number of threads if it is large."""
    if x.size >= blas_threads.sum:
        return NUMPY_BLAS.run(function, x, *args)
    return function(x, *args)


def run_lapack(function: Callable[..., Any], a: Any, *args: Any, **static: Any) -> Any:
    """Decompose matrices or solve a system, in the limited number of threads if `a` is large."""
    if type(a) is np.ndarray and a.size >= blas_threads.lapack:
        return NUMPY_BLAS.run(function, a, *args, **static)
    return function(a, *args, **static)


def run_scipy(function: Callable[..., Any], *args: Any, **static: Any) -> Any:
    """Call a function of `scipy.linalg`, which may also call NumPy, with the limit."""
    return NUMPY_BLAS.run(SCIPY_BLAS.run, function, *args, **static)


def is_threaded_product(work: int, dtype: Any, size: int) -> bool:
    """Whether OpenBLAS may use threads for `work` multiply-adds that give `size` elements."""
    settings = blas_threads
    if dtype.kind == "c" or size == 1:
        return work >= settings.vector
    return work >= settings.product


limit_blas_threads(0)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=NUMPY_BLAS.reset_after_fork)
    os.register_at_fork(after_in_child=SCIPY_BLAS.reset_after_fork)
