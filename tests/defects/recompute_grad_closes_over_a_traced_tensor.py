"""recompute_grad of a function that closes over a tensor of the tf.function, or of the loop's body, around it."""

import numpy as np
from checking import check, end

import gradtape as tf

w = np.array([0.1, 0.4], np.float32)
f = tf.function(lambda x: tf.recompute_grad(lambda c: x * 2.0)(w))


def loop(x):
    def body(i, a):
        return i + 1, tf.recompute_grad(lambda b: tf.sin(a))(w)

    return tf.while_loop(lambda i, a: i < 2, body, [tf.constant(0), x])[1]


g = tf.function(loop)
for call in (1, 2, 3):
    x = tf.constant([float(call), 2.0])
    check(f"in a function, call {call}", [2.0 * call, 4.0], lambda: f(x))
    check(f"in a loop, call {call}", np.sin(np.sin([float(call), 2.0])), lambda: g(x))
end()
