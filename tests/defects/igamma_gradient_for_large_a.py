"""The gradients of igamma and igammac by a end quickly for large a."""

import numpy as np
from checking import check, end, within

import gradtape as tf

within(18)


def small(came):
    """a number between -1 and 0 (igamma), 0 and 1 (igammac), or NaN"""
    return bool(np.isnan(came) or abs(came) < 1)


for op in (tf.math.igamma, tf.math.igammac):
    for value in (1e3, 1e6, 1e8, 1e10, 1e30):
        a = tf.constant(value, tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = op(a, tf.constant(value, tf.float64))
        check(f"{op.__name__} at {value:g}", small, lambda: tape.gradient(y, a))
end()
