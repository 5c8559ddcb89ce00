"""The workloads in NumPy, differentiated by hand."""

import numpy as np

from workloads import make_step_function
from workloads.in_numpy import basics, nets, solvers

modules = [basics, nets, solvers]


def versions():
    return {"numpy": np.__version__}


def use_threads(n):
    """Do nothing: BLAS reads the environment variables when it is loaded."""


def runner(work, mode):
    """NumPy has no compiler; its eager step is the reference in all modes."""
    return make_step_function(work)


def wait(results):
    """Do nothing: NumPy is synchronous."""


def as_numpy(results):
    return [np.asarray(r) for r in results]
