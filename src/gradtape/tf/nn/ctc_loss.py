"""Loss of connectionist temporal classification: labels without alignment (Graves, 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, FRESH, INT32, INT64, with_shape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import take_along
from gradtape.ops.nn.softmax import log_softmax
from gradtape.ops.reduce import reduce_logsumexp
from gradtape.tf.array.sort_unique import find_unique
from gradtape.tf.public_op import FLOATS, HALF_FLOATS, INDICES, check_dtype

# TensorFlow's logarithm of zero for paths that end in a wrong state. So a label that is too
# long for its frames has a large loss, not an infinite one.
LOG_UNLIKELY = float(np.log(1e-307))
LOG_ZERO = -1e30


@public
def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Negative logarithm of the probability of `labels`, summed over all alignments.

    Args:
        labels: (batch, length) integers.
        logits: (frames, batch, classes), or (batch, frames, classes).
        label_length: (batch,) the number of labels.
        logit_length: (batch,) the number of frames.
        logits_time_major: whether frames come first in `logits`.
        unique: ignored.
        blank_index: the blank class, which means no label; 0 if None, and -1 is the last.
        name: has no effect here.

    Returns:
        (batch,) losses.
    """
    scores = check_dtype("ctc_loss", convert(logits), FLOATS)
    target = check_dtype("ctc_loss", convert(labels), INDICES)
    if scores._array.ndim != 3 or target._array.ndim != 2:
        raise InvalidArgumentError(
            "ctc_loss: logits must have three axes and labels two. Received shapes "
            f"{list(scores._array.shape)} and {list(target._array.shape)}."
        )
    batch = scores._array.shape[1 if logits_time_major else 0]
    lengths, frames = convert(label_length), convert(logit_length)
    if not target._array.shape[:1] == lengths._array.shape == frames._array.shape == (batch,):
        raise InvalidArgumentError(
            f"ctc_loss: labels, lengths and logits must have the same batch size. Received {batch} "
            f"logits, {target._array.shape[0]} labels, {lengths.shape} and {frames.shape} lengths."
        )
    dtype = scores._array.dtype
    if dtype in HALF_FLOATS:
        scores = e.cast(scores, dtype=np.dtype(np.float32))
    if logits_time_major:
        scores = s.permute_axes(scores, (1, 0, 2))
    classes = scores._array.shape[-1]
    blank = (blank_index or 0) + (classes if (blank_index or 0) < 0 else 0)
    paths = apply_raw(
        encode_paths,
        target,
        lengths,
        frames,
        blank,
        scores._array.shape[1:],
        outputs=True,
    )
    return e.cast(compute_alignment_loss(log_softmax(scores, axis=-1), *paths), dtype=dtype)


def encode_paths_specs(labels: Any, lengths: Any, frames: Any, blank: int, sizes: Any) -> list[Any]:
    """Specs of the results of `encode_paths`."""
    (batch, n), (count, _) = labels.shape, sizes
    whole, each = (batch, count, 2 * n + 1), (batch, 2 * n + 1)
    masks = [Spec((shape, BOOL)) for shape in (whole, each, (count, batch, 1))]
    return [Spec((whole, INT64)), *masks, Spec((each, np.dtype("float64")))]


@with_shape(encode_paths_specs)
def encode_paths(
    labels: Any, lengths: Any, frames: Any, blank: int, sizes: tuple[int, int]
) -> tuple[Any, ...]:
    """Describe the paths through raw labels, with a blank before and after each label.

    There are 2n + 1 states: a blank at even positions, a label at odd ones.

    Returns:
        For each frame and state its class, and whether that is a valid class; which states can be
        reached by skipping a blank; which frames count; and the log weight of each final state.
    """
    (batch, n), (count, classes) = labels.shape, sizes
    states = np.full((batch, 2 * n + 1), blank, np.int64)
    states[:, 1::2] = labels
    known = (states >= 0) & (states < classes)
    whole = (batch, count, 2 * n + 1)
    index = np.broadcast_to(np.where(known, states, 0)[:, None], whole)
    may_skip = np.zeros(states.shape, bool)
    may_skip[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    counts = np.arange(count)[:, None, None] < frames[:, None]
    place, last = np.arange(2 * n + 1), 2 * lengths[:, None]
    final = np.where((place == last) | (place == last - 1), 0, LOG_UNLIKELY)
    return index, np.broadcast_to(known[:, None], whole), may_skip, counts, final


def compute_alignment_loss(
    log_probs: Any, index: Any, known: Any, may_skip: Any, counts: Any, final: Any
) -> Any:
    """Sum over all paths, frame by frame, in log space; the arguments come from `encode_paths`.

    In float64, because small differences of large sums matter after many frames.
    """
    batch, _, number = index._array.shape
    emitted = e.gate(take_along(log_probs, index), known)
    emitted = e.cast(emitted, dtype=np.dtype(np.float64))
    sums: Any = make_tensor(np.where(np.arange(number) == 0, 0.0, np.full((batch, 1), LOG_ZERO)))
    steps = zip(s.unstack(emitted, axis=-2), s.unstack(counts, axis=-3), strict=True)
    for score, goes_on in steps:
        one = s.pad(
            s.slice_axis(sums, axis=-1, start=0, size=number - 1),
            paddings=((1, 0),),
            value=LOG_ZERO,
        )
        routes = [sums, one]
        if number > 2:
            two = s.slice_axis(sums, axis=-1, start=0, size=number - 2)
            two = s.pad(two, paddings=((2, 0),), value=LOG_ZERO)
            routes.append(e.select(may_skip, two, np.float64(LOG_ZERO)))
        total = reduce_logsumexp(s.stack(*routes, axis=-1), axis=(-1,), keepdims=False)
        sums = e.select(goes_on, e.add(total, score), sums)
    return e.negative(reduce_logsumexp(e.add(sums, final), axis=(-1,), keepdims=False))


@public
def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Tensor]:
    """Distinct labels of each row, padded with 0, and for each label its index among them.

    Args:
        labels: a tensor (batch, length).
        name: has no effect here.

    Returns:
        The distinct labels of each row, and for each label its index among them.
    """
    return list(apply_raw(find_distinct_in_rows, convert(labels), outputs=True))


@with_shape(lambda rows: [Spec((rows.shape, INT64)), Spec((rows.shape, INT32))])
def find_distinct_in_rows(rows: Any) -> tuple[Any, Any]:
    """Find the distinct labels of raw rows, and for each label its index among them."""
    found = np.zeros(rows.shape, np.int64)
    places = np.zeros(rows.shape, np.int32)
    for i, row in enumerate(rows):
        values, places[i], _ = find_unique(row, np.int32)
        found[i, : len(values)] = values
    return found, places


@public
def collapse_repeated(
    labels: Any, seq_length: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`labels` with equal consecutive labels merged.

    Args:
        labels: (batch, length).
        seq_length: (batch,) the number of labels in each row.
        name: has no effect here.

    Returns:
        The remaining labels, padded with 0, and their numbers.
    """
    given = convert(labels), convert(seq_length)
    pair: tuple[Tensor, Tensor] = apply_raw(
        merge_repeated_labels, *given, dynamic=True, outputs=True
    )
    return pair


@with_shape(lambda rows, lengths: [(rows.shape[0], FRESH), Spec(lengths)])
def merge_repeated_labels(rows: Any, lengths: Any) -> tuple[Any, Any]:
    """Merge equal neighbours in raw rows, and count the remaining labels."""
    keep = np.arange(rows.shape[1]) < lengths[:, None]
    keep[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    counts = keep.sum(axis=1)
    out = np.zeros((len(rows), int(counts.max(initial=0))), rows.dtype)
    out[np.arange(out.shape[1]) < counts[:, None]] = rows[keep]
    return out, counts.astype(lengths.dtype)
