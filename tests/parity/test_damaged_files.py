"""Damaged files raise the same classes of errors on TensorFlow and gradtape."""

import random

import numpy as np
import pytest

import gradtape
from tests.fuzz.file_formats import stateless_formats

# TensorFlow warns when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore")
tensorflow = pytest.importorskip("tensorflow")
READERS = {
    "gif": lambda tf, data: tf.io.decode_gif(data),
    "png": lambda tf, data: tf.io.decode_png(data),
    "wav": lambda tf, data: tf.audio.decode_wav(data).audio,
    "tensor": lambda tf, data: tf.io.parse_tensor(data, tf.float32),
    "csv_lines": lambda tf, data: tf.io.decode_csv([data], [[0], [0.0], [""]])[0],
    "example": lambda tf, data: tf.io.parse_single_example(
        data, {"ints": tf.io.FixedLenFeature([3], tf.int64)}
    )["ints"],
}
# TensorFlow ignores damage in parts of an Example that it does not need. giflib and Pillow do not
# agree about all damaged pixels.
ONE_MAY_REFUSE = ("example", "gif")


def outcome(tf, read, data):
    """The result, or the class of the error; TensorFlow cannot decode some of its messages."""
    try:
        return read(tf, data).numpy()
    except UnicodeDecodeError:
        return "InvalidArgumentError"
    except tf.errors.OpError as error:
        return type(error).__name__


@pytest.mark.parametrize("name", READERS)
def test_outcomes_are_the_same(name):
    form = stateless_formats()[name]
    refused = 0
    for run in range(100):
        data = form.make_case(random.Random(f"parity/{run}"))
        theirs, ours = (outcome(tf, READERS[name], data) for tf in (tensorflow, gradtape))
        refused += isinstance(ours, str)
        if isinstance(ours, str) is isinstance(theirs, str):
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{run} {data!r}")
        else:
            assert name in ONE_MAY_REFUSE, (run, data)
    assert refused > 10
