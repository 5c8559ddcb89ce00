"""tf.autograph: functions that would rewrite Python code; `tf.function` needs no rewriting."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from gradtape.core.argument import check_callable
from gradtape.core.errors import public
from gradtape.jit.loop_option import copy_with_limits
from gradtape.state.variable.storage import active_trace


@public
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accept a logging level; nothing is converted, so nothing is logged.

    Args:
        level: has no effect here.
        alsologtostdout: has no effect here.

    Returns:
        None.
    """


@public
def trace(*args: Any) -> None:
    """Print `args` when a function is traced.

    Args:
        *args: what to print.

    Returns:
        None.
    """
    sys.stdout.write(" ".join(map(str, args)) + "\n")


@public
def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """A function that does the same; its loops obey `set_loop_options` in eager calls, too.

    Its control flow may depend on tensors, also inside of `tf.function(autograph=False)`.

    Args:
        entity: a function.
        recursive: has no effect here.
        experimental_optional_features: has no effect here.

    Returns:
        A function with the same parameters.
    """
    converted = copy_with_limits(entity) if isinstance(entity, types.FunctionType) else entity

    @functools.wraps(converted)
    def call_with_autograph(*args: Any, **kwargs: Any) -> Any:
        trace_now = active_trace()
        if trace_now is None:
            return converted(*args, **kwargs)
        with trace_now.use_options(autograph=True):
            return converted(*args, **kwargs)

    return call_with_autograph


@public
def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source code of a function, which runs unchanged.

    Args:
        entity: a function.
        recursive: has no effect here.
        experimental_optional_features: has no effect here.

    Returns:
        A string.
    """
    check_callable(entity, "entity")
    return inspect.getsource(getattr(entity, "python_function", entity))
