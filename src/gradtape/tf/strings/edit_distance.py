"""tf.edit_distance: the Levenshtein distance between the rows of two sparse tensors."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FLOAT32, FRESH
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorValue
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host


@public
def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """The Levenshtein distance between the sequences of two sparse tensors.

    The last axis holds the sequences; the axes before it number them. A sequence without elements
    is empty.

    Args:
        hypothesis: a SparseTensor of sequences.
        truth: a SparseTensor of the same rank and dtype.
        normalize: whether to divide each distance by the length of the true sequence. The distance
            to an empty one is then infinite, and 0 if both are empty.
        name: has no effect here.

    Returns:
        A float32 tensor with one axis less. Where the shapes differ it has the larger size.

    Raises:
        TypeError: if an argument is not a SparseTensor.
        InvalidArgumentError: if ranks or dtypes differ, or the rank is below 2.

    Example:
        >>> hypothesis = tf.sparse.from_dense([[1, 2, 3]])
        >>> tf.edit_distance(hypothesis, tf.sparse.from_dense([[1, 3]]), normalize=False).numpy()
        array([1.], dtype=float32)
    """
    for value, label in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(
                f"{label} must be a SparseTensor. Received {type(value).__name__}. "
                "Use tf.sparse.from_dense for a dense tensor."
            )
    first, second = SparseTensor.from_value(hypothesis), SparseTensor.from_value(truth)
    if first.dtype is not second.dtype:
        raise InvalidArgumentError(
            "edit_distance: hypothesis and truth must have the same dtype. Received "
            f"{first.dtype.name} and {second.dtype.name}."
        )
    return measure_sequences(first, second, bool(normalize))


def describe_distances(hypothesis: SparseTensor, truth: SparseTensor, normalize: bool) -> Spec:
    """Result rule of `measure_sequences`: the larger size of each axis but the last."""
    pairs = zip(hypothesis.shape[:-1], truth.shape[:-1], strict=True)
    sizes = [FRESH if m is None or n is None else max(m, n) for m, n in pairs]
    return Spec((tuple(sizes), FLOAT32))


@call_on_host(describe_distances)
def measure_sequences(hypothesis: SparseTensor, truth: SparseTensor, normalize: bool) -> Tensor:
    """The distance of every pair of sequences."""
    shapes = [np.asarray(value.dense_shape._array) for value in (hypothesis, truth)]
    if len(shapes[0]) != len(shapes[1]) or len(shapes[1]) < 2:
        raise InvalidArgumentError(
            "edit_distance: Input SparseTensors must have the same rank, of at least 2. Received "
            f"dense shapes {shapes[0].tolist()} and {shapes[1].tolist()}."
        )
    distances = np.zeros(np.maximum(*shapes)[:-1], np.float32)
    rows, true_rows = collect_sequences(hypothesis), collect_sequences(truth)
    for place in rows.keys() | true_rows.keys():
        row, true_row = rows[place], true_rows[place]
        if min(place) < 0 or any(i >= n for i, n in zip(place, distances.shape, strict=True)):
            raise InvalidArgumentError(
                f"edit_distance: indices must lie in the dense shape. Received {list(place)}."
            )
        distance = count_edits(row, true_row)
        distances[place] = scale_distance(distance, len(true_row)) if normalize else distance
    return make_tensor(distances)


def scale_distance(distance: int, length: int) -> float:
    """The distance in relation to the length of the true sequence."""
    return distance / length if length else inf


def collect_sequences(sparse: SparseTensor) -> dict[tuple[int, ...], list[Any]]:
    """The elements of each sequence, by its position."""
    sequences: dict[tuple[int, ...], list[Any]] = defaultdict(list)
    indices = np.asarray(sparse.indices._array).tolist()
    for index, value in zip(indices, np.asarray(sparse.values._array).tolist(), strict=True):
        sequences[tuple(index[:-1])].append(value)
    return sequences


def count_edits(source: list[Any], target: list[Any]) -> int:
    """The least number of insertions, deletions and substitutions that make `target`."""
    costs = list(range(len(target) + 1))
    for i, item in enumerate(source):
        diagonal, costs[0] = i, i + 1
        for j, wanted in enumerate(target):
            substitution = diagonal + (item != wanted)
            diagonal = costs[j + 1]
            costs[j + 1] = min(substitution, diagonal + 1, costs[j] + 1)
    return costs[-1]
