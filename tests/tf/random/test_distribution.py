"""Categorical, gamma, Poisson, binomial and truncated normal samples equal TensorFlow's."""

import numpy as np
import pytest
from scipy import stats

import gradtape as tf

SEED = (1, 2)


def same(tensor, numbers):
    np.testing.assert_array_equal(tensor.numpy(), np.asarray(numbers, tensor.numpy().dtype))


def test_classes_are_those_of_tensorflow():
    same(tf.random.stateless_categorical([[0.0, 1.0, 2.0]], 8, SEED), [[2, 2, 1, 2, 2, 2, 2, 1]])
    odds = [[0.0, -np.inf, 1.0], [np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0]]
    same(
        tf.random.stateless_categorical(odds, 6, (3, 4)),
        [[2, 2, 0, 2, 2, 2], [1, 1, 2, 1, 1, 2], [2, 1, 1, 2, 2, 2]],
    )
    tf.random.set_seed(1)
    drawn = [tf.random.categorical([[0.0, 1.0, 2.0]], 8, seed=s) for s in (None, 3, 3)]
    same(drawn[0], [[1, 0, 2, 2, 1, 1, 1, 1]])
    same(drawn[1], [[1, 2, 2, 0, 2, 2, 1, 1]])
    same(drawn[2], [[2, 2, 2, 2, 1, 2, 2, 1]])
    two = tf.random.categorical([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]], 3, seed=3)
    same(two, [[2, 2, 1], [1, 1, 1]])
    same(tf.random.categorical([[0.0, 1.0, 2.0]], 8, seed=3), [[2, 1, 1, 2, 2, 1, 2, 2]])


def test_classes_of_many_logits_do_not_depend_on_the_batch():
    logits = np.linspace(-1, 1, 3000).reshape(2, 1500)
    many = tf.random.stateless_categorical(logits, 100, SEED).numpy()
    shorter = tf.random.stateless_categorical(logits[:1], 20, SEED).numpy()
    assert many[0, :20].tolist() == shorter[0].tolist()


def test_gamma_samples_are_those_of_tensorflow():
    drawn = tf.random.stateless_gamma([2, 3], SEED, [0.5, 1.0, 5.0])
    assert drawn.shape == (2, 3)
    tf.random.set_seed(1)
    same(tf.random.gamma([3], 2.0), [4.302483, 0.94517547, 0.740369])
    tf.random.set_seed(1)
    drawn = tf.random.gamma([4], [0.5, 1.0, 5.0], seed=1, dtype=tf.float16)
    same(drawn[0], [0.015594, 0.8765, 3.771])


def test_poisson_and_binomial_samples_are_those_of_tensorflow():
    tf.random.set_seed(1)
    rates = [0.5, 3.0, 15.0, 100.0]
    same(
        tf.random.poisson([4], rates, seed=1),
        [[0, 3, 12, 98], [1, 2, 13, 99], [2, 1, 17, 114], [0, 2, 14, 107]],
    )
    same(tf.random.poisson([4], rates, seed=1)[0], [0, 4, 15, 93])
    same(tf.random.stateless_poisson([50, 4], SEED, rates)[:2], [[3, 4, 14, 82], [2, 2, 13, 100]])
    drawn = tf.random.stateless_binomial(
        [50, 4], SEED, [5.0, 10.0, 100.0, 1000.0], [0.2, 0.7, 0.3, 0.5]
    )
    same(drawn[:2], [[3, 9, 29, 472], [1, 8, 27, 499]])
    same(tf.random.stateless_binomial([5], SEED, 10.0, 0.3), [5, 5, 5, 4, 4])


@pytest.mark.parametrize(
    ("drawn", "law"),
    [
        (lambda: tf.random.stateless_gamma([20000], SEED, 0.3, 2.0), stats.gamma(0.3, scale=0.5)),
        (lambda: tf.random.stateless_gamma([20000], SEED, 1.0), stats.gamma(1.0)),
        (lambda: tf.random.stateless_gamma([20000], SEED, 40.0), stats.gamma(40.0)),
        (
            lambda: tf.random.stateless_parameterized_truncated_normal(
                [20000], SEED, 1.0, 2.0, 0.0, 2.5
            ),
            stats.truncnorm(-0.5, 0.75, 1.0, 2.0),
        ),
        (
            lambda: tf.random.stateless_parameterized_truncated_normal(
                [20000], SEED, 0.0, 1.0, 8.0, 9.0
            ),
            stats.truncnorm(8.0, 9.0),
        ),
    ],
)
def test_floating_samples_follow_their_distribution(drawn, law):
    numbers = drawn().numpy().astype(np.float64)
    assert stats.kstest(numbers, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("drawn", "law"),
    [
        (lambda: tf.random.stateless_poisson([20000], SEED, 2.5), stats.poisson(2.5)),
        (lambda: tf.random.stateless_poisson([20000], SEED, 50.0), stats.poisson(50.0)),
        (lambda: tf.random.stateless_binomial([20000], SEED, 8.0, 0.7), stats.binom(8, 0.7)),
        (lambda: tf.random.stateless_binomial([20000], SEED, 90.0, 0.6), stats.binom(90, 0.6)),
    ],
)
def test_integer_samples_follow_their_distribution(drawn, law):
    numbers = drawn().numpy()
    assert abs(numbers.mean() - law.mean()) < 4 * law.std() / 20000**0.5
    assert abs(numbers.std() / law.std() - 1) < 0.03


def test_gradients_of_gamma_are_tensorflows():
    alpha = tf.Variable([0.5, 3.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.random.stateless_gamma([3, 2], SEED, alpha) ** 2)
    np.testing.assert_allclose(tape.gradient(loss, alpha), [2.2125657, 19.806849], rtol=1e-5)
    tf.random.set_seed(1)
    with tf.GradientTape() as tape:
        drawn = tf.random.gamma([3], alpha, beta=tf.constant([2.0, 4.0]), seed=1)
        loss = tf.reduce_sum(drawn**2)
    np.testing.assert_allclose(tape.gradient(loss, alpha), [1.319499, 0.9815414], rtol=1e-5)
    beta = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        drawn = tf.random.stateless_gamma([3], SEED, 2.0, beta=beta)
    np.testing.assert_allclose(tape.gradient(drawn, beta), -2.0193543, rtol=1e-5)


def test_gradients_of_truncated_normals_are_tensorflows():
    parameters = [tf.Variable(x) for x in (0.5, 2.0, -1.0, 2.0)]
    with tf.GradientTape() as tape:
        drawn = tf.random.stateless_parameterized_truncated_normal([3], SEED, *parameters)
    slopes = tape.gradient(drawn, parameters)
    assert slopes[0] == 3.0
    np.testing.assert_allclose(slopes[1], np.sum((drawn.numpy() - 0.5) / 2.0), rtol=1e-5)
    assert slopes[2] > 0
    assert slopes[3] > 0


@pytest.mark.parametrize(
    ("error", "draw"),
    [
        (tf.errors.InvalidArgumentError, lambda: tf.random.categorical([1.0, 2.0], 3)),
        (tf.errors.InvalidArgumentError, lambda: tf.random.categorical([[1.0]], -1)),
        (tf.errors.InvalidArgumentError, lambda: tf.random.categorical([[1.0]], [2])),
        (tf.errors.InvalidArgumentError, lambda: tf.random.categorical(np.zeros((2, 0)), 2)),
        (ValueError, lambda: tf.random.categorical([[1.0]], 2, dtype=tf.float32)),
        (tf.errors.InvalidArgumentError, lambda: tf.random.stateless_gamma([2], SEED, [1.0] * 3)),
        (tf.errors.InvalidArgumentError, lambda: tf.random.stateless_poisson([2], SEED, [1.0] * 3)),
        (tf.errors.InvalidArgumentError, lambda: tf.random.poisson([2], 2.0, dtype=tf.bool)),
        (
            tf.errors.InvalidArgumentError,
            lambda: tf.random.stateless_binomial([2], SEED, [1.0] * 3, 0.5),
        ),
        (
            tf.errors.InvalidArgumentError,
            lambda: tf.random.stateless_parameterized_truncated_normal(
                [3], SEED, minvals=2.0, maxvals=1.0
            ),
        ),
    ],
)
def test_invalid_arguments_are_rejected(error, draw):
    with pytest.raises(error):
        draw()
