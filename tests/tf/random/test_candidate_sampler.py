"""Candidate samplers draw TensorFlow's candidates."""

from functools import partial

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


UNIGRAMS = [3.0, 1.0, 7.0, 2.0, 2.0, 9.0, 0.5]


def test_classes_by_given_frequencies_are_those_of_tensorflow():
    tf.random.set_seed(5)
    drawn = partial(tf.nn.fixed_unigram_candidate_sampler, [[0, 2]], 2, unigrams=UNIGRAMS)
    first = drawn(6, False, 7, seed=3)
    assert first.sampled_candidates.numpy().tolist() == [3, 5, 2, 2, 2, 5]
    np.testing.assert_allclose(
        first.true_expected_count, [[0.7346938848495483, 1.7142858505249023]], rtol=1e-6
    )
    assert drawn(6, False, 7, seed=3)[0].numpy().tolist() == [5, 2, 3, 2, 5, 2]
    unique = drawn(5, True, 7, seed=3)  # another op, with a stream of its own
    assert unique[0].numpy().tolist() == [3, 5, 2, 4, 0]
    np.testing.assert_allclose(unique[1], [[0.7914220094680786, 0.9823614358901978]], rtol=1e-6)
    bent = drawn(6, False, 7, distortion=0.75, seed=4)
    assert bent[0].numpy().tolist() == [5, 3, 5, 5, 5, 5]
    np.testing.assert_allclose(bent[1], [[0.8171562552452087, 1.5427218675613403]], rtol=1e-6)
    reserved = drawn(6, False, 9, num_reserved_ids=2, seed=4)
    assert reserved[0].numpy().tolist() == [7, 4, 2, 4, 2, 7]
    part = drawn(3, True, 4, num_shards=2, shard=0, seed=4)
    assert part[0].numpy().tolist() == [1, 2, 0]
    np.testing.assert_allclose(part[1], [[0.8073000907897949, 0.6487020254135132]], rtol=1e-6)
    harmonic = [1 / (i + 1) for i in range(300)]
    many = tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 9, True, 300, unigrams=harmonic, seed=9)
    assert many[0].numpy().tolist() == [0, 239, 52, 61, 10, 6, 176, 2, 1]


def test_frequencies_that_do_not_fit():
    drawn = partial(tf.nn.fixed_unigram_candidate_sampler, [[0, 2]], 2, unigrams=UNIGRAMS)
    with pytest.raises(tf.errors.InvalidArgumentError, match="range_max is 9"):
        drawn(6, False, 9)
    with pytest.raises(tf.errors.InvalidArgumentError, match="range_max is 7, but 3"):
        drawn(6, False, 7, num_shards=2, shard=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        drawn(8, True, 7)


def test_learned_frequencies_are_those_of_tensorflow():
    drawn = tf.nn.learned_unigram_candidate_sampler
    for _ in range(2):
        tf.random.set_seed(5)  # forgets
        found = [drawn([[0, 2], [2, 2]], 2, 6, False, 5, seed=3) for _ in range(3)]
        assert [f[0].numpy().tolist() for f in found] == [
            [0, 1, 3, 1, 4, 1], [0, 2, 2, 2, 4, 2], [4, 0, 2, 3, 2, 2],
        ]  # fmt: skip
        assert found[2][1].numpy()[0].tolist() == [1.384615421295166, 3.230769395828247]
    unique = [drawn([[0, 2], [2, 2]], 2, 4, True, 5, seed=3) for _ in range(2)]
    assert [u[0].numpy().tolist() for u in unique] == [[0, 1, 3, 4], [4, 2, 3, 0]]
    fresh = [drawn([[0, 2], [2, 2]], 2, 6, False, 5) for _ in range(2)]  # a seed of its own each
    assert (fresh[1][1].numpy() == np.float32(1.2)).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[0, 5\)"):
        drawn([[0, 9]], 2, 6, False, 5)


def test_a_function_of_constants_draws_anew_in_every_call():
    tf.random.set_seed(5)
    drawn = tf.function(lambda: tf.nn.fixed_unigram_candidate_sampler(
        [[0, 2]], 2, 6, False, 7, unigrams=UNIGRAMS, seed=3
    )[0])  # fmt: skip
    assert [drawn().numpy().tolist() for _ in range(2)] == [[3, 5, 2, 2, 2, 5], [5, 2, 3, 2, 5, 2]]
