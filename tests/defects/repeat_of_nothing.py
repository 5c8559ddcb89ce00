"""tf.repeat of no rows, an empty number of times for each."""

from checking import check, end

import gradtape as tf

check(
    "repeat(zeros([0, 2]), [], axis=0)",
    [0, 2],
    lambda: tf.repeat(tf.zeros([0, 2]), [], axis=0).shape.as_list(),
)
check("repeat([], [])", [0], lambda: tf.repeat(tf.constant([], tf.float32), []).shape.as_list())
end()
