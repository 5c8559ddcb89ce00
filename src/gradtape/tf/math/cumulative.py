"""Cumulative sums, products and log-sum-exps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor
from gradtape.ops import cumulative as scan
from gradtape.tf.example.number import CUMULATIVE
from gradtape.tf.public_op import FLOATS, NUMBERS, add_examples, check_dtype

if TYPE_CHECKING:
    from gradtape.tf.op_protocol import CumulativeOp


def make_cumulative(
    function: Any, allowed: frozenset[Any], label: str, what: str, example: str = ""
) -> CumulativeOp:
    """Make a public cumulative function from a primitive."""

    @public
    def run(
        x: Any,
        axis: Any = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        tensor = check_dtype(label, convert(x), allowed)
        position = normalize_axis(convert(axis)._array, tensor.ndim, label)
        return function(tensor, axis=position, exclusive=bool(exclusive), reverse=bool(reverse))

    run.__name__ = run.__qualname__ = function.op.name
    run.__doc__ = f"""{what}

    Args:
        x: a tensor.
        axis: the axis to accumulate along.
        exclusive: whether each result excludes the element at its position.
        reverse: whether to accumulate from the end.
        name: ignored.

    Returns:
        A tensor like `x`.
    {example}"""
    return run


cumsum = make_cumulative(
    scan.cumsum,
    NUMBERS,
    "Cumsum",
    "Cumulative sum along an axis.",
    """
    Example:
        >>> tf.cumsum([1, 2, 3])
        <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 6], dtype=int32)>
    """,
)
cumprod = make_cumulative(scan.cumprod, NUMBERS, "Cumprod", "Cumulative product along an axis.")
cumulative_logsumexp = make_cumulative(
    scan.cumulative_logsumexp,
    FLOATS,
    "CumulativeLogsumexp",
    "Cumulative logarithm of the sum of exponentials along an axis.",
)

add_examples(globals(), CUMULATIVE)
