"""A function with a gradient of its own may close over a tensor of the tf.function around it; its argument may be a constant."""

import numpy as np
from checking import check, end

import gradtape as tf

w = np.array([0.5, 2.0], np.float32)


def body(x):
    @tf.custom_gradient
    def f(c):
        return x * c, lambda dy: dy

    return f(w)


g = tf.function(body)
for call in (1, 2, 3):
    check(f"call {call}", [0.5 * call, 4.0], lambda: g(tf.constant([float(call), 2.0])))
end()
