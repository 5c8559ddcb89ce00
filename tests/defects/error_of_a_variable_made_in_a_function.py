"""A variable that a tf.function makes at every call: the error names the user's line that makes it."""

import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import check, end

import gradtape as tf


@tf.function
def f(x):
    v = tf.Variable(x)  # the line to be named
    return v + 1


line = f.python_function.__code__.co_firstlineno + 2
try:
    f(tf.constant(1.0))
    f(tf.constant(1.0))
    text, frames = "no error", []
except ValueError as error:
    frames = [
        f.filename for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__
    ]
    text = "".join(traceback.format_exception(error))


def names_the_line(came):
    """a message that names the line"""
    return f"line {line}" in came or f":{line}" in came


check("the message", names_the_line, text)
check("frames that are not the user's", [], frames)
end()
