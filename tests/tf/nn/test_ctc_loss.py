"""The CTC loss is a sum over alignments."""

from itertools import groupby, product

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(2)


def by_enumeration(logits, label, blank):
    """Minus the logarithm of the probability of all paths that collapse to the label."""
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    total = 0.0
    for path in product(range(logits.shape[1]), repeat=len(logits)):
        if [c for c, _ in groupby(path) if c != blank] == label:
            total += np.prod([p[t, c] for t, c in enumerate(path)])
    return -np.log(total)


@pytest.mark.parametrize(
    ("label", "blank"), [([1, 2], 0), ([1, 1], 0), ([2], 0), ([], 0), ([0, 1], -1), ([0, 2], 1)]
)
def test_the_loss_sums_over_all_alignments(label, blank):
    logits = RNG.standard_normal((4, 3))
    padded = np.array([label + [0] * (3 - len(label))], np.int32)
    loss = tf.nn.ctc_loss(
        padded, logits[None], [len(label)], [4], logits_time_major=False, blank_index=blank
    )
    np.testing.assert_allclose(loss, [by_enumeration(logits, label, blank % 3)], rtol=1e-9)


def test_frames_and_labels_past_their_lengths_do_not_count():
    logits = tf.Variable(RNG.standard_normal((2, 5, 3)))
    labels = np.array([[1, 2], [2, 1]], np.int32)
    with tf.GradientTape() as tape:
        loss = tf.nn.ctc_loss(labels, logits, [2, 1], [5, 3], False, blank_index=0)
    gradient = tape.gradient(loss, logits).numpy()
    assert not gradient[1, 3:].any()
    assert gradient[1, :3].all()
    alone = by_enumeration(logits.numpy()[1, :3], [2], 0)
    np.testing.assert_allclose(loss[1], alone, rtol=1e-9)


def test_the_gradient_agrees_with_central_differences():
    logits = RNG.standard_normal((5, 1, 4))
    labels = np.array([[1, 3, 3]], np.int32)

    def loss(x):
        return tf.nn.ctc_loss(labels, x, [3], [5])

    x = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = loss(x)
    direction = RNG.standard_normal(logits.shape)
    slope = (loss(logits + 1e-5 * direction) - loss(logits - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(np.sum(tape.gradient(value, x) * direction), slope[0], rtol=1e-6)


def test_a_label_too_long_for_its_frames_has_a_large_finite_loss():
    loss = tf.nn.ctc_loss([[1, 2, 1]], np.zeros((1, 2, 3), np.float32), [3], [2], False)
    assert 700 < float(loss[0]) < 720


def test_repeated_labels_are_merged_and_distinct_ones_listed():
    labels, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 0, 0, 0]], [5, 2])
    assert labels.numpy().tolist() == [[1, 2, 1], [3, 0, 0]]
    assert lengths.numpy().tolist() == [3, 1]
    distinct, places = tf.nn.ctc_unique_labels([[3, 4, 4, 3]])
    assert distinct.numpy().tolist() == [[3, 4, 0, 0]]
    assert places.numpy().tolist() == [[0, 1, 1, 0]]
