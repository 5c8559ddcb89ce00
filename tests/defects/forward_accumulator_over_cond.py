"""A ForwardAccumulator around tf.cond in a tf.function, for both branches and at every call."""

from checking import check, end

import gradtape as tf


@tf.function
def f(x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        y = tf.cond(tf.reduce_sum(x) > 0.1, lambda: x * x, lambda: tf.zeros_like(x))
    return acc.jvp(y)


for call, (value, expected) in enumerate(
    [
        ([1.0, 2.0], [2.0, 4.0]),
        ([-1.0, -2.0], [0.0, 0.0]),
        ([3.0, 4.0], [6.0, 8.0]),
        ([-1.0, 0.0], [0.0, 0.0]),
    ],
    1,
):
    check(f"call {call}, at {value}", expected, lambda: f(tf.constant(value)))
end()
