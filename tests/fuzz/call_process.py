"""Runs blocks of calls in forked processes with limits on time, memory and effects."""

import collections
import contextlib
import json
import os
import resource
import select
import signal
import sys
from pathlib import Path

BLOCK = 200  # runs in one process
SECONDS = 5  # processor time of a call
PATIENCE = 120  # seconds without an outcome until a process is ended
MEMORY = 3 << 30
REFUSED = "the fuzzer refuses this"
FILE_EVENTS = (  # audit events whose first argument is a path
    *("open", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate"),
    *("os.link", "os.symlink", "os.chown", "os.utime", "shutil.rmtree", "shutil.move"),
)
PROCESS_EVENTS = ("subprocess.", "socket.", "os.exec", "os.system", "os.fork", "os.posix_spawn")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class OutOfTime(BaseException):
    """A call took too long."""


@contextlib.contextmanager
def limit_time():
    """Raise OutOfTime in a call that needs too much processor time."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def stop_call(signum, frame):
    """End a call; again soon, if something caught the exception."""
    signal.setitimer(signal.ITIMER_PROF, 1)
    raise OutOfTime


def forbid_effects(event, args):
    """Audit hook: refuse processes, connections, and changes of files outside of this folder."""
    if event.startswith(PROCESS_EVENTS):
        raise PermissionError(REFUSED)
    if event not in FILE_EVENTS or (event == "open" and not args[2] & WRITING):
        return
    path = args[0]
    if isinstance(path, int) or path == os.devnull:
        return
    whole = os.path.realpath(os.fsdecode(path))
    if not whole.startswith((os.getcwd() + os.sep, "/dev/shm/")):
        raise PermissionError(REFUSED)


def set_limits():
    """Restrict this process."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    signal.signal(signal.SIGPROF, stop_call)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(forbid_effects)


class Block:
    """A process that does some runs: `run(number)` yields what is written about a run."""

    def __init__(self, run, numbers):
        self.numbers = numbers
        read, write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(read)
            status = 1
            try:
                set_limits()
                with os.fdopen(write, "w", encoding="utf-8", errors="backslashreplace") as out:
                    write_lines(run, numbers, out)
                status = 0
            finally:
                os._exit(status)
        os.close(write)
        self.lines = os.fdopen(read, "rb", buffering=0)

    def outcomes(self):
        """Yield the number and the outcome of each run; the last may have ended the process."""
        kept, started = b"", None
        while True:
            ready, _, _ = select.select([self.lines], [], [], PATIENCE)
            part = self.lines.read(1 << 16) if ready else None
            if part is None:
                os.kill(self.process, signal.SIGKILL)
            *whole, kept = (kept + (part or b"")).split(b"\n")
            for line in map(json.loads, whole):
                if "start" in line:
                    started = line
                else:
                    yield started["start"], line
                    started = None
            if not part:
                break
        self.lines.close()
        os.waitpid(self.process, 0)
        if started is not None:
            yield started.pop("start"), started | {"kind": "crash" if part == b"" else "hangs"}


def write_lines(run, numbers, out):
    """Write a line before each run and one with its outcome; stop after a lasting effect."""
    for number in numbers:
        for line in run(number):
            out.write(json.dumps(line) + "\n")
            out.flush()
        if line.get("lasting"):
            break


def run_all(run, numbers):
    """Yield the number and the outcome of all runs."""
    left = collections.deque(numbers)
    while left:
        numbers = [left.popleft() for _ in range(min(BLOCK, len(left)))]
        done = 0
        for number, outcome in Block(run, numbers).outcomes():
            done = numbers.index(number) + 1
            yield number, outcome
        left.extendleft(reversed(numbers[done:]))
        if not done:
            raise RuntimeError("a process of the fuzzer ended before its first run")
