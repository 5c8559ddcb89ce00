"""dynamic_stitch of rows without elements in a tf.function works at every call."""

from checking import check, end

import gradtape as tf


@tf.function
def f(x):
    return tf.dynamic_stitch([[0, 2], [1]], [tf.stack([x, x]), tf.expand_dims(x, 0)])


for call in (1, 2, 3):
    check(f"call {call}", [3, 0], lambda: f(tf.zeros([0])).shape.as_list())
end()
