"""tf.autograph.experimental: accepted for compatibility, without effect."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public


@public
def do_not_convert(func: Any = None) -> Any:
    """The function unchanged: no function is ever converted.

    Args:
        func: a function; None to get a decorator.
    """
    return (lambda f: f) if func is None else func


@public
def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Accept options of the loop that follows; they have no effect.

    Args:
        parallel_iterations: has no effect here.
        swap_memory: has no effect here.
        maximum_iterations: has no effect here.
        shape_invariants: has no effect here.
    """
