"""Running sums, products and log-sum-exps."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor
from gradtape.ops import cumulative as scan
from gradtape.tf.protocol import Running
from gradtape.tf.public_op import FLOATS, NUMBERS, operand


def cumulative(
    function: Any, allowed: frozenset[Any], label: str, what: str, example: str = ""
) -> Running:
    """A public running reduction by a primitive."""

    @public
    def run(
        x: Any,
        axis: Any = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        tensor = operand(label, convert(x), allowed)
        position = normalize_axis(convert(axis)._array, tensor.ndim, label)
        return function(tensor, axis=position, exclusive=bool(exclusive), reverse=bool(reverse))

    run.__name__ = run.__qualname__ = function.op.name
    run.__doc__ = f"""{what}

    Args:
        x: a tensor.
        axis: the axis to run along.
        exclusive: leave each element out of its own result.
        reverse: run from the end.
        name: ignored.

    Returns:
        A tensor like `x`.
    {example}"""
    return run


cumsum = cumulative(
    scan.cumsum,
    NUMBERS,
    "Cumsum",
    "Running sum along an axis.",
    """
    Example:
        >>> tf.cumsum([1, 2, 3])
        <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 6], dtype=int32)>
    """,
)
cumprod = cumulative(scan.cumprod, NUMBERS, "Cumprod", "Running product along an axis.")
cumulative_logsumexp = cumulative(
    scan.cumulative_logsumexp,
    FLOATS,
    "CumulativeLogsumexp",
    "Running logarithm of the sum of exponentials along an axis.",
)
