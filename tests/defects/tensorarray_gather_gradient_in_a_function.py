"""The gradient through TensorArray.unstack and gather is a tensor, in a tf.function too."""

from checking import check, end

import gradtape as tf


def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x).gather([2, 0])
    return tape.gradient(y, x)


x = tf.constant([1.0, 2.0, 3.0])
check("eager", [1.0, 0.0, 1.0], lambda: f(x))
g = tf.function(f)
for call in (1, 2, 3):
    check(f"in a function, call {call}", [1.0, 0.0, 1.0], lambda: g(x))
end()
