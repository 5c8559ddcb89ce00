"""tf.train.ExponentialMovingAverage against TensorFlow 2.21."""

import numpy as np
import pytest

import gradtape as tf


def test_averages_follow_the_variable():
    v, ema = tf.Variable([1.0, 2.0], name="w"), tf.train.ExponentialMovingAverage(0.9)
    assert ema.average(v) is None
    ema.apply([v])
    v.assign([3.0, 4.0])
    ema.apply([v])
    np.testing.assert_allclose(ema.average(v), [1.2, 2.2], rtol=1e-6)
    assert ema.average_name(v) == "w/ExponentialMovingAverage"
    assert not ema.average(v).trainable
    assert list(ema.variables_to_restore()) == ["w/ExponentialMovingAverage"]


def test_early_averages_decay_faster():
    v, ema = tf.Variable([1.0, 2.0]), tf.train.ExponentialMovingAverage(0.9, num_updates=1)
    ema.apply([v])
    v.assign([3.0, 4.0])
    ema.apply([v])
    np.testing.assert_allclose(ema.average(v), [2.6363635, 3.6363635], rtol=1e-6)


def test_updates_inside_a_function():
    v, ema = tf.Variable([1.0]), tf.train.ExponentialMovingAverage(0.5)
    ema.apply([v])
    update = tf.function(lambda: ema.apply([v]))
    v.assign([3.0])
    update()
    update()
    assert ema.average(v).numpy().tolist() == [2.5]


def test_tensors_and_integers_are_refused():
    ema = tf.train.ExponentialMovingAverage(0.9)
    for value in (tf.constant(1.0), tf.Variable(1)):
        with pytest.raises(TypeError):
            ema.apply([value])
