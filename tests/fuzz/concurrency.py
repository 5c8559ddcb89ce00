"""Threads and interrupts: calls lose no update, and change all their variables or none.

python -m tests.fuzz.concurrency --threads 16 --calls 10000 --interrupts 50000
python -m tests.fuzz.concurrency --engine xla
"""

import argparse
import gc
import random
import signal
import sys
import threading
import time

import gradtape as tf
from gradtape.core.context import local, set_recorders

SWITCH_INTERVAL = 1e-5  # seconds; Python switches threads more often than by default


def run_together(calls, *works):
    """Call each function so often in a thread of its own, all at once; raise what they raise."""
    errors = []
    start = threading.Barrier(len(works))

    def run(work):
        try:
            start.wait()
            for _ in range(calls):
                work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def check_one_function(threads, calls):
    """Threads that call one function."""
    v = tf.Variable([0, 0])
    add = tf.function(lambda x: v.assign_add(x))
    run_together(calls, *[lambda: add(tf.constant([1, 2]))] * threads)
    return {"one function": (v.numpy().tolist(), [threads * calls, 2 * threads * calls])}


def check_shared_variables(threads, calls):
    """Threads that call four functions, which share ten variables."""
    variables = [tf.Variable([0]) for _ in range(10)]

    def make(k):
        mine = [v for i, v in enumerate(variables) if (i + k) % 4]

        def body(x):
            for v in mine:
                v.assign_add(x)
            return variables[k] + variables[-1]

        return tf.function(body)

    functions = [make(k) for k in range(4)]
    x = tf.constant([1])
    run_together(calls, *[lambda f=functions[k % 4]: f(x) for k in range(threads)])
    expected = [calls * sum(bool((i + k % 4) % 4) for k in range(threads)) for i in range(10)]
    return {"shared variables": ([int(v.numpy()[0]) for v in variables], expected)}


def check_eager_assigns(threads, calls):
    """Threads that call functions and threads that assign eagerly."""
    v, w = tf.Variable(0), tf.Variable([0, 0])

    @tf.function
    def step(x):
        v.assign_add(x)
        w.assign_add([1, 1])
        return w

    def eager():
        v.assign_add(1)
        w.scatter_add(tf.IndexedSlices([1], [1]))

    one = tf.constant(1)
    works = [(lambda: step(one)) if k % 2 else eager for k in range(threads)]
    run_together(calls, *works)
    stepped = calls * (threads // 2)
    found = [int(v), *w.numpy().tolist()]
    return {"functions and eager assigns": (found, [calls * threads, stepped, calls * threads])}


class Interrupts:
    """A timer that interrupts the main thread at random moments."""

    def __init__(self):
        self.armed = False
        self.count = 0
        self.random = random.Random(0)
        self.before = signal.signal(signal.SIGALRM, self.ring)

    def ring(self, number, frame):
        """Interrupt, unless Python would ignore the exception, as in a callback of a weakref."""
        words = ("hypothesis", "weakref")
        while frame.f_code is Interrupts.ring.__code__:  # the signal came in this function
            frame = frame.f_back
        if any(word in frame.f_code.co_filename for word in words):
            signal.setitimer(signal.ITIMER_REAL, 1e-5)
        elif self.armed:
            self.armed = False
            raise KeyboardInterrupt

    def during(self, function, longest):
        """Call `function`, and interrupt it after a random time of at most `longest` seconds."""
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, self.random.uniform(1e-6, longest))
            function()
            self.armed = False
        except KeyboardInterrupt:
            self.count += 1

    def close(self):
        """Remove the timer."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


# For each kind of call, the longest time until an interrupt, in seconds.
KINDS = {"plain": 2e-4, "guarded": 4e-4, "taped": 8e-4, "in place": 4e-4}


def make_counting_call(kind):
    """A call that adds one to each of a dozen variables, and the variables."""
    size = 10000 if kind == "in place" else 4
    variables = [tf.Variable(tf.zeros(size)) for _ in range(12)]
    x = tf.constant(1.0)

    @tf.function
    def step(x):
        for v in variables:
            v.assign_add(tf.ones(size) * x)
        if kind == "guarded" and variables[0][0] % 2.0 == 0.0:
            tf.debugging.assert_positive(x)
        return tf.reduce_sum(variables[0] * x)

    def taped():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = step(x)
        tape.gradient(y, x)

    call = taped if kind == "taped" else lambda: step(x)
    for _ in range(4):
        call()
    return call, variables


def check_interrupts(kind, count):
    """Interrupt calls `count` times; all variables must always have the same value."""
    timer = Interrupts()
    gc.disable()  # an exception in a callback of the garbage collector is lost
    try:
        call, variables = make_counting_call(kind)
        while timer.count < count:
            timer.during(call, KINDS[kind])
            values = {float(v) for variable in variables for v in variable.numpy()[[0, -1]]}
            assert len(values) == 1, (kind, values)
            assert kind == "taped" or local.recorders == ()
            set_recorders(())  # an interrupt at the entry of the user's tape may leave it active
            if timer.count % 1000 == 0:
                for variable in variables:
                    variable.assign(tf.zeros_like(variable))  # float32 counts exactly to 2 ** 24
    finally:
        gc.enable()
        timer.close()
    (before,) = {float(v) for variable in variables for v in variable.numpy()}
    call()
    assert {float(v) for variable in variables for v in variable.numpy()} == {before + 1.0}
    for variable in variables:
        together = threading.Thread(target=variable.assign_add, args=(variable * 0.0,), daemon=True)
        together.start()
        together.join(10)
        assert not together.is_alive(), f"{kind}: a lock was left behind"


def main(argv=None, out=sys.stdout):
    """Run all checks; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--interrupts", type=int, default=50_000)
    parser.add_argument("--engine", choices=["numpy", "xla"], default="numpy")
    options = parser.parse_args(argv)
    before, failed = sys.getswitchinterval(), False
    tf.engine.use(options.engine)
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        for check in (check_one_function, check_shared_variables, check_eager_assigns):
            start = time.perf_counter()
            for name, (found, expected) in check(options.threads, options.calls).items():
                failed |= found != expected
                spent = time.perf_counter() - start
                print(f"{name}: {found}, expected {expected}, {spent:.0f} s", file=out, flush=True)
        for kind in KINDS:
            check_interrupts(kind, options.interrupts // len(KINDS))
            print(
                f"{options.interrupts // len(KINDS)} interrupts, {kind}: none torn",
                file=out,
                flush=True,
            )
    finally:
        sys.setswitchinterval(before)
        tf.engine.use(None)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
