"""A name that only one branch sets: TensorFlow's error says which name, and that every branch must set it."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import check, end

import gradtape as tf


@tf.function
def f(x):
    if x > 0:
        y = x
    return y


try:
    f(tf.constant(-1.0))
    came = "no error"
except Exception as error:
    came = " ".join([str(error), *getattr(error, "__notes__", [])])


def helpful(came):
    """a message that names y, and the branch or the if"""
    return "'y'" in came and ("branch" in came or "if" in came.replace("specif", ""))


check("the message", helpful, came)
end()
