"""The workloads in gradtape: TensorFlow's folder, with gradtape in place of TensorFlow."""

import sys
from importlib.metadata import PackageNotFoundError, version

import numpy as np

import gradtape

sys.modules["tensorflow"] = gradtape
from workloads import in_tensorflow  # noqa: E402 - after gradtape is installed as tensorflow


def __getattr__(name):
    return getattr(in_tensorflow, name)


def versions():
    try:
        return {"gradtape": version("gradtape"), "numpy": np.__version__}
    except PackageNotFoundError:
        return {"gradtape": "source tree", "numpy": np.__version__}


def use_threads(n):
    """Do nothing: BLAS reads the environment variables when it is loaded."""


def wait(results):
    """Read the first result: all results of a call are ready at the same time."""
    np.asarray(results[0])
