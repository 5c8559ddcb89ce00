"""The workloads in NumPy, differentiated by hand."""

import numpy as np

from workloads import in_order
from workloads.in_numpy import basics, nets, solvers

chapters = [basics, nets, solvers]


def versions():
    return {"numpy": np.__version__}


def use_threads(n):
    """The environment has said it: BLAS reads it when it is loaded."""


def runner(work, mode):
    """Nothing compiles NumPy; it stands beside what is compiled."""
    return in_order(work)


def wait(results):
    """NumPy is done when it returns."""


def as_numpy(results):
    return [np.asarray(r) for r in results]
