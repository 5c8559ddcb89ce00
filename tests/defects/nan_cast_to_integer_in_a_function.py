"""NaN cast to an integer gives the smallest one in a plain tf.function, however large the arrays; a compiled function gives the same at every call."""

import numpy as np
from checking import check, end

import gradtape as tf

values = np.ones(1 << 20, np.float32)
values[:3] = np.nan, 1.5, -2.5
x = tf.constant(values)


def cast(x):
    return tf.cast(tf.sin(x) * 0.0 + x, tf.int32)


expected = [-(2**31), 1, -2]
check("eager", expected, lambda: cast(x)[:3])
f = tf.function(cast)
for call in (1, 2, 3):
    check(f"function, call {call}", expected, lambda: f(x)[:3])
g = tf.function(cast, jit_compile=True)
first = g(x)[:3].numpy()
for call in (2, 3):
    check(f"compiled, call {call}, as at call 1", first, lambda: g(x)[:3])
end()
