"""tf.autograph: Python's control flow works inside `tf.function` without rewriting anything."""

from __future__ import annotations

import inspect
import sys
from types import SimpleNamespace
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


def do_not_convert(func: Any = None) -> Any:
    """The function as it is; nothing is ever converted.

    Args:
        func: a function; None to get a decorator.
    """
    return (lambda f: f) if func is None else func


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Accept options of the loop that follows.

    Args:
        parallel_iterations: accepted for TensorFlow's sake.
        swap_memory: accepted for TensorFlow's sake.
        maximum_iterations: accepted for TensorFlow's sake.
        shape_invariants: accepted for TensorFlow's sake.
    """


experimental = SimpleNamespace(do_not_convert=do_not_convert, set_loop_options=set_loop_options)
