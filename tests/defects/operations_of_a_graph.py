"""A concrete function's graph can be listed, and what autograph makes of a function can be seen."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import check, end

import gradtape as tf


@tf.function
def f(x):
    if x > 0:
        return x * 2
    return x


def ops():
    made = tf.function(lambda x: tf.sin(x) * 2.0).get_concrete_function(
        tf.TensorSpec([], tf.float32)
    )
    return len(made.graph.get_operations()) >= 3


check("graph.get_operations() has at least three", True, ops)
check(
    "autograph.to_code gives text", True, lambda: "def " in tf.autograph.to_code(f.python_function)
)
end()
