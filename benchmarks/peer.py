"""The driver's side of a framework's process: its interpreter, environment and requests."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent

# The columns of a run: name, framework, and how the framework runs a step.
COLUMNS = {
    "eager": {
        name: (name, "eager")
        for name in ["gradtape", "numpy", "tensorflow", "torch", "jax", "autograd"]
    },
    "compiled": {
        "gradtape": ("gradtape", "compiled"),
        "gradtape_xla": ("gradtape", "xla"),
        "numpy": ("numpy", "eager"),
        "tensorflow": ("tensorflow", "compiled"),
        "tensorflow_xla": ("tensorflow", "xla"),
        "torch": ("torch", "compiled"),
        "torch_eager": ("torch", "eager"),
        "jax": ("jax", "compiled"),
    },
}
FRAMEWORKS = list(COLUMNS["eager"])
# Every library chooses the code for the processor itself.
NOT_INHERITED = {"PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}
LOCAL_VENVS = [".venv-tf", ".venv-peers"]  # built by `make peers`


class PeerError(Exception):
    """A worker answered with an error, or died."""


def make_environment(threads):
    """Environment variables that limit the libraries of a child process to `threads` threads."""
    names = ["OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"]
    limits = {f"{name}_NUM_THREADS": str(threads) for name in names}
    if threads == 1:
        limits["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
    inherited = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED}
    return {**inherited, **limits, **quiet, "PYTHONHASHSEED": "0"}


def pin_to_cores(number):
    """Pin this process and its future children to `number` cores, if the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, available_cores()[-number:])


def available_cores():
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def parse_threads(text):
    """Parse a number of threads; `all` is the number of available cores."""
    return len(available_cores()) if text == "all" else int(text)


def has_module(python, framework):
    code = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({framework!r}))"
    try:
        return (
            subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0
        )
    except OSError:
        return False


def find_interpreter(framework, chosen):
    """The interpreter for `framework`: the chosen one, else the first that has it, or None."""
    wanted = chosen.get(framework) or os.environ.get(f"BENCH_PYTHON_{framework.upper()}")
    local = [str(HERE.parent / venv / "bin" / "python") for venv in LOCAL_VENVS]
    candidates = [wanted] if wanted else [sys.executable, *local]
    return next((python for python in candidates if has_module(python, framework)), None)


class Peer:
    """A running worker."""

    def __init__(self, framework, mode, python, threads, clock="wall"):
        self.framework, self.mode, self.python, self.threads = framework, mode, python, threads
        self.clock = clock
        self.cache = tempfile.TemporaryDirectory()  # an empty cache: nothing is compiled yet
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the worker
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), framework, mode, clock, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={**make_environment(threads), "TORCHINDUCTOR_CACHE_DIR": self.cache.name},
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.cache.cleanup()

    def new_worker(self):
        """Start the same framework in another process."""
        return Peer(self.framework, self.mode, self.python, self.threads, self.clock)

    def run_fresh(self, *what):
        """Run `fresh.py` for the framework in a new process, and return its answer."""
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(
                [self.python, str(HERE / "fresh.py"), *map(str, what)],
                capture_output=True,
                text=True,
                check=False,
                env={**make_environment(self.threads), "TORCHINDUCTOR_CACHE_DIR": cache},
            )
        if done.returncode:
            raise PeerError(f"{self.framework}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def wait_until_loaded(self):
        """Wait until the framework is loaded; return its versions."""
        self.read()
        return self.ask("versions")["versions"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise PeerError(f"{self.framework}: worker died.\n{self.log.read()[-2000:]}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(f"{self.framework}: {answer['error']}")
        return answer

    def ask(self, do, **arguments):
        with contextlib.suppress(BrokenPipeError):  # `read` reports why it died
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()
        return self.read()
