"""svd, matrix_rank, pinv and the 2-norm of a matrix with an infinity give NaN (rank: a number) at once, as in TensorFlow."""

import numpy as np
from checking import check, end, within

import gradtape as tf

within(15)
a = tf.constant([[-0.67, 0.59, -1.64], [-np.inf, 0.006, 0.17], [-np.inf, 0.15, 0.09]], tf.float64)


def all_nan(came):
    """NaN everywhere"""
    return bool(np.isnan(came).all())


def a_number(came):
    """some number"""
    return np.ndim(came) == 0


check("singular values", all_nan, lambda: tf.linalg.svd(a, compute_uv=False))
check("svd, first result", all_nan, lambda: tf.linalg.svd(a)[0])
check("svd, full matrices", all_nan, lambda: tf.linalg.svd(a, full_matrices=True)[0])
check(
    "in a tf.function",
    all_nan,
    lambda: [tf.function(lambda a: tf.linalg.svd(a)[0])(a) for _ in range(3)][-1],
)
check("matrix_rank", a_number, lambda: tf.linalg.matrix_rank(a))
check("2-norm", all_nan, lambda: tf.norm(a, 2, axis=[0, 1]))
check("pinv", all_nan, lambda: tf.linalg.pinv(a))
end()
