"""BLAS runs in the limited number of threads inside, and in its own number afterwards."""

import os
import random
import signal
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import blas_thread
from gradtape.core.blas_thread import NUMPY_BLAS, BlasLibrary, blas_threads


@pytest.fixture(autouse=True)
def one_thread():
    """A limit of one thread, whatever the environment says."""
    blas_thread.limit_blas_threads(1)
    yield
    blas_thread.limit_blas_threads(0)


def make_library(number):
    """A library whose number of threads is the only element of a list; its functions are C code."""
    state = [number]
    library = BlasLibrary("numpy")
    library.functions = partial(state.__getitem__, 0), partial(state.__setitem__, 0)
    library.is_known = True
    return library, state


def test_the_number_is_limited_inside_and_restored_afterwards():
    library, state = make_library(8)
    assert library.run(lambda: library.run(state.copy)) == [1]
    assert state == [8]
    assert library.run(state.copy) == [1]


def test_a_number_that_the_user_changed_between_calls_is_restored():
    library, state = make_library(8)
    library.run(state.copy)
    state[0] = 1
    library.run(state.copy)
    assert state == [1]


def test_an_error_inside_restores_the_number():
    library, state = make_library(8)
    with pytest.raises(KeyError):
        library.run({}.__getitem__, 0)
    assert state == [8]


def test_the_last_of_several_threads_restores_the_number():
    library, state = make_library(8)
    inside, leave = threading.Event(), threading.Event()

    def wait():
        inside.set()
        leave.wait()

    thread = threading.Thread(target=library.run, args=(wait,))
    thread.start()
    inside.wait()
    assert library.run(state.copy) == [1]
    assert state == [1]
    leave.set()
    thread.join()
    assert state == [8]


def test_many_threads_never_see_another_number_and_leave_the_first():
    library, state = make_library(8)
    seen = set()

    def work():
        for _ in range(2000):
            seen.update(library.run(state.copy))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert seen == {1}
    assert state == [8]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_no_interrupt_leaves_the_limit():
    chance, interrupts = random.Random(0), 0
    library, state = make_library(8)

    def ring(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        while interrupts < 1000:
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 3e-5))
                while True:
                    library.run(state.copy)
            except KeyboardInterrupt:
                interrupts += 1
            assert state == [8]
            assert not library.holders
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_child_process_forgets_the_calls_of_other_threads():
    library, state = make_library(8)
    library.run(library.reset_after_fork)
    assert state == [8]
    assert not library.holders
    assert not library.saved


def test_the_environment_and_the_setting_decide(monkeypatch):
    for name in blas_thread.ENVIRONMENT_NAMES:
        monkeypatch.delenv(name, raising=False)
    tf.config.threading.set_intra_op_parallelism_threads(0)
    assert blas_threads.limit == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    tf.config.threading.set_intra_op_parallelism_threads(0)
    assert blas_threads.limit is None
    tf.config.threading.set_intra_op_parallelism_threads(3)
    assert tf.config.threading.get_intra_op_parallelism_threads() == 3
    assert blas_threads.limit == 3
    tf.config.threading.set_intra_op_parallelism_threads(0)


needs_openblas = pytest.mark.skipif(NUMPY_BLAS.find() is None, reason="NumPy has another BLAS")


@pytest.fixture
def two_threads():
    """NumPy's OpenBLAS with two threads."""
    read_number, set_number = NUMPY_BLAS.find()
    before = read_number()
    set_number(2)
    yield read_number
    assert read_number() == 2
    set_number(before)


@needs_openblas
def test_a_plan_with_a_large_product_is_limited(two_threads):
    seen = []

    @tf.function
    def f(a):
        b = a @ a

        def look(x):
            seen.append(two_threads())
            return x

        return tf.numpy_function(look, [b], tf.float32)

    a = tf.ones([80, 80])
    for _ in range(3):
        f(a)
    assert set(seen[1:]) == {1}


@needs_openblas
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x @ x,
        lambda x: tf.matmul(x[None], x[None]),
        lambda x: tf.einsum("ij,jk->ik", x, x),
        lambda x: tf.linalg.svd(x)[0],
        lambda x: tf.linalg.inv(x),
        lambda x: tf.linalg.expm(x),
        lambda x: tf.nn.conv2d(x[None, :, :, None], tf.ones([3, 3, 1, 64]), 1, "SAME"),
    ],
    ids=["matmul", "batch", "einsum", "svd", "inv", "expm", "conv2d"],
)
def test_large_kernels_are_limited(two_threads, monkeypatch, call):
    changes = []
    read_number, set_number = NUMPY_BLAS.functions

    def note(number):
        changes.append(number)
        set_number(number)

    monkeypatch.setattr(NUMPY_BLAS, "functions", (read_number, note))
    x = tf.eye(100) + 0.01
    call(x)
    assert changes[:1] == [1]
    assert changes[-1] == 2


@needs_openblas
def test_small_products_do_not_switch(two_threads, monkeypatch):
    def fail(number):
        raise AssertionError(number)

    monkeypatch.setattr(NUMPY_BLAS, "functions", (NUMPY_BLAS.functions[0], fail))
    x = tf.ones([40, 40])
    assert (x @ x).shape == (40, 40)
    f = tf.function(lambda x: x @ x)
    for _ in range(3):
        f(x)


@needs_openblas
def test_results_have_the_same_bits_whatever_number_of_threads_numpy_uses(two_threads):
    x = tf.constant(np.random.default_rng(0).normal(size=(300, 300)).astype("float32"))
    f = tf.function(lambda x: tf.tanh(x @ x) @ x)
    several = [f(x).numpy().tobytes() for _ in range(3)]
    NUMPY_BLAS.functions[1](1)
    one = [f(x).numpy().tobytes() for _ in range(3)]
    NUMPY_BLAS.functions[1](2)
    assert several == one


def test_by_default_a_process_limits_its_products_and_the_users_own_keep_their_threads():
    program = (
        "import gradtape as tf, numpy as np\n"
        "from gradtape.core.blas_thread import NUMPY_BLAS\n"
        "found = NUMPY_BLAS.find()\n"
        "before = found and found[0]()\n"
        "x = tf.ones([100, 100])\n"
        "x @ x\n"
        "assert not found or found[0]() == before\n"
        "print(tf.config.threading.get_intra_op_parallelism_threads())"
    )
    names = blas_thread.ENVIRONMENT_NAMES
    environment = {k: v for k, v in os.environ.items() if k not in names}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "0\n", done.stderr
