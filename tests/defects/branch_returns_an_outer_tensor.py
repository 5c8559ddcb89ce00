"""In a tf.function, a branch of cond, case or switch_case may return a tensor from outside, or an argument, as it is."""

from checking import check, end

import gradtape as tf

k = tf.constant([10.0, 20.0])


@tf.function
def by_cond(x):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x) * 0.0, lambda: k)


@tf.function
def by_switch(x):
    return tf.switch_case(tf.cast(tf.reduce_sum(x) > 0.0, tf.int32), [lambda: x, lambda: k])


@tf.function
def by_case(x):
    return tf.case([(tf.reduce_sum(x) > 0.0, lambda: k)], default=lambda: x)


up, down = [1.0, 2.0], [-1.0, -2.0]
for call in (1, 2, 3):
    check(f"cond, call {call}, else", k, lambda: by_cond(tf.constant(down)))
    check(f"cond, call {call}, then", [0.0, 0.0], lambda: by_cond(tf.constant(up)))
    check(f"switch_case, call {call}, 1", k, lambda: by_switch(tf.constant(up)))
    check(f"switch_case, call {call}, 0", down, lambda: by_switch(tf.constant(down)))
    check(f"case, call {call}, first", k, lambda: by_case(tf.constant(up)))
    check(f"case, call {call}, default", down, lambda: by_case(tf.constant(down)))
end()
