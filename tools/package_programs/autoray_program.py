"""Dispatch of functions by the backend of an array."""

import autoray as ar
import tensorflow as tf

x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(
    ar.infer_backend(x),
    float(ar.do("sum", ar.do("transpose", x, range(2)))),
    float(ar.do("linalg.norm", x)),
)
