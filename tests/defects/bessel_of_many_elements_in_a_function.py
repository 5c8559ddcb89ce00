"""Bessel functions of 65,536 elements and more in a tf.function, at every call."""

import numpy as np
from checking import check, end

import gradtape as tf

x = tf.reshape(tf.linspace(-1.0, 1.0, 257 * 300), [257, 300])
for name in ["bessel_i0", "bessel_i1", "bessel_i0e", "bessel_i1e"]:
    op = getattr(tf.math, name)
    f = tf.function(lambda x: op(tf.tanh(x)))
    expected = op(tf.tanh(x)).numpy()
    for call in (1, 2, 3):
        check(
            f"{name}, call {call}, largest difference",
            0.0,
            lambda: np.abs(f(x).numpy() - expected).max(),
        )
end()
