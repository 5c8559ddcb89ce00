"""The workloads in autograd (HIPS)."""

from importlib.metadata import version

import numpy as np

from workloads import make_step_function
from workloads.in_autograd import basics, nets, solvers

modules = [basics, nets, solvers]


def versions():
    return {"autograd": version("autograd"), "numpy": np.__version__}


def use_threads(n):
    """Do nothing: BLAS reads the environment variables when it is loaded."""


def runner(work, mode):
    if mode != "eager":
        raise NotImplementedError("autograd has no compiler")
    return make_step_function(work)


def wait(results):
    """Do nothing: NumPy is synchronous."""


def as_numpy(results):
    return [np.asarray(r) for r in results]
