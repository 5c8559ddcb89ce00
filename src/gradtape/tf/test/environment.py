"""tf.test: the test runner, and queries of the devices and the build."""

from __future__ import annotations

import importlib.util
import unittest
from collections.abc import Callable
from typing import Any

from gradtape.core.errors import public
from gradtape.tf.config.device import list_logical_devices


def main(argv: list[str] | None = None) -> None:
    """Run the tests of the main module.

    Args:
        argv: the arguments of the command line, or None.

    Returns:
        Nothing: it ends the process.
    """
    unittest.main(argv=argv)


@public
def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU of any vendor.

    Args:
        cuda_only: has no effect here.
        min_cuda_compute_capability: has no effect here.

    Returns:
        A bool.
    """
    return bool(gpu_device_name())


def gpu_device_name() -> str:
    """The name of a GPU, or an empty string.

    Returns:
        A string.
    """
    return next((d.name for d in list_logical_devices("GPU")), "")


def is_built_with_cuda() -> bool:
    """False: gradtape has no code of its own for NVIDIA GPUs.

    Returns:
        A bool.
    """
    return False


def is_built_with_rocm() -> bool:
    """False: gradtape has no code of its own for AMD GPUs.

    Returns:
        A bool.
    """
    return False


def is_built_with_gpu_support() -> bool:
    """False: gradtape has no code of its own for GPUs.

    Returns:
        A bool.
    """
    return False


def is_built_with_xla() -> bool:
    """Whether XLA can compile functions, which needs the package jax.

    Returns:
        A bool.
    """
    return importlib.util.find_spec("jax") is not None


@public
def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[[Any], Any]:
    """Decorator that skips a test if `pred()` is true when the test starts.

    Args:
        pred: function without arguments that returns a bool.
        skip_message: the reason that is shown.

    Returns:
        A decorator.
    """

    def decorate(test: Any) -> Any:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return test(self, *args, **kwargs)

        return run

    return decorate


@public
def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """The class unchanged: eager ops are never functions here.

    Args:
        cls: the class, or None.
        only_as_function: has no effect here.

    Returns:
        The class, or a decorator of classes.
    """
    return (lambda test_class: test_class) if cls is None else cls
