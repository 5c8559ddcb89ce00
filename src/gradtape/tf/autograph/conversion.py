"""tf.autograph: functions that would rewrite Python code; `tf.function` needs no rewriting."""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any

from gradtape.core.argument import check_callable
from gradtape.core.errors import public
from gradtape.jit.loop_option import copy_with_limits


@public
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accept a logging level; nothing is converted, so nothing is logged."""


@public
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
    """A function that does the same; its loops obey `set_loop_options` in eager calls, too.

    Control flow on tensors needs no other conversion.

    Args:
        entity: a function.
        recursive: has no effect here.
        experimental_optional_features: has no effect here.
    """
    return copy_with_limits(entity) if isinstance(entity, types.FunctionType) else entity


@public
def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source code of a function, which runs unchanged.

    Args:
        entity: a function.
        recursive: has no effect here.
        experimental_optional_features: has no effect here.
    """
    check_callable(entity, "entity")
    return inspect.getsource(getattr(entity, "python_function", entity))
