"""Fuzzer of saved models: loads and calls mutated models in a child process that is watched.

    python -m tests.fuzz.saved_models --runs 20000 --seed 0

An audit hook in the child reports files outside of the model's directory, files that are written,
processes, sockets, and source with text of the file in it. A run fails if there is such a report,
if loading or calling raises an error that is not one of TensorFlow's, if it takes more than 10
seconds, or if the child dies. A model may loop for ever when it is called, as any program may:
such calls are interrupted after `CALL_SECONDS`, and counted.
"""

import argparse
import collections
import contextlib
import io
import json
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_SECONDS = 10
CALL_SECONDS = 2
MEMORY_BYTES = 3 << 30
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="repeat this run, and show its error")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.child:
        return run_child(options.child[0], int(options.child[1]), options)
    with tempfile.TemporaryDirectory(prefix="fuzz-saved-models-") as folder:
        save_corpus(folder)
        first, last = (
            (0, options.runs) if options.only is None else (options.only, options.only + 1)
        )
        return supervise(folder, first, last, options)


def save_corpus(folder):
    """Save the models that mutations start from."""
    import gradtape as tf
    from tests.fuzz.saved_model_corpus import CORPUS

    for name, make in CORPUS.items():
        tf.saved_model.save(make(folder), os.path.join(folder, "corpus", name))


# -- the parent


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def supervise(folder, first, last, options):
    """Run children until all runs are done; print the failures, and return the exit status."""
    counts, failures = collections.Counter(), []
    start, slowest = time.monotonic(), 0.0
    run = first
    while run < last:
        for report in read_child(folder, run, last, options):
            counts[report["outcome"]] += 1
            slowest = max(slowest, report.get("seconds", 0.0))
            if report["failures"]:
                failures.append(report)
                say(f"run {report['run']}: {report['failures']}")
            run = report["run"] + 1
    say(f"{last - first} runs with seed {options.seed} in {time.monotonic() - start:.0f} s:")
    for outcome, count in counts.most_common():
        say(f"  {count:6} {outcome}")
    say(f"slowest run {slowest:.1f} s, {len(failures)} failures")
    return 1 if failures else 0


def read_child(folder, run, last, options):
    """Yield the reports of a child that starts with `run`; the last one may be its death."""
    command = [sys.executable, "-m", "tests.fuzz.saved_models", "--child", folder, str(run)]
    command += ["--runs", str(last), "--seed", str(options.seed)]
    if options.only is not None:
        command += ["--only", str(options.only)]
    paths = [ROOT, os.path.join(ROOT, "src"), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, env=env, text=True)
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        limit = 60  # for the imports
        while run < last:
            line = child.stdout.readline() if selector.select(limit) else None
            limit = LIMIT_SECONDS + CALL_SECONDS
            if line is None:
                child.kill()
                failure = f"no end after {limit} s"
                yield {"run": run, "outcome": "hang", "failures": [failure]}
                break
            if not line:
                failure = f"the child died with status {child.wait()}"
                yield {"run": run, "outcome": "death", "failures": [failure]}
                break
            report = json.loads(line)
            yield report
            run = report["run"] + 1
    child.kill()
    child.wait()
    child.stdout.close()


# -- the child


class Deadline(BaseException):
    """A call takes longer than `CALL_SECONDS`."""


class Watch:
    """Reports events that a model must not cause; works between `start` and `stop`."""

    FORBIDDEN = (
        "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "urllib.", "ftplib.", "webbrowser.",
        "pty.", "sys.addaudithook", "code.", "marshal.", "pickle.", "tempfile.", "mmap.",
    )  # fmt: skip
    ALLOWED = ("os.listdir", "os.scandir", "marshal.loads", "os.putenv")  # of imports

    def __init__(self, marker):
        self.marker = marker
        self.directory = None
        self.reports = []
        self.libraries = tuple(
            os.path.realpath(path) for path in {sys.prefix, sys.base_prefix, *sys.path} if path
        )
        from gradtape.core.blas_thread import NUMPY_BLAS, SCIPY_BLAS

        for blas in (NUMPY_BLAS, SCIPY_BLAS):  # looked up once in a process, not by a model
            blas.find()
        sys.addaudithook(self.hear)

    def start(self, directory):
        self.reports = []
        self.directory = os.path.realpath(directory)

    def stop(self):
        self.directory = None
        return self.reports

    def hear(self, event, args):
        directory, self.directory = self.directory, None  # what this method does is not reported
        if directory is None:
            return
        try:
            if event == "open":
                self.hear_open(directory, *args)
            elif event in ("compile", "exec", "import", "code.__new__"):
                text = repr(args) if event != "exec" else repr(args[0].co_filename)
                if self.marker in text:
                    self.reports.append(f"{event} of text from the file: {text[:200]}")
            elif event == "mmap.__new__" and args[0] == -1:
                pass  # memory without a file, for the buffers of a plan
            elif event.startswith(self.FORBIDDEN) and event not in self.ALLOWED:
                self.reports.append(f"{event} {args!r:.200}")
        finally:
            self.directory = directory

    def hear_open(self, directory, path, mode, flags):
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.path.realpath(os.fsdecode(path))
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if writes and not name.endswith((".pyc", ".nbi", ".nbc")) and "__pycache__" not in name:
            self.reports.append(f"open for writing: {name}")
        elif not name.startswith((directory, *self.libraries, "/proc/self", "/sys/", "/dev/null")):
            self.reports.append(f"open: {name}")


def run_child(folder, run, options):
    """Run mutations, and print a line of JSON for each."""
    import resource

    import numpy as np

    from tests.fuzz.saved_model_corpus import CORPUS
    from tests.fuzz.saved_model_mutation import MARKER, Mutator, SavedModel, write_mutation

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    models = [SavedModel(os.path.join(folder, "corpus", name)) for name in CORPUS]
    watch = Watch(MARKER)
    signal.signal(signal.SIGALRM, raise_deadline)
    target = os.path.join(folder, f"mutated-{os.getpid()}")
    for number in range(run, options.runs if options.only is None else run + 1):
        rng = np.random.default_rng((options.seed, number))
        shutil.rmtree(target, ignore_errors=True)
        mutator = Mutator(rng, models)
        model = mutator.choose(models)
        what = write_mutation(model, target, rng, mutator)
        start = time.monotonic()
        outcome, failures = try_model(target, watch, options.only is not None)
        report = {
            "run": number,
            "outcome": f"{what}: {outcome}",
            "failures": [f"{os.path.basename(model.directory)}, {what}: {f}" for f in failures],
            "seconds": time.monotonic() - start,
        }
        if options.only is not None:
            shutil.copytree(
                target, os.path.join(tempfile.gettempdir(), "fuzz-only"), dirs_exist_ok=True
            )
        reports.write(json.dumps(report) + "\n")
    return 0


def raise_deadline(number, frame):
    raise Deadline


def try_model(target, watch, shows_errors):
    """Load and call a model; return what happened, and what should not have happened."""
    import gradtape as tf

    before = global_settings()
    failures = []
    outcome = "load"
    watch.start(target)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            root = tf.saved_model.load(target)
            outcome = "call"
            signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
            outcome = use_model(root, failures)
        except Deadline:
            outcome = "interrupted"
        except tf.errors.OpError as error:
            outcome += f": {type(error).__name__}"
            show(error, shows_errors)
        except BaseException as error:
            failures.append(f"{outcome}: {type(error).__name__}: {error}"[:400])
            show(error, shows_errors)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    failures += watch.stop()
    if global_settings() != before:
        failures.append(f"settings changed from {before} to {global_settings()}")
    return outcome, failures


def show(error, shows_errors):
    if shows_errors:
        import traceback

        traceback.print_exception(error, file=sys.__stderr__)


def global_settings():
    """Settings that a model must not change."""
    import gradtape as tf
    from gradtape.state.random.seed import SEEDS

    return SEEDS.seed, tf.config.functions_run_eagerly(), os.getcwd(), len(os.environ)


def use_model(root, failures):
    """Call every function of a model three times, the last time under a tape."""
    import gradtape as tf
    from gradtape.tf.saved_model.restored_function import RestoredFunction

    calls = list(root.signatures.values()) if hasattr(root, "signatures") else []
    for value in list(vars(root).values()):
        if isinstance(value, RestoredFunction):
            calls += value.concrete_functions
    errors = set()
    for function in calls[:6]:
        if any(is_too_large(one) for one in function.inputs):
            continue
        for taped in (False, False, True):
            try:
                call(function, taped)
            except tf.errors.OpError as error:
                errors.add(type(error).__name__)
            except Exception as error:
                import traceback

                frame = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
                failures.append(f"call: {type(error).__name__}: {error} at {place}"[:400])
    return f"call: {', '.join(sorted(errors))}" if errors else "works"


def call(function, taped):
    """Call a function with tensors that its specs describe."""
    import gradtape as tf

    tensors = [example_of(one) for one in function.inputs]
    names = getattr(function, "_names", None)
    with tf.GradientTape() if taped else contextlib.nullcontext() as tape:
        if taped:
            for tensor in tensors:
                tape.watch(tensor)
        if names is not None:
            result = function(**dict(zip(names, tensors, strict=True)))
        else:
            args, kwargs = fill_specs(function.structured_input_signature, tensors)
            result = function(*args, **kwargs)
    flat = [t for t in tf.nest.flatten(result, expand_composites=True) if t is not None]
    for tensor in flat:
        tensor.numpy()
    floats = [t for t in flat if t.dtype.is_floating]
    sources = [t for t in tensors if t.dtype.is_floating]
    if taped and floats and sources:
        with contextlib.suppress(LookupError):  # TensorFlow's error for ops without a gradient
            tape.gradient(floats, sources)


def is_too_large(one):
    """Whether a tensor that a spec describes would not fit into memory."""
    sizes = [] if one.shape.rank is None else [2 if n is None else n for n in one.shape]
    return math.prod(map(float, sizes)) > 1e6


def fill_specs(arguments, tensors):
    """Arguments with tensors in place of their specs."""
    import gradtape as tf

    rest = iter(tensors)

    def fill(leaf):
        if isinstance(leaf, tf.TensorSpec):
            return next(rest)
        if isinstance(leaf, tf.TypeSpec):
            return leaf._from_components([next(rest) for _ in leaf._component_specs])
        return leaf

    return tf.nest.map_structure(fill, arguments)


def example_of(one):
    """A tensor that a spec describes."""
    import gradtape as tf

    sizes = [2] if one.shape.rank is None else [2 if n is None else n for n in one.shape]
    if one.dtype is tf.string:
        return tf.fill(sizes, "one Two")
    return tf.cast(tf.fill(sizes, 1), one.dtype)


if __name__ == "__main__":
    sys.exit(main())
