"""The k largest elements: tf.math.top_k, its approximate forms and in_top_k."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_dimension_size
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.size_constant import apply_open
from gradtape.core.tensor import Tensor
from gradtape.ops.gather_scatter import take_along
from gradtape.ops.shape import shape_of, transpose
from gradtape.ops.top_k import is_in_top_k, top_indices
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import INDICES, REAL, as_numpy_dtypes, check_dtype, has_own_dtype


class TopKV2(NamedTuple):
    """The k largest entries and their indices."""

    values: Tensor
    indices: Tensor


@public
def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest entries along the last axis, largest first; ties keep their order.

    Args:
        input: a tensor of real numbers (..., n).
        k: the number of entries, at most n.
        sorted: accepted; the result is always sorted.
        index_type: int16, int32 or int64.
        name: ignored.

    Returns:
        A named tuple of values and indices, both (..., k).

    Raises:
        InvalidArgumentError: if `k` is larger than n.

    Example:
        >>> values, indices = tf.math.top_k([1, 9, 4], k=2)
        >>> values.numpy(), indices.numpy()
        (array([9, 4], dtype=int32), array([1, 2], dtype=int32))
    """
    tensor = check_dtype("TopKV2", convert(input), REAL)
    count = to_dimension_size(k)
    shape = shape_of(tensor)
    if not shape:
        raise InvalidArgumentError("TopKV2: input must be >= 1-D, got shape []. Reshape it first.")
    if count < 0:
        raise InvalidArgumentError(f"TopKV2: Need k >= 0, got {count}.")
    if shape[-1] < count:
        raise InvalidArgumentError(
            f"TopKV2: input must have at least k columns. Had {shape[-1]}, needed {count}."
        )
    indices = apply_open(top_indices, tensor, k=count)
    return TopKV2(take_along(tensor, indices), cast(indices, index_type))


@public
def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest entries along an axis; here the result is always exact.

    Args:
        operand: a tensor of floats.
        k: the number of entries.
        reduction_dimension: the axis.
        recall_target: has no effect here.
        reduction_input_size_override: has no effect here.
        aggregate_to_topk: has no effect here.
        name: ignored.

    Returns:
        Values and int32 indices.
    """
    return find_extreme_k(operand, k, reduction_dimension, False)


@public
def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` smallest entries along an axis; arguments as for `approx_max_k`.

    Args:
        operand: a tensor of floats.
        k: the number of entries.
        reduction_dimension: the axis to search along.
        recall_target: has no effect here.
        reduction_input_size_override: has no effect here.
        aggregate_to_topk: has no effect here.
        name: has no effect here.

    Returns:
        The entries, and their positions.
    """
    return find_extreme_k(operand, k, reduction_dimension, True)


@public
def approx_top_k(
    input: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest entries along an axis, or the smallest; arguments as for `approx_max_k`.

    Args:
        input: a tensor of floats.
        k: the number of entries.
        reduction_dimension: the axis to search along.
        recall_target: has no effect here.
        is_max_k: whether to look for the largest entries.
        reduction_input_size_override: has no effect here.
        aggregate_to_topk: has no effect here.
        name: has no effect here.

    Returns:
        The entries, and their positions.
    """
    return find_extreme_k(input, k, reduction_dimension, not is_max_k)


def find_extreme_k(value: Any, k: int, axis: int, smallest: bool) -> tuple[Tensor, Tensor]:
    """Find the k largest or smallest entries along `axis`."""
    tensor = convert(value)
    position = normalize_axis(axis, tensor.ndim, "ApproxTopK")
    if position != -1:
        perm = list(range(-tensor.ndim, 0))
        perm[position], perm[-1] = perm[-1], perm[position]
        moved = transpose(tensor, perm=tuple(perm))
        found = find_extreme_k(moved, k, -1, smallest)
        return tuple(transpose(t, perm=tuple(perm)) for t in found)
    values, indices = top_k(-tensor if smallest else tensor, k)
    return (-values if smallest else values), indices


@public
def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the score of each target is among the `k` largest of its row; ties count as in.

    Args:
        targets: integers (b,), columns of `predictions`.
        predictions: float32 (b, n).
        k: the number of entries.
        name: ignored.

    Returns:
        Bools (b,); False for targets out of range, and where a larger score is not finite.

    Example:
        >>> tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], k=1).numpy()
        array([ True, False])
    """
    given = (
        convert(predictions) if has_own_dtype(predictions) else convert(predictions, dtypes.float32)
    )
    scores = check_dtype("InTopKV2", given, as_numpy_dtypes("float32"))
    classes = check_dtype("InTopKV2", convert(targets), INDICES)
    if scores.ndim != 2:
        raise InvalidArgumentError(
            f"InTopKV2: predictions must be 2-dimensional. Received shape {scores.shape}."
        )
    if classes.ndim != 1 or shape_of(classes)[0] != shape_of(scores)[0]:
        raise InvalidArgumentError(
            f"InTopKV2: targets must have one entry for each row of predictions. "
            f"Received shapes {classes.shape} and {scores.shape}."
        )
    return is_in_top_k(scores, classes, k=int(convert(k)._array))
