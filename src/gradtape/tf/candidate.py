"""Candidate samplers: few classes out of many, and the losses that make do with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg import matmul
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import swap
from gradtape.state.seed import SEEDS
from gradtape.tf.embedding import embedding_lookup
from gradtape.tf.loss import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from gradtape.tf.sampler import log_uniform_candidate_sampler

Sampled = tuple[Tensor, Tensor, Tensor]
TRIES = 1 << 20  # how often a class is drawn again before a sampler gives up


def checked_classes(op: str, true_classes: Any, num_true: int) -> Any:
    """Raw true classes (batch, num_true)."""
    classes = np.asarray(convert(true_classes, dtypes.int64)._array)
    if classes.ndim != 2 or classes.shape[1] != num_true:
        raise InvalidArgumentError(
            f"{op}: true_classes must be a matrix with {num_true} columns. Received shape "
            f"{list(classes.shape)}."
        )
    return classes


def sample(
    op: str,
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    probabilities: Any,
    seed: Any,
) -> Sampled:
    """Classes drawn with `probabilities`, and how often true and drawn ones were to be expected."""
    classes = checked_classes(op, true_classes, num_true)
    size = len(probabilities)
    if num_sampled < 1 or (unique and num_sampled > np.count_nonzero(probabilities)):
        raise InvalidArgumentError(
            f"{op}: Sampler's range is too small. Received num_sampled={num_sampled} of {size} "
            "classes."
        )
    key, counter = SEEDS.stream(op, None if seed is None else int(seed), num_sampled)
    words = [int(word) for word in (*key, *counter)]
    draws = np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))
    found, tries = drawn(draws, np.cumsum(probabilities), num_sampled, unique)

    def expected(ids: Any) -> Tensor:
        known = (ids >= 0) & (ids < size)
        p = np.where(known, probabilities[np.where(known, ids, 0)], 0.0)
        again = tries > num_sampled  # some class was drawn twice, and once left out
        count = -np.expm1(tries * np.log1p(-np.minimum(p, 1 - 1e-16))) if again else p * tries
        return eager(count.astype(np.float32))

    return eager(found), expected(classes), expected(found)


def drawn(draws: Any, cumulated: Any, count: int, unique: bool) -> tuple[Any, int]:
    """Classes by the inverse of their distribution, and how many draws that took."""
    total = cumulated[-1]

    def some(n: int) -> Any:
        return np.searchsorted(cumulated, draws.random(n) * total, "right").astype(np.int64)

    if not unique:
        return some(count), count
    seen: dict[int, None] = {}
    for tries in range(1, TRIES):
        seen.setdefault(int(some(1)[0]))
        if len(seen) == count:
            return np.array(list(seen), np.int64), tries
    raise InvalidArgumentError(f"sampler: {count} distinct classes were not found. Ask for fewer.")


@public
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: Any = None,
    name: str | None = None,
) -> Sampled:
    """Classes drawn with given frequencies.

    Args:
        true_classes: int64 (batch, num_true).
        num_true: how many true classes an example has.
        num_sampled: how many classes to draw.
        unique: whether they shall differ.
        range_max: how many classes there are.
        vocab_file: a file with a line for each class that ends, after a comma, in its frequency.
        distortion: the power that frequencies are raised to.
        num_reserved_ids: how many classes in front are never drawn.
        num_shards: classes are counted modulo this number …
        shard: … and drawn only where that gives this.
        unigrams: the frequencies, instead of a file.
        seed: of this op; see `tf.random.set_seed`.
        name: accepted for TensorFlow's sake.

    Returns:
        As `tf.random.uniform_candidate_sampler`.
    """
    op = "FixedUnigramCandidateSampler"
    if bool(vocab_file) == bool(len(unigrams)):
        raise InvalidArgumentError(f"{op}: Must provide either vocab_file or unigrams, not both.")
    if vocab_file:
        lines = Path(vocab_file).read_text(encoding="utf-8").splitlines()
        unigrams = [float(line.rsplit(",", 1)[-1]) for line in lines if line]
    weights = np.concatenate(
        [np.zeros(num_reserved_ids), np.asarray(unigrams, float) ** distortion]
    )
    if len(weights) != range_max:
        raise InvalidArgumentError(
            f"{op}: range_max is {range_max}, but {len(weights)} classes were given."
        )
    weights = np.where(np.arange(len(weights)) % num_shards == shard, weights, 0.0)
    return sample(op, true_classes, num_true, num_sampled, unique, weights / weights.sum(), seed)


@public
def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Where a class drawn is a true one.

    Returns:
        Rows of `true_classes`, positions in `sampled_candidates`, and as many times the least
        float32, which as a logit rules the class out.
    """
    classes = checked_classes("ComputeAccidentalHits", true_classes, num_true)
    found = np.asarray(convert(sampled_candidates, dtypes.int64)._array)
    rows, _, places = np.nonzero(classes[:, :, None] == found)
    least = np.full(len(rows), np.finfo(np.float32).min, np.float32)
    return eager(rows.astype(np.int32)), eager(places.astype(np.int64)), eager(least)


def sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: Any = None,
) -> tuple[Any, Any]:
    """Logits of the true and the drawn classes, less the logs of how often they are expected."""
    truth = convert(labels)
    truth = truth if truth.dtype is dtypes.int64 else e.discretize(truth, dtype=np.dtype(np.int64))
    if truth._array.ndim == 1:
        truth = s.reshape(truth, shape=(*truth._array.shape, 1), rank=1)
    x = convert(inputs)
    batch, width = x._array.shape
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            truth, num_true, num_sampled, True, num_classes, seed
        )
    drawn_ids, expected, expected_drawn = (e.stop_gradient(convert(v)) for v in sampled_values)
    flat = s.reshape(truth, shape=(batch * num_true,), rank=2)
    every = s.concat(flat, convert(drawn_ids, dtypes.int64), axis=-1)
    rows, shift = embedding_lookup(weights, every), embedding_lookup(biases, every)
    n, m = batch * num_true, drawn_ids._array.shape[0]
    true_rows, drawn_rows = (s.cut(rows, axis=-2, start=i, size=k) for i, k in ((0, n), (n, m)))
    true_shift, drawn_shift = (s.cut(shift, axis=-1, start=i, size=k) for i, k in ((0, n), (n, m)))
    true_rows = s.reshape(true_rows, shape=(batch, num_true, width), rank=2)
    right = reduce_sum(
        s.reshape(x, shape=(batch, 1, width), rank=2) * true_rows, axis=(-1,), keepdims=False
    )
    right = right + s.reshape(true_shift, shape=(batch, num_true), rank=1)
    wrong = matmul(x, swap(drawn_rows)) + drawn_shift
    if remove_accidental_hits:
        hits = np.zeros((batch, m), wrong._array.dtype)
        at = compute_accidental_hits(truth, drawn_ids, num_true)
        np.add.at(hits, (at[0]._array, at[1]._array), at[2]._array.astype(hits.dtype))
        wrong = wrong + eager(hits)
    kind = right._array.dtype
    right = right - e.log(e.cast(expected, dtype=kind))
    wrong = wrong - e.log(e.cast(expected_drawn, dtype=kind))
    target = np.zeros((batch, num_true + m), kind)
    target[:, :num_true] = 1 / num_true
    return s.concat(right, wrong, axis=-1), eager(target)


@public
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation (Gutmann and Hyvärinen, 2010): true classes against drawn ones.

    Args:
        weights: (num_classes, width), or a list of parts of that.
        biases: (num_classes,).
        labels: (batch, num_true) integers.
        inputs: (batch, width).
        num_sampled: how many classes to draw for the batch.
        num_classes: how many there are.
        num_true: how many true ones an example has.
        sampled_values: what a candidate sampler gives; by default the log-uniform one's.
        remove_accidental_hits: leave out classes drawn that are true.
        name: accepted for TensorFlow's sake.

    Returns:
        (batch,) losses.
    """
    logits, target = sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
    )
    each = sigmoid_cross_entropy_with_logits(target, logits)
    return reduce_sum(each, axis=(-1,), keepdims=False)


@public
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
    name: str | None = "sampled_softmax_loss",
) -> Tensor:
    """Softmax cross-entropy over the true classes and some that are drawn.

    The arguments are those of `nce_loss`.
    """
    logits, target = sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed,
    )
    return softmax_cross_entropy_with_logits(target, logits)
