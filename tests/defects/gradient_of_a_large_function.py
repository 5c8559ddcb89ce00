"""A tape around a call of a function of thousands of ops gives the gradient at every call."""

from checking import check, end

import gradtape as tf

OPS = 4000


@tf.function
def f(x):
    for _ in range(OPS):
        x = tf.asinh(tf.sinh(x))
    return x


x = tf.constant(1.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x
    for _ in range(OPS):
        y = tf.asinh(tf.sinh(y))
expected = tape.gradient(y, x).numpy()


def through_the_function():
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


for call in (1, 2, 3):
    check(f"gradient, call {call}", expected, through_the_function)
end()
