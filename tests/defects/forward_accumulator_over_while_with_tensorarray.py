"""A ForwardAccumulator around a while_loop that writes a TensorArray, in a tf.function, as it works without one.

(TensorFlow gives this eagerly only.)
"""

import numpy as np
from checking import check, end

import gradtape as tf


@tf.function
def f(x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        array = tf.TensorArray(tf.float32, 3, element_shape=[])
        y = tf.while_loop(
            lambda i, a: i < 3,
            lambda i, a: (i + 1, a.write(i, tf.sin(x[i]))),
            [tf.constant(0), array],
        )[1].stack()
    return acc.jvp(y)


for call in (1, 2, 3):
    x = np.array([0.1, 0.2, 0.3], np.float32) * call
    check(f"call {call}", np.cos(x), lambda: f(tf.constant(x)))
end()
