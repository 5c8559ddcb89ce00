"""The memory that the plans of a function keep between calls."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.argument import describe
from gradtape.core.errors import public


class PlanMemory(NamedTuple):
    """The memory of one plan.

    Attributes:
        arena: bytes of the arena, the array in which all large buffers lie.
        least: the most bytes of these buffers that are alive at one time, a lower bound.
    """

    arena: int
    least: int


@public
def plan_memory(function: Any) -> list[PlanMemory]:
    """The memory that the NumPy plans of a function keep between calls.

    Small buffers, arrays that a kernel makes itself, and results are not counted.

    Args:
        function: a result of `tf.function` that has been called at least twice.

    Returns:
        One entry for each plan that has large buffers. Plans on XLA have none.

    Example:
        >>> f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) @ tf.exp(-x)))
        >>> for _ in range(2):
        ...     y = f(tf.zeros((100, 100)))
        >>> gradtape.debug.plan_memory(f)
        [PlanMemory(arena=120000, least=120000)]
    """
    if not hasattr(function, "_cache"):
        raise TypeError(f"plan_memory: expected a tf.function. Received {describe(function)}.")
    plans = {id(s.plan): s.plan for s in function._cache.values()}
    arenas = [
        arena for plan in plans.values() if hasattr(plan, "arenas") for arena in plan.arenas()
    ]
    return [PlanMemory(arena.nbytes, arena.least) for arena in arenas if arena.nbytes]
