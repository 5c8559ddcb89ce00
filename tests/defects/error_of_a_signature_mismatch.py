"""A call that does not fit the input_signature: the message gives shapes and dtypes, not the contents of the tensor."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import Raises, check, end

import gradtape as tf


@tf.function(input_signature=[tf.TensorSpec([None, 2])])
def f(x):
    return x


x = tf.fill([40, 4], 0.123456)
check(
    "shape (40, 4) for (None, 2)",
    Raises(TypeError, ValueError, says=["(40, 4)", "(None, 2)"], without=["0.123456"]),
    lambda: f(x),
)
end()
