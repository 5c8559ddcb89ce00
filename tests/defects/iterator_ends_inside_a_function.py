"""next(iterator) in a tf.function ends with OutOfRangeError; what was assigned before it in that call stays (TensorFlow: 3)."""

from checking import check, end

import gradtape as tf

iterator = iter(tf.data.Dataset.range(2))
n = tf.Variable(0)


@tf.function
def step(iterator):
    n.assign_add(1)
    return next(iterator)


check("first", 0, lambda: step(iterator))
check("second", 1, lambda: step(iterator))
try:
    step(iterator)
except BaseException as error:
    came = type(error).__name__
check("the end", "OutOfRangeError", came)
check("how often the step has begun", 3, n)
end()
