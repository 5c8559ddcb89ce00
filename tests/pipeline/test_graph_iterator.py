"""Elements read inside functions: batches of all sizes share one trace."""

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


def batches(count, size=4, width=3):
    rows = tf.reshape(tf.range(count * width, dtype=tf.float32), [count, width])
    return Dataset.from_tensor_slices((rows, tf.range(count))).batch(size)


def test_a_shorter_last_batch_needs_no_new_trace():
    shapes = []

    @tf.function
    def total(iterator):
        x, y = next(iterator)
        shapes.append((x.shape, y.shape))
        return tf.reduce_sum(x, 1) + tf.cast(y, tf.float32), tf.shape(x)[0]

    iterator = iter(batches(10))
    found = [total(iterator) for _ in range(3)]
    expected = [tf.reduce_sum(x, 1) + tf.cast(y, tf.float32) for x, y in batches(10)]
    for (sums, count), wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(sums, wanted)
        assert count == len(wanted)
    assert shapes == [(tf.TensorShape([None, 3]), tf.TensorShape([None]))]
    assert total.experimental_get_tracing_count() == 1


def test_gradients_and_updates_of_all_batches_are_those_of_eager_code():
    def train(decorate):
        weights = tf.Variable(tf.ones([3, 1]))

        def step(iterator):
            x, y = next(iterator)
            with tf.GradientTape() as tape:
                error = tf.squeeze(x @ weights, 1) - tf.cast(y, tf.float32)
                loss = tf.reduce_mean(error**2)
            weights.assign_sub(1e-4 * tape.gradient(loss, weights))
            return loss

        step = decorate(step)
        losses = []
        for count in (10, 7, 5, 10):
            iterator = iter(batches(count))
            losses += [float(step(iterator)) for _ in range(-(-count // 4))]
        return losses, weights.numpy(), step

    losses, weights, step = train(tf.function)
    eager_losses, eager_weights, _ = train(lambda f: f)
    np.testing.assert_allclose(losses, eager_losses, rtol=1e-5)
    np.testing.assert_allclose(weights, eager_weights, rtol=1e-5)
    assert step.experimental_get_tracing_count() == 1


def test_more_sizes_than_paths_are_kept():
    @tf.function
    def double(iterator):
        return 2 * next(iterator)

    rows = Dataset.range(1, 60).map(lambda n: tf.range(n))
    iterator = iter(rows)
    for n in range(1, 60):
        np.testing.assert_array_equal(double(iterator), 2 * np.arange(n))
    assert double.experimental_get_tracing_count() == 1
    assert double.fallbacks() == {}


def test_a_batch_that_violates_an_assumption_is_traced_again():
    runs = []

    @tf.function
    def halves(iterator):
        x, _ = next(iterator)
        runs.append(1)
        return tf.split(x, 2)

    iterator = iter(batches(14))
    sizes = [[int(tf.shape(part)[0]) for part in halves(iterator)] for _ in range(3)]
    assert sizes == [[2, 2]] * 3
    assert [int(tf.shape(part)[0]) for part in halves(iterator)] == [1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        halves(iter(batches(3)))


def test_branches_on_values_of_elements_stay_guarded():
    @tf.function
    def step(iterator):
        x, y = next(iterator)
        if y[0] > 3:
            return tf.reduce_sum(x)
        return tf.reduce_max(x)

    iterator = iter(batches(10))
    found = [float(step(iterator)) for _ in range(3)]
    assert found == [
        float(tf.reduce_sum(x) if y[0] > 3 else tf.reduce_max(x)) for x, y in batches(10)
    ]


def test_several_elements_in_one_call():
    @tf.function
    def pair(iterator):
        return tf.shape(next(iterator)[0])[0], tf.shape(next(iterator)[0])[0]

    for count, wanted in ((8, (4, 4)), (7, (4, 3)), (5, (4, 1)), (6, (4, 2))):
        assert tuple(int(n) for n in pair(iter(batches(count)))) == wanted


def test_known_sizes_stay_known():
    shapes = []

    @tf.function
    def step(iterator):
        x, _ = next(iterator)
        shapes.append(x.shape)
        return x

    step(iter(batches(8).map(lambda x, y: (tf.ensure_shape(x, [4, 3]), y))))
    assert shapes == [(4, 3)]


def test_a_loop_over_a_dataset_serves_a_shorter_last_batch():
    @tf.function
    def total():
        result = 0.0
        for x, _ in batches(10):
            result += tf.reduce_sum(x)
        return result

    assert float(total()) == float(total()) == sum(range(30))


def test_get_next_and_optionals_have_open_sizes():
    shapes = []

    @tf.function
    def step(iterator):
        x, _ = iterator.get_next()
        found = iterator.get_next_as_optional()
        shapes.append(x.shape)
        if found.has_value():
            return x + found.get_value()[0][:1]
        return x

    iterator = iter(batches(5))
    assert step(iterator).shape == (4, 3)
    assert shapes[0] == tf.TensorShape([None, 3])
