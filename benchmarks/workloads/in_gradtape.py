"""The workloads in gradtape: TensorFlow's folder, with gradtape in TensorFlow's place."""

import sys
from importlib.metadata import PackageNotFoundError, version

import numpy as np

import gradtape

sys.modules["tensorflow"] = gradtape
from workloads import in_tensorflow  # noqa: E402 - it must find gradtape there


def __getattr__(name):
    return getattr(in_tensorflow, name)


def versions():
    try:
        return {"gradtape": version("gradtape"), "numpy": np.__version__}
    except PackageNotFoundError:
        return {"gradtape": "source tree", "numpy": np.__version__}


def use_threads(n):
    """The environment has said it: BLAS reads it when it is loaded."""


def wait(results):
    """Look at the first: what one call computes is there together."""
    np.asarray(results[0])
