"""Optimal transport."""

import ot
import tensorflow as tf

tf.experimental.numpy.experimental_enable_numpy_behavior()
a = tf.constant([0.5, 0.5])
b = tf.constant([0.3, 0.7])
m = tf.constant([[0.0, 1.0], [1.0, 0.0]])
print(ot.sinkhorn(a, b, m, 0.5).numpy().round(5), float(ot.emd2(a, b, m)))
