"""Decoders of connectionist temporal classification: label sequences from per-step scores."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, describe_sparse
from gradtape.tf.public_op import FULL_FLOATS, check_dtype


def convert_decoder_arguments(op: str, inputs: Any, sequence_length: Any) -> tuple[Tensor, Tensor]:
    """Convert and check the arguments of a decoder.

    Raises:
        InvalidArgumentError: if shapes or lengths are incompatible.
    """
    scores = check_dtype(op, convert(inputs), FULL_FLOATS)
    lengths = convert(sequence_length, dtypes.int32)
    shape = scores._array.shape
    if len(shape) != 3 or lengths._array.shape != shape[1:2]:
        raise InvalidArgumentError(
            f"{op}: inputs must have shape (time, batch, classes) and sequence_length (batch,). "
            f"Received {list(shape)} and {list(lengths._array.shape)}."
        )
    return scores, lengths


def pack_labels(rows: Sequence[Sequence[int]]) -> SparseTensor:
    """Pack label sequences into the rows of a sparse tensor."""
    places = [(i, k) for i, row in enumerate(rows) for k in range(len(row))]
    values = [label for row in rows for label in row]
    longest = max(map(len, rows), default=0)
    return SparseTensor(
        make_tensor(np.array(places, np.int64).reshape(len(places), 2)),
        make_tensor(np.array(values, np.int64)),
        make_tensor(np.array([len(rows), longest], np.int64)),
    )


@call_on_host(
    lambda scores, *_, **__: (
        describe_sparse([None, None], np.int64),
        Spec(((scores._array.shape[1], 1), scores._array.dtype)),
    )
)
def find_best_path(scores: Tensor, lengths: Tensor, merge: bool, blank: int) -> tuple[Any, Tensor]:
    """Find the labels of the best class at each step, and minus the sum of their scores."""
    array, steps = np.asarray(scores._array), np.asarray(lengths._array).tolist()
    if steps and max(steps) > len(array):
        raise InvalidArgumentError(
            f"ctc_greedy_decoder: sequence_length must be at most {len(array)}. Received {steps}."
        )
    classes, best = array.argmax(2), array.max(2)
    rows, totals = [], np.zeros((array.shape[1], 1), array.dtype)
    for b, count in enumerate(steps):
        path = classes[:count, b].tolist()
        kept = [c for t, c in enumerate(path) if not (merge and t and path[t - 1] == c)]
        rows.append([c for c in kept if c != blank])
        totals[b] = -best[:count, b].sum()
    return pack_labels(rows), make_tensor(totals)


@public
def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None
) -> tuple[list[SparseTensor], Tensor]:
    """Labels along the path of the best class at each step.

    Args:
        inputs: scores of shape (time, batch, classes).
        sequence_length: number of steps of each sequence.
        merge_repeated: whether to merge equal consecutive labels.
        blank_index: the blank class, which means no label; the last one by default.

    Returns:
        A list of one SparseTensor of labels, and a (batch, 1) tensor with minus the sum of the
        scores along the path.
    """
    scores, lengths = convert_decoder_arguments("ctc_greedy_decoder", inputs, sequence_length)
    classes = scores._array.shape[2]
    blank = -1 if blank_index is None else int(blank_index)
    decoded, total = find_best_path(scores, lengths, bool(merge_repeated), blank % classes)
    return [decoded], total


def beam_search(logs: Any, width: int, paths: int) -> list[tuple[tuple[int, ...], float]]:
    """Find the most likely label sequences for log probabilities; the last class is blank.

    Each prefix has two log probabilities: of paths that end in a blank, and in its last label.
    """
    blank = logs.shape[1] - 1
    none = -np.inf
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, none)}
    for row in logs.tolist():
        after: dict[tuple[int, ...], tuple[float, float]] = {}

        def add_path(
            prefix: tuple[int, ...], blanked: float, labelled: float, into: Any = after
        ) -> None:
            a, b = into.get(prefix, (none, none))
            into[prefix] = (float(np.logaddexp(a, blanked)), float(np.logaddexp(b, labelled)))

        for prefix, (blanked, labelled) in beams.items():
            total = float(np.logaddexp(blanked, labelled))
            add_path(prefix, total + row[blank], labelled + row[prefix[-1]] if prefix else none)
            for label, share in enumerate(row[:blank]):
                same = bool(prefix) and prefix[-1] == label
                add_path((*prefix, label), none, (blanked if same else total) + share)
        beams = dict(heapq.nlargest(width, after.items(), lambda item: np.logaddexp(*item[1])))
    ranked = [(prefix, float(np.logaddexp(*pair))) for prefix, pair in beams.items()]
    return sorted(ranked, key=lambda item: -item[1])[:paths]


@call_on_host(
    lambda scores, lengths, width, paths: (
        [describe_sparse([None, None], np.int64)] * paths,
        Spec(((scores._array.shape[1], paths), scores._array.dtype)),
    )
)
def find_best_beams(
    scores: Tensor, lengths: Tensor, width: int, paths: int
) -> tuple[list[Any], Tensor]:
    """Find the most likely label sequences and their log probabilities."""
    array, steps = np.asarray(scores._array), np.asarray(lengths._array).tolist()
    top = array.max(2, keepdims=True)
    logs = array - top - np.log(np.exp(array - top).sum(2, keepdims=True))
    found = [beam_search(logs[:count, b], width, paths) for b, count in enumerate(steps)]
    if any(len(each) < paths for each in found):
        raise InvalidArgumentError(
            f"ctc_beam_search_decoder: found fewer than {paths} label sequences. "
            "Reduce top_paths, or increase beam_width."
        )
    decoded = [pack_labels([each[k][0] for each in found]) for k in range(paths)]
    likely = [[each[k][1] for k in range(paths)] for each in found]
    return decoded, make_tensor(np.array(likely, array.dtype).reshape(len(found), paths))


@public
def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """The most likely label sequences; their probability is a sum over all paths to each.

    Args:
        inputs: logits of shape (time, batch, classes); the last class is blank.
        sequence_length: number of steps of each sequence.
        beam_width: the number of prefixes to keep at each step.
        top_paths: the number of sequences to return.

    Returns:
        A list of `top_paths` SparseTensors of labels, and their log probabilities of shape
        (batch, top_paths).
    """
    scores, lengths = convert_decoder_arguments("ctc_beam_search_decoder", inputs, sequence_length)
    return find_best_beams(
        scores, lengths, as_integer(beam_width, "beam_width"), as_integer(top_paths, "top_paths")
    )
