"""Candidate samplers draw TensorFlow's candidates."""

import numpy as np
import pytest

import gradtape as tf

TRUE = np.array([[1, 2]])


@pytest.mark.parametrize(
    ("sampler", "unique", "first", "second", "true"),
    [
        ("uniform", True, [9, 3, 1, 6, 5, 7], [0, 7, 5, 8, 1, 3], [0.5217031, 0.5217031]),
        ("uniform", False, [9, 3, 1, 6, 6, 5], [0, 7, 5, 8, 8, 1], [0.6, 0.6]),
        ("log_uniform", True, [0, 5, 6, 1, 4, 8], [1, 3, 5, 7, 8, 0], [0.8431339, 0.7214128]),
        ("log_uniform", False, [0, 5, 6, 0, 1, 4], [1, 3, 5, 1, 7, 8], [1.0145526, 0.7198365]),
    ],
)
def test_candidates_and_counts(sampler, unique, first, second, true):
    draw = getattr(tf.random, f"{sampler}_candidate_sampler")
    tf.random.set_seed(1)
    found = draw(TRUE, 2, 6, unique, 10, seed=3)
    assert found.sampled_candidates.numpy().tolist() == first
    np.testing.assert_allclose(found.true_expected_count, [true], rtol=1e-6)
    assert found.sampled_expected_count.shape == (6,)
    assert draw(TRUE, 2, 6, unique, 10, seed=3)[0].numpy().tolist() == second


def test_without_a_seed_of_its_own():
    tf.random.set_seed(1)
    found = tf.random.uniform_candidate_sampler(TRUE, 2, 6, False, 1000)
    assert found[0].numpy().tolist() == [266, 563, 834, 162, 984, 428]


def test_all_of_them():
    found = tf.random.all_candidate_sampler(TRUE, 2, 4, True)
    assert [t.numpy().tolist() for t in found] == [[0, 1, 2, 3], [[1.0, 1.0]], [1.0] * 4]


def test_what_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="range is too small"):
        tf.random.uniform_candidate_sampler(TRUE, 2, 6, True, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_true"):
        tf.random.uniform_candidate_sampler(TRUE, 3, 2, True, 3)
