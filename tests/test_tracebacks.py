"""Tracebacks of user errors end at the user's line."""

import subprocess
import sys
import traceback

import pytest

import gradtape as tf

MISTAKES = {
    "shapes that do not broadcast": lambda: tf.ones(2) + tf.ones(3),
    "another dtype": lambda: tf.ones(2) * tf.constant([1, 2]),
    "a dtype the op does not take": lambda: tf.sqrt(4),
    "a product that does not fit": lambda: tf.matmul(tf.ones((2, 3)), tf.ones((2, 3))),
    "a size that changes": lambda: tf.reshape(tf.range(6), (4,)),
    "an axis that is not there": lambda: tf.reduce_sum(tf.ones((2, 2)), axis=7),
    "an index out of range": lambda: tf.ones(2)[5],
    "a lookup out of range": lambda: tf.gather(tf.ones(2), [5]),
    "the truth of many": lambda: bool(tf.ones(2)),
    "an assignment that does not fit": lambda: tf.Variable([1.0, 2.0]).assign([1.0]),
    "an update that does not fit": lambda: tf.Variable([1.0, 2.0]).assign_add([1.0]),
    "a tape that was never entered": lambda: tf.GradientTape().gradient(tf.ones(2), tf.ones(2)),
    "a name that is not there": lambda: tf.no_such_name,
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_traceback_ends_at_the_users_line(mistake):
    for _ in range(2):  # the first call generates the code of the function
        with pytest.raises(Exception) as caught:  # noqa: PT011  (its class is tested elsewhere)
            mistake()
        assert traceback.extract_tb(caught.value.__traceback__)[-1].filename == __file__


def test_a_traceback_ends_in_the_users_callback():
    def callback(x):
        return x + tf.ones(3)

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.map_fn(callback, tf.ones((2, 2)))
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == [
        "test_a_traceback_ends_in_the_users_callback",
        "callback",
    ]


def test_filtering_can_be_switched_off():
    tf.debugging.disable_traceback_filtering()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert any("gradtape" in frame.filename for frame in frames[1:])
    finally:
        tf.debugging.enable_traceback_filtering()


def test_infinities_cause_no_warnings():
    program = "import gradtape as tf; print((tf.constant(1.0) / 0.0).numpy(), tf.exp(1e9).numpy())"
    for flags in ([], ["-W", "error"]):
        done = subprocess.run(
            [sys.executable, *flags, "-c", program], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["inf", "inf"]
        assert done.stderr == ""
