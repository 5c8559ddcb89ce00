"""Reshaping an empty tensor in a tf.function gives the same shape at every call."""

from checking import check, end

import gradtape as tf

f = tf.function(lambda x: tf.reshape(x, [1, -1]))
g = tf.function(lambda x: tf.reduce_sum(tf.reshape(x, [5, -1]), axis=1))
for call in (1, 2, 3):
    for shape in ([1, 0], [0, 3], [2, 0, 5]):
        check(
            f"reshape of {shape} to [1, -1], call {call}",
            [1, 0],
            lambda: f(tf.zeros(shape)).shape.as_list(),
        )
    check(
        f"sum of a reshape of [0, 3] to [5, -1], call {call}",
        [5],
        lambda: g(tf.zeros([0, 3])).shape.as_list(),
    )
end()
