"""tf.test: what tests need, of gradients above all."""

from __future__ import annotations

import importlib.util
import unittest
from collections.abc import Callable
from typing import Any

from gradtape.tf.config.device import list_logical_devices


def main(argv: list[str] | None = None) -> None:
    """Run the tests of the module that is run."""
    unittest.main(argv=argv)


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU, of whatever make."""
    return bool(gpu_device_name())


def gpu_device_name() -> str:
    """The name of a GPU, or an empty string."""
    return next((d.name for d in list_logical_devices("GPU")), "")


def is_built_with_cuda() -> bool:
    """Whether there is code for NVIDIA's GPUs: there is none."""
    return False


def is_built_with_rocm() -> bool:
    """Whether there is code for AMD's GPUs: there is none."""
    return False


def is_built_with_gpu_support() -> bool:
    """Whether there is code for GPUs: there is none."""
    return False


def is_built_with_xla() -> bool:
    """Whether functions can be compiled by XLA, which needs jax."""
    return importlib.util.find_spec("jax") is not None


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[[Any], Any]:
    """Skip the decorated test if `pred()` holds when it is about to run."""

    def decorate(test: Any) -> Any:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return test(self, *args, **kwargs)

        return run

    return decorate


def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """The class as it is: eager ops are not functions here."""
    return (lambda decorated: decorated) if cls is None else cls
