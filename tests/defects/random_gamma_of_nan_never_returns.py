"""tf.random.gamma with NaN or a negative number in alpha returns at once (TensorFlow gives NaN for NaN)."""

import numpy as np
from checking import check, end, within

import gradtape as tf

within(15)


def returns(came):
    """an array of shape (2, 2), at once"""
    return np.shape(came) == (2, 2)


def nan_in_column_one(came):
    """NaN in the second column"""
    return bool(np.isnan(came[:, 1]).all() and np.isfinite(came[:, 0]).all())


check(
    "alpha is [1, NaN]",
    nan_in_column_one,
    lambda: tf.random.gamma([2], tf.constant([1.0, float("nan")])),
)
check("alpha is [1, -1]", returns, lambda: tf.random.gamma([2], tf.constant([1.0, -1.0])))
check(
    "stateless, alpha is [1, NaN]",
    returns,
    lambda: tf.random.stateless_gamma([2, 2], [1, 2], tf.constant([1.0, float("nan")])),
)
end()
