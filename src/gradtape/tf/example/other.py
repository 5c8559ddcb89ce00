"""Examples of pools, activations, assertions and functions of strings."""

ACTIVATION = {
    "elu": (
        ">>> tf.nn.elu([-1.0, 3.0, 9.0]).numpy().round(3)\n"
        "array([-0.632,  3.   ,  9.   ], dtype=float32)"
    ),
    "relu": (
        ">>> tf.nn.relu([-1.0, 3.0, 9.0]).numpy().round(3)\narray([0., 3., 9.], dtype=float32)"
    ),
    "relu6": (
        ">>> tf.nn.relu6([-1.0, 3.0, 9.0]).numpy().round(3)\narray([0., 3., 6.], dtype=float32)"
    ),
    "selu": (
        ">>> tf.nn.selu([-1.0, 3.0, 9.0]).numpy().round(3)\n"
        "array([-1.111,  3.152,  9.456], dtype=float32)"
    ),
}
POOL = {
    "avg_pool": (
        '>>> tf.nn.avg_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID").numpy()[0]\n'
        "array([[[1.5]]], dtype=float32)"
    ),
    "avg_pool2d": (
        ">>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])\n"
        '>>> tf.nn.avg_pool2d(image, 2, 2, "VALID").numpy().reshape(2, 2)\n'
        "array([[ 2.5,  4.5],\n"
        "       [10.5, 12.5]], dtype=float32)"
    ),
    "avg_pool3d": (
        '>>> tf.nn.avg_pool3d(tf.ones([1, 2, 2, 2, 1]), 2, 2, "VALID").shape\n'
        "TensorShape([1, 1, 1, 1, 1])"
    ),
    "max_pool": (
        '>>> tf.nn.max_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID").numpy()[0]\n'
        "array([[[3.]]], dtype=float32)"
    ),
    "max_pool2d": (
        ">>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])\n"
        '>>> tf.nn.max_pool2d(image, 2, 2, "VALID").numpy().reshape(2, 2)\n'
        "array([[ 5.,  7.],\n"
        "       [13., 15.]], dtype=float32)"
    ),
    "max_pool3d": (
        '>>> tf.nn.max_pool3d(tf.ones([1, 2, 2, 2, 1]), 2, 2, "VALID").shape\n'
        "TensorShape([1, 1, 1, 1, 1])"
    ),
}
TRANSPOSED_CONVOLUTION = {
    "conv1d_transpose": (
        ">>> tf.nn.conv1d_transpose(tf.ones([1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2).shape\n"
        "TensorShape([1, 4, 1])"
    ),
}
ASSERTION = {
    "assert_equal": ">>> tf.debugging.assert_equal([2, 2], 2)",
    "assert_greater": ">>> tf.debugging.assert_greater([3, 4], 2)",
    "assert_greater_equal": ">>> tf.debugging.assert_greater_equal([2, 4], 2)",
    "assert_less": ">>> tf.debugging.assert_less([0, 1], 2)",
    "assert_less_equal": ">>> tf.debugging.assert_less_equal([1, 2], 2)",
    "assert_negative": ">>> tf.debugging.assert_negative([-1, -2])",
    "assert_non_negative": ">>> tf.debugging.assert_non_negative([0, 2])",
    "assert_non_positive": ">>> tf.debugging.assert_non_positive([0, -2])",
    "assert_none_equal": ">>> tf.debugging.assert_none_equal([1, 3], 2)",
    "assert_positive": ">>> tf.debugging.assert_positive([1, 2])",
}
BYTE_STRING = {
    "lower": (">>> tf.strings.lower(\"Tape\").numpy()\nb'tape'"),
    "upper": (">>> tf.strings.upper(\"Tape\").numpy()\nb'TAPE'"),
}
