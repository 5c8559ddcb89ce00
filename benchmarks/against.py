"""Compare the cost of small calls with that of another source tree, in one run.

    git worktree add /tmp/base COMMIT
    python benchmarks/against.py /tmp/base/src [--rounds 12] [CASE …]

One process for each tree measures every case, in turns, on the same core. A figure is the least
processor time of many short samples, so that other programs disturb little. `import` and
`import_and_step` are the processor times of new processes, after NumPy's import is subtracted.
"""

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import time
from functools import partial

SAMPLE_NANOSECONDS = 1_500_000
FRESH_PROGRAMS = {
    "numpy": "import numpy",
    "import": "import numpy, gradtape",
    "import_and_step": """
import numpy
import gradtape as tf
x, y = tf.ones((8, 4)), tf.ones((8, 1))
w, v = tf.Variable(tf.ones((4, 16))), tf.Variable(tf.ones((16, 1)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((tf.tanh(x @ w) @ v - y) ** 2)
for one, g in zip((w, v), tape.gradient(loss, (w, v))):
    one.assign_sub(0.1 * g)
""",
}


def make_cases():
    """Calls without arguments, by name."""
    import numpy as np

    import gradtape as tf

    tf.engine.use("numpy")
    x = tf.constant([1.0, 2.0])
    cases = {"chain": make_chain(tf), "mlp_step": make_mlp(tf, np)}

    plain, keyword = make_writer(tf, 0), make_writer(tf, 0)
    cases["call"] = lambda: plain(x)
    for count in (1, 10, 100):
        cases[f"call_writes_{count}"] = partial(make_writer(tf, count), x)
    for count in (10, 100):
        cases[f"tape_{count}"] = make_taped(tf, count)
    cases["call_keyword"] = lambda: keyword(x=x)
    spec = tf.TensorSpec([None], tf.float32)
    signed = tf.function(lambda x: x * 2.0, input_signature=[spec])
    cases["call_input_signature"] = lambda: signed(x)
    given = tf.Variable([1.0, 2.0])
    by_argument = tf.function(lambda v, x: v.assign_sub(x))
    cases["call_variable_argument"] = lambda: by_argument(given, x)

    @tf.function
    def branch(x):
        return x * 2.0 if tf.reduce_sum(x) > 0.0 else x - given

    cases["call_guard"] = lambda: branch(x)
    large, ones = tf.Variable(tf.zeros((100, 1000))), tf.ones((100, 1000))
    update = tf.function(lambda g: large.assign_sub(0.1 * g, read_value=False))
    cases["call_in_place"] = lambda: update(ones)
    inner = tf.function(lambda x: x * 2.0)
    nested = tf.function(lambda x: inner(x) + inner(x))
    cases["call_nested"] = lambda: nested(x)
    elements = iter(tf.data.Dataset.range(10**9).map(lambda i: i * 2))
    cases["dataset_map"] = lambda: next(elements)
    return cases


def make_writer(tf, count):
    """A function that writes variables."""
    variables = [tf.Variable([1.0, 2.0]) for _ in range(count)]

    @tf.function
    def f(x):
        for v in variables:
            v.assign_sub(x)
        return x * 2.0

    return f


def make_taped(tf, count):
    """The gradient of a compiled function by variables."""
    x = tf.constant([1.0, 2.0])
    variables = [tf.Variable([1.0, 2.0]) for _ in range(count)]

    @tf.function
    def f(x):
        y = x * 2.0
        for v in variables:
            y = y * v
        return y

    def run():
        with tf.GradientTape() as tape:
            y = f(x)
        return tape.gradient(y, variables)

    return run


def make_chain(tf):
    """Record twenty ops on a scalar and differentiate them."""
    x = tf.Variable(0.5)

    def run():
        with tf.GradientTape() as tape:
            y = x * 1.0
            for _ in range(10):
                y = tf.tanh(y) * 1.1
        return tape.gradient(y, x)

    return run


def make_mlp(tf, np):
    """One eager training step of a small network."""
    rng = np.random.default_rng(0)
    x, y = tf.constant(rng.normal(size=(8, 4))), tf.constant(rng.normal(size=(8, 1)))
    w, v = tf.Variable(rng.normal(size=(4, 16))), tf.Variable(rng.normal(size=(16, 1)))

    def run():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ w) @ v - y) ** 2)
        for one, g in zip((w, v), tape.gradient(loss, (w, v)), strict=True):
            one.assign_sub(0.001 * g)

    return run


def work(names):
    """Answer every line of the input with a line of figures in nanoseconds."""
    cases = make_cases()
    chosen = {name: case for name, case in cases.items() if not names or name in names}
    for case in chosen.values():
        for _ in range(8):
            case()
    gc.collect()
    gc.disable()
    for _ in sys.stdin:
        print(json.dumps({name: sample(case) for name, case in chosen.items()}), flush=True)


def sample(case):
    """Processor time of one call, in nanoseconds."""
    start = time.perf_counter_ns()
    case()
    count = max(3, min(400, SAMPLE_NANOSECONDS // max(time.perf_counter_ns() - start, 1)))
    start = time.process_time_ns()
    for _ in range(count):
        case()
    return (time.process_time_ns() - start) / count


class Tree:
    """A source tree with a process that measures it, and the least figures so far."""

    def __init__(self, source, names):
        self.environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--work", source, *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.environment,
            text=True,
        )
        self.least = {}

    def measure(self):
        """Take one sample of every case."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.note(json.loads(self.process.stdout.readline()))

    def measure_fresh(self):
        """Run every program of `FRESH_PROGRAMS` in a new process."""
        for name, program in FRESH_PROGRAMS.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", program], env=self.environment, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.note({name: spent * 1e9})

    def note(self, figures):
        """Keep the least figures."""
        for name, figure in figures.items():
            self.least[name] = min(figure, self.least.get(name, figure))

    def finish(self, has_fresh):
        """End the process and return the figures."""
        self.process.stdin.close()
        self.process.wait()
        if has_fresh:
            numpy = self.least.pop("numpy")
            self.least["import"] -= numpy
            self.least["import_and_step"] -= numpy
        return self.least


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", help="the src folder to compare with")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--fresh", type=int, default=8, help="rounds of new processes")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    if options.work:
        work(options.cases)
        return
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
    trees = [Tree(source, options.cases) for source in (own, options.other)]
    for tree in trees:
        tree.measure()
        tree.least.clear()
    for turn in range(max(options.rounds, options.fresh)):
        for tree in trees if turn % 2 else reversed(trees):
            if turn < options.rounds:
                tree.measure()
            if turn < options.fresh:
                tree.measure_fresh()
    this, other = (tree.finish(options.fresh > 0) for tree in trees)
    print(f"{'case':24}{'this, µs':>12}{'other, µs':>12}{'ratio':>8}")
    for name in this:
        ratio = this[name] / other[name]
        print(f"{name:24}{this[name] / 1e3:12.2f}{other[name] / 1e3:12.2f}{ratio:8.3f}")


if __name__ == "__main__":
    main()
