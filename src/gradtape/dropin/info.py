"""`gradtape info`: what a report of a bug should say about the installation."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any

from gradtape.dropin.adopt import is_own

PACKAGES = [
    "numpy",
    "scipy",
    "ml_dtypes",
    "keras",
    "jax",
    "jaxlib",
    "protobuf",
    "Pillow",
    "google-crc32c",
    "tensorflow",
    "torch",
]
PREFIXES = ("GRADTAPE_", "OMP_", "OPENBLAS_", "MKL_", "JAX_", "XLA_", "KERAS_", "TF_", "CUDA_")


def print_info(arguments: list[str]) -> int:
    """Print versions, engines, devices, BLAS, threads and settings, one line each."""
    if arguments:
        sys.stderr.write("usage: gradtape info\n")
        return 2
    for what, value in describe_installation():
        sys.stdout.write(f"{what + ':':<20} {value}\n")
    return 0


def describe_installation() -> Iterator[tuple[str, str]]:
    """Pairs of what is described and its value."""
    from gradtape.compile import engine
    from gradtape.tf.api.version import VERSION
    from gradtape.tf.config.device import list_physical_devices

    yield "gradtape", f"{version('gradtape')} (follows TensorFlow {VERSION})"
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    for name in PACKAGES:
        yield name, find_version(name)
    yield "engine", engine.current() or "chosen for each function"
    yield "devices", ", ".join(d.name for d in list_physical_devices())
    yield "processors", count_processors()
    yield from describe_blas()
    settings = {name: value for name, value in os.environ.items() if name.startswith(PREFIXES)}
    yield "environment", " ".join(f"{k}={v}" for k, v in sorted(settings.items())) or "no settings"


def find_version(package: str) -> str:
    """The version of an installed package, read without importing it."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return "not installed"
    return found.version + (" (gradtape adopt)" if is_own(found) else "")


def count_processors() -> str:
    """How many processors this process may use, and how many there are."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{usable} of {os.cpu_count()}"


def describe_blas() -> Iterator[tuple[str, str]]:
    """The BLAS with which NumPy and SciPy were built."""
    import numpy
    import scipy

    for package in (numpy, scipy):
        config: Any = package.show_config(mode="dicts")
        blas = config.get("Build Dependencies", {}).get("blas", {})
        yield f"BLAS of {package.__name__}", f"{blas.get('name')} {blas.get('version')}"
