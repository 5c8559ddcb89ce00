"""The error of a missing name shows it in full, the nearest name, and the page of all names."""

import importlib

import pytest

import gradtape as tf


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("reduce_sums", r"does not have tf\.reduce_sums\. The nearest name is tf\.reduce_sum\."),
        ("log", r"does not have tf\.log\. The nearest name is tf\.math\.log\."),
        ("matrix_inverse", r"The nearest name is tf\.linalg\.inv\."),
        ("math.relu", r"does not have tf\.math\.relu\. The nearest name is tf\.nn\.relu\."),
        ("nn.sofmax", r"does not have tf\.nn\.sofmax\. The nearest name is tf\.nn\.softmax\."),
        ("qqq", r"does not have tf\.qqq\. dir\(tf\) lists the supported names\."),
        ("Session", r"belongs to TensorFlow 1: .*tf\.function.*"),
        ("contrib", r"belongs to TensorFlow 1"),
    ],
)
@pytest.mark.parametrize("dropped_in", [False, True])
def test_a_missing_name_says_what_to_do(path, message, dropped_in):
    def fetch(found):
        for name in path.split("."):
            found = getattr(found, name)

    with tf.install():
        found = importlib.import_module("tensorflow") if dropped_in else tf
        with pytest.raises(AttributeError, match=message):
            fetch(found)


def test_private_names_are_not_guessed_at():
    with pytest.raises(AttributeError, match=r"has no attribute '__wrapped__'$"):
        tf.__wrapped__  # noqa: B018
