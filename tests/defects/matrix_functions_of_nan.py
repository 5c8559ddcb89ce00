"""Functions of a matrix with NaN in it give NaN, they do not raise."""

import numpy as np
from checking import check, end, within

import gradtape as tf

within(15)


def has_nan(came):
    """NaN"""
    return bool(np.isnan(came).any())


nan = float("nan")
m = tf.constant([[1.0, nan], [0.0, 1.0]])
check("sqrtm", has_nan, lambda: tf.linalg.sqrtm(m))
check("logm", has_nan, lambda: tf.linalg.logm(tf.cast(m, tf.complex64)))
check("expm", has_nan, lambda: tf.linalg.expm(m))
end()
