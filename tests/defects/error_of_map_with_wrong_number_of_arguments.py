"""Dataset.map with a function of one argument on pairs: the error says how many came, and shows no frames of gradtape."""

import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import check, end

import gradtape as tf

try:
    list(tf.data.Dataset.from_tensor_slices(([1.0], [2.0])).map(lambda x: x))
    came, frames = "no error", []
except TypeError as error:
    came = str(error)
    frames = [
        f.filename for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__
    ]


def clear(came):
    """a message that names map, 2 values given and 1 taken"""
    return "map" in came and "2" in came and "1" in came


check("the message", clear, came)
check("frames that are not the user's", [], frames)
end()
