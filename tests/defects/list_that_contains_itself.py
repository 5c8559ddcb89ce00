"""A list that contains itself: TypeError or ValueError, no RecursionError. (TensorFlow does not even come back.)"""

from checking import Raises, check, end

import gradtape as tf

loop = []
loop.append(loop)
expected = Raises(TypeError, ValueError, tf.errors.InvalidArgumentError)
for name, use in {
    "constant": lambda: tf.constant(loop),
    "convert_to_tensor": lambda: tf.convert_to_tensor(loop),
    "reduce_sum": lambda: tf.reduce_sum(loop),
    "stack": lambda: tf.stack(loop),
    "Variable": lambda: tf.Variable(loop),
    "nest.flatten": lambda: tf.nest.flatten(loop),
    "ragged.constant": lambda: tf.ragged.constant(loop),
    "from_tensors": lambda: tf.data.Dataset.from_tensors(loop),
}.items():
    check(name, expected, use)
end()
