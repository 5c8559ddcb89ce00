"""Exceptions of signal handlers stay what they are; an interrupted import can be repeated."""

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.dispatch import explain_kernel_error, run_kernel
from gradtape.core.interruption import is_from_signal_handler, is_interruption
from gradtape.files.access import translate_os_errors
from gradtape.ops.elementwise import tanh


class Deadline(Exception):  # noqa: N818  the name of an event
    """The time is up."""


@pytest.fixture(params=[Deadline, TimeoutError, ValueError, OverflowError, MemoryError])
def ring(request):
    """Raise an exception by a signal; return its class."""

    def handler(number, frame):
        raise request.param("time is up")

    before = signal.signal(signal.SIGUSR1, handler)
    yield lambda: signal.raise_signal(signal.SIGUSR1), request.param
    signal.signal(signal.SIGUSR1, before)


class Interrupted(np.ndarray):
    """An array on which a kernel is interrupted."""

    def __array_ufunc__(self, *args, **kwargs):
        signal.raise_signal(signal.SIGUSR1)


def test_kernels_let_them_pass(ring):
    x = np.ones(3).view(Interrupted)
    with pytest.raises(ring[1], match=r"^time is up$"):
        run_kernel(tanh.op, (x,), {})


def test_own_errors_of_kernels_are_explained():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])


def test_a_class_of_the_user_is_never_replaced():
    with pytest.raises(Deadline):
        explain_kernel_error(Deadline("from another thread"), tanh.op, (np.ones(3),), {})


def test_files_let_them_pass(ring):
    def read():
        with translate_os_errors("a file"):
            ring[0]()

    with pytest.raises(ring[1], match=r"^time is up$"):
        read()
    with pytest.raises(tf.errors.NotFoundError), translate_os_errors("a file"):
        os.stat("/no/such/file")


def test_python_functions_and_pipelines_let_them_pass(ring):
    def interrupted(x):
        ring[0]()

    with pytest.raises(ring[1], match="time is up"):
        tf.numpy_function(interrupted, [1.0], tf.float32)
    with pytest.raises(ring[1], match="time is up"):
        tf.py_function(interrupted, [1.0], tf.float32)

    def elements():
        yield 1
        ring[0]()

    pipeline = tf.data.Dataset.from_generator(
        elements, output_signature=tf.TensorSpec([], tf.int32)
    )
    with pytest.raises(ring[1], match="time is up"):
        list(pipeline.ignore_errors())


def test_what_is_an_interruption(ring):
    with pytest.raises(ring[1]) as caught:
        ring[0]()
    assert is_from_signal_handler(caught.value)
    assert is_interruption(caught.value)
    assert not is_interruption(OSError(errno.ENOENT, "no such file"))
    assert not is_from_signal_handler(OSError(errno.ENOENT, "no such file"))


PROGRAM = """
import importlib.util, sys
import gradtape as tf

class Interruption(BaseException):
    pass

def import_until(name, line):
    count = 0
    def count_lines(frame, event, arg):
        nonlocal count
        count += event == "line"
        if count == line:
            sys.settrace(None)
            raise Interruption
        return count_lines
    def enter(frame, event, arg):
        own = frame.f_globals.get("__name__") == name
        return count_lines if own and frame.f_code.co_name == "<module>" else None
    sys.settrace(enter)
    try:
        importlib.import_module(name)
    finally:
        sys.settrace(None)

for name in ("ops.einsum", "tf.linalg.einsum", "tf.signal.frame", "tf.image.resize",
             "tf.nn.convolution", "tf.math.segment", "tf.api.math", "tf.api.nn"):
    name = "gradtape." + name
    if importlib.util.find_spec(name) is None:
        continue
    for line in range(1, 10000):
        try:
            import_until(name, line)
            break
        except Interruption:
            pass
a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(tf.einsum("ij,jk->ik", a, a).numpy().tolist(), tf.cumsum(a, 1).numpy().tolist())
print(tf.math.segment_sum(a, [0, 0]).numpy().tolist(), tf.nn.relu6(a).numpy().tolist())
"""


def test_an_import_interrupted_at_every_line_can_be_repeated():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.splitlines() == [
        "[[7.0, 10.0], [15.0, 22.0]] [[1.0, 3.0], [3.0, 7.0]]",
        "[[4.0, 6.0]] [[1.0, 2.0], [3.0, 4.0]]",
    ], done.stderr
