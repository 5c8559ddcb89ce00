"""Memory of a tape: which tensors it keeps alive, leaks, deep graphs, threads and failures."""

import gc
import os
import sys
import threading
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.context import local
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import make_tensor
from gradtape.ops.elementwise import exp, multiply, sin, tanh
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.reduce import reduce_sum
from gradtape.tape.custom_gradient import custom_gradient

STATM = Path("/proc/self/statm")
linux = pytest.mark.skipif(not STATM.exists(), reason="reads /proc")


def resident():
    """Bytes of memory in use."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def chain(x, length):
    """exp(sin(exp(sin(…)))), and weak references to the intermediate results."""
    refs = []
    for i in range(length):
        x = (sin if i % 2 else exp)(x)
        refs.append(weakref.ref(x))
    return x, refs


def alive(refs):
    return sum(ref() is not None for ref in refs)


@pytest.mark.usefixtures("no_collector")
class TestResiduals:
    """Reference counting alone frees tensors that no rule needs."""

    def test_a_tape_keeps_what_its_rules_need(self):
        x = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            refs = chain(x._read(), 10)[1]
        # The rule of exp needs its result, that of sin its input: the same tensor.
        assert alive(refs) == 5
        assert tape is not None

    def test_residuals_are_freed_during_the_backward_pass(self):
        x = make_tensor(np.float64(0.5))
        seen = []

        @custom_gradient
        def spy(x):
            return exp(x), lambda g: (seen.append(alive(refs)), g * 0)[1]

        with tf.GradientTape() as tape:
            tape.watch(x)
            y, early = chain(x, 10)
            y = spy(y)
            z, refs = chain(y, 10)
        before = alive(refs)
        del y
        tape.gradient(z, x)
        assert before >= 5
        assert seen[0] <= 1  # the target itself is still alive here
        assert alive(early) == 0

    def test_a_backward_pass_frees_all_residuals(self):
        x = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            y, refs = chain(x._read(), 10)
        tape.gradient(y, x)
        del y
        assert alive(refs) == 0
        assert tape is not None

    def test_a_persistent_tape_keeps_residuals(self):
        x = tf.Variable(0.5)
        with tf.GradientTape(persistent=True) as tape:
            y, refs = chain(x._read(), 10)
        tape.gradient(y, x)
        del y
        assert alive(refs) == 5
        del tape
        assert alive(refs) == 0

    @pytest.mark.parametrize("persistent", [False, True])
    def test_deleting_the_tape_frees_residuals(self, persistent):
        x = tf.Variable(0.5)
        with tf.GradientTape(persistent=persistent) as tape:
            refs = chain(x._read(), 10)[1]
        del tape
        assert alive(refs) == 0

    def test_reset_frees_residuals(self):
        x = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            refs = chain(x._read(), 10)[1]
            assert alive(refs) == 5
            tape.reset()
            assert alive(refs) == 0

    def test_second_order_gradients_free_all_residuals(self):
        x = tf.Variable(0.5)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y, refs = chain(x._read(), 6)
            g = inner.gradient(y, x)
        outer.gradient(g, x)
        del y, g
        assert alive(refs) == 0


class TestScale:
    """Long chains and many steps."""

    @linux
    def test_a_million_ops_differentiate_without_recursion(self, record_property):
        n = 1_000_000
        x = tf.Variable(1.0)
        factor = make_tensor(np.float32(1))
        gc.collect()
        before = resident()
        limit = sys.getrecursionlimit()
        with tf.GradientTape() as tape:
            y = x._read()
            for _ in range(n):
                y = multiply(y, factor)
        size = (resident() - before) / n
        sys.setrecursionlimit(200 + len(stack()))
        try:
            g = tape.gradient(y, x)
        finally:
            sys.setrecursionlimit(limit)
        record_property("bytes per recorded op", size)
        assert g.numpy() == 1
        assert size < 400, f"{size:.0f} bytes per recorded op"

    @linux
    def test_training_neither_grows_nor_leaks(self):
        step = trainer()
        counts, blocks, sizes = [], [], []
        for i in range(10_001):
            step()
            if i in (2_000, 10_000):
                gc.collect()
                counts.append(len(gc.get_objects()))
                blocks.append(sys.getallocatedblocks())
                sizes.append(resident())
        assert abs(counts[1] - counts[0]) <= 20
        assert abs(blocks[1] - blocks[0]) <= 200
        assert (sizes[1] - sizes[0]) / 8_000 < 1024


def stack():
    """The frames of the current call stack."""
    frame, frames = sys._getframe(), []
    while frame:
        frames.append(frame)
        frame = frame.f_back
    return frames


def trainer(seed=0):
    """Make a training step of a small net; the step returns the loss."""
    rng = np.random.default_rng(seed)
    inputs = make_tensor(rng.standard_normal((8, 4)).astype("float32"))
    labels = make_tensor(rng.standard_normal((8, 1)).astype("float32"))
    first = tf.Variable(rng.standard_normal((4, 5)).astype("float32"))
    second = tf.Variable(rng.standard_normal((5, 1)).astype("float32"))

    def step():
        with tf.GradientTape() as tape:
            errors = matmul(tanh(matmul(inputs, first._read())), second._read()) - labels
            loss = reduce_sum(errors * errors, axis=(-2, -1), keepdims=False)
        for variable, g in zip((first, second), tape.gradient(loss, (first, second)), strict=True):
            variable.assign_sub(g * 0.001)
        return float(loss)

    return step


def trained(seed, steps=50):
    """The losses of a training run."""
    step = trainer(seed)
    return [step() for _ in range(steps)]


class TestConcurrency:
    """Each thread has its own recorders."""

    def test_eight_threads_give_the_results_of_one(self):
        alone = [trained(seed) for seed in range(8)]
        together = [None] * 8
        barrier = threading.Barrier(8)

        def work(seed):
            barrier.wait()
            together[seed] = trained(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert together == alone

    def test_a_tape_does_not_record_other_threads(self):
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            thread = threading.Thread(target=lambda: exp(x._read()))
            thread.start()
            thread.join()
        assert tape.watched_variables() == ()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_a_forked_child_works(self):
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x._read() * x._read()
            reader, writer = os.pipe()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # about forking with threads
                child = os.fork()
            if child == 0:
                try:
                    z = y * y
                    os.write(writer, repr([float(tape.gradient(z, x)), *trained(3, 5)]).encode())
                finally:
                    os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            output = pipe.read()
        os.waitpid(child, 0)
        assert output == repr([108.0, *trained(3, 5)])
        assert float(tape.gradient(y, x)) == 6.0


class TestFailures:
    """An error leaves the tape as if the failing op had never been called."""

    def test_a_failing_op_leaves_the_tape_usable(self):
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = x._read() * 3
            with pytest.raises(InvalidArgumentError):
                multiply(y, make_tensor(np.ones(3, "float32")))
            z = y * y
        assert tape.gradient(z, x).numpy().tolist() == [18.0, 36.0]

    def test_an_error_that_leaves_the_context_ends_the_recording(self):
        x = tf.Variable(1.0)

        def failing():
            with tf.GradientTape() as tape:
                tapes.append(tape)
                exp(x._read())
                raise KeyError("enough")

        tapes = []
        with pytest.raises(KeyError):
            failing()
        assert local.recorders == ()
        assert tapes[0]._open_record is None

    def test_a_failing_rule_leaves_no_recorder_active(self):
        x = tf.Variable(1.0)

        @custom_gradient
        def broken(x):
            def back(g):
                raise KeyError("no gradient today")

            return exp(x), back

        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = broken(x._read())
            with pytest.raises(KeyError):
                inner.gradient(y, x)
            z = x._read() * 2
        assert local.recorders == ()
        assert float(outer.gradient(z, x)) == 2.0
