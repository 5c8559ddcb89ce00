"""The workloads in autograd (HIPS)."""

from importlib.metadata import version

import numpy as np

from workloads import in_order
from workloads.in_autograd import basics, nets, solvers

chapters = [basics, nets, solvers]


def versions():
    return {"autograd": version("autograd"), "numpy": np.__version__}


def use_threads(n):
    """The environment has said it: BLAS reads it when it is loaded."""


def runner(work, mode):
    if mode != "eager":
        raise NotImplementedError("autograd compiles nothing")
    return in_order(work)


def wait(results):
    """NumPy is done when it returns."""


def as_numpy(results):
    return [np.asarray(r) for r in results]
