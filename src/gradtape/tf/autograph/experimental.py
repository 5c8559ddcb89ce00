"""tf.autograph.experimental: options of loops."""

from __future__ import annotations

import warnings
from typing import Any

from gradtape.core.context import current_trace
from gradtape.core.errors import public
from gradtape.jit.loop_option import EagerLoopLimit, LoopLimit


@public
def do_not_convert(func: Any = None) -> Any:
    """The function unchanged: no function is ever converted.

    Args:
        func: a function; None to get a decorator.

    Returns:
        The function.
    """
    return (lambda f: f) if func is None else func


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Set options of a loop on tensors in a `tf.function`; the first statement of the loop.

    As in TensorFlow, eager loops and loops on Python values ignore the options.

    Args:
        parallel_iterations: without effect.
        swap_memory: without effect.
        maximum_iterations: upper bound on the number of iterations; None for no bound.
        shape_invariants: without effect: shapes may change in every iteration.

    Returns:
        None.

    Example:
        >>> @tf.function
        ... def count(n):
        ...     i = tf.constant(0)
        ...     while i < n:
        ...         tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        ...         i += 1
        ...     return i
        >>> count(tf.constant(10)).numpy()
        np.int32(3)
    """
    if maximum_iterations is not None and current_trace():
        warnings.warn(
            "set_loop_options: maximum_iterations has no effect here. It must be the first "
            "statement of a loop, in a function whose source is available and that the "
            "tf.function calls by its name.",
            stacklevel=2,
        )


# The directive in loops that `rewrite_loops` has rewritten.
set_loop_options.make_limit = LoopLimit  # type: ignore[attr-defined]
set_loop_options.make_eager_limit = EagerLoopLimit  # type: ignore[attr-defined]
