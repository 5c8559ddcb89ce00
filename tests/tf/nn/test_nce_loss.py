"""Candidate samplers, and losses over sampled classes."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(8)
W, B, X = RNG.normal(size=(10, 4)), RNG.normal(size=10), RNG.normal(size=(3, 4))
TRUE = np.array([[1], [5], [7]])
SAMPLERS = [tf.random.uniform_candidate_sampler, tf.random.log_uniform_candidate_sampler]


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("unique", [False, True])
def test_samplers_return_classes_and_their_expected_counts(sampler, unique):
    drawn, expected, expected_drawn = sampler(TRUE, 1, 8, unique, 10, seed=3)
    classes = drawn.numpy()
    assert classes.dtype == np.int64
    assert ((classes >= 0) & (classes < 10)).all()
    assert len(set(classes)) == 8 or not unique
    assert expected.shape == (3, 1)
    by_class = dict(zip(classes, expected_drawn.numpy(), strict=True))
    for row, (true,) in enumerate(TRUE):
        if true in by_class:
            assert by_class[true] == expected[row, 0]
    if sampler is SAMPLERS[1] and not unique:
        wanted = 8 * np.log((TRUE + 2) / (TRUE + 1)) / np.log(11)
        np.testing.assert_allclose(expected, wanted, rtol=1e-6)


def test_set_seed_restarts_a_sampler_with_a_seed():
    draws = []
    for _ in range(2):
        tf.random.set_seed(5)
        draws.append(SAMPLERS[0](TRUE, 1, 6, False, 1000, seed=2)[0].numpy())
    np.testing.assert_array_equal(*draws)


def test_fixed_unigrams_never_sample_reserved_classes(tmp_path):
    file = tmp_path / "vocabulary.csv"
    file.write_text("a,1\nb,2\nc,3\n", encoding="utf-8")
    for source in ({"unigrams": [1, 2, 3]}, {"vocab_file": str(file)}):
        drawn, expected, _ = tf.nn.fixed_unigram_candidate_sampler(
            [[0], [3]], 1, 40, False, 4, num_reserved_ids=1, **source
        )
        assert drawn.numpy().min() > 0
        np.testing.assert_allclose(expected, [[0], [20]])


def test_invalid_sampler_arguments_raise():
    for arguments in ((TRUE, 1, 11, True, 10), (TRUE, 2, 3, True, 10), (TRUE[0], 1, 3, True, 10)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            SAMPLERS[0](*arguments)


def test_accidental_hits_are_the_true_classes_among_the_sampled():
    rows, places, weights = tf.nn.compute_accidental_hits([[3, 5], [1, 3], [7, 7]], [3, 7, 1, 9], 2)
    np.testing.assert_array_equal(rows, [0, 1, 1, 2, 2])
    np.testing.assert_array_equal(places, [0, 2, 0, 1, 1])
    assert set(weights.numpy()) == {np.finfo(np.float32).min}


def test_with_every_class_the_sampled_softmax_is_the_softmax():
    every = tf.nn.all_candidate_sampler(TRUE, 1, 10, True)
    with tf.GradientTape(persistent=True) as tape:
        w, x = tf.Variable(W), tf.Variable(X)
        sampled = tf.nn.sampled_softmax_loss(w, B, TRUE, x, 10, 10, sampled_values=every)
        whole = tf.nn.sparse_softmax_cross_entropy_with_logits(
            TRUE[:, 0], tf.matmul(x, w, transpose_b=True) + B
        )
    np.testing.assert_allclose(sampled, whole, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(sampled, x), tape.gradient(whole, x), rtol=1e-6)
    rows = tape.gradient(sampled, w)
    np.testing.assert_allclose(
        tf.convert_to_tensor(rows), tape.gradient(whole, w), rtol=1e-6, atol=1e-9
    )


def test_nce_is_a_binary_cross_entropy_for_each_class():
    drawn, expected, expected_drawn = np.array([2, 9]), np.full((3, 1), 0.5), np.full(2, 0.25)
    got = tf.nn.nce_loss(W, B, TRUE, X, 2, 10, sampled_values=(drawn, expected, expected_drawn))
    logits = X @ W.T + B
    yes = logits[np.arange(3), TRUE[:, 0]] - np.log(0.5)
    no = logits[:, drawn] - np.log(0.25)
    np.testing.assert_allclose(got, np.log1p(np.exp(-yes)) + np.log1p(np.exp(no)).sum(-1))
