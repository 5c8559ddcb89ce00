"""tf.autograph: Python's control flow works inside `tf.function` without rewriting anything."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from gradtape.core.errors import public


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accept how much AutoGraph should say; there is nothing to say."""


def trace(*args: Any) -> None:
    """Print `args` when a function is traced.

    Args:
        *args: what to print.
    """
    sys.stdout.write(" ".join(map(str, args)) + "\n")


@public
def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """The function as it is: its control flow needs no conversion.

    Args:
        entity: a function.
        recursive: accepted for TensorFlow's sake.
        experimental_optional_features: accepted for TensorFlow's sake.
    """
    return entity


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of a function, which is what runs.

    Args:
        entity: a function.
        recursive: accepted for TensorFlow's sake.
        experimental_optional_features: accepted for TensorFlow's sake.
    """
    return inspect.getsource(getattr(entity, "python_function", entity))
