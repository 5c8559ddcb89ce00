"""`gradtape launch`: starts the workers of one host, and restarts them after a failure."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from gradtape.compile.collective.address import choose_ports

LEAVE_SECONDS = 10.0  # for the other workers to notice a failure and to end by themselves
PREEMPTION_SECONDS = 60.0  # for the workers to save a checkpoint after SIGTERM
KILL_SECONDS = 3.0
POLL_SECONDS = 0.05


def launch_workers(arguments: list[str]) -> int:
    """Run a program in several processes, each a worker of one group.

    Returns:
        0 if every worker succeeded. Otherwise the status of the worker that failed first, or 128
        plus the number of the signal that ended it; 130 after Ctrl-C, 143 after SIGTERM.
    """
    options = parse_launch_options(arguments)
    if not options.program:
        sys.stderr.write("gradtape launch: a script, or -m and a module, must be named.\n")
        return 2
    terminated = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda number, frame: terminated.set())
    try:
        for attempt in range(options.restarts + 1):
            group = LaunchedGroup(options.n, options.program, attempt)
            status = group.run(terminated)
            if status == 0 or terminated.is_set() or attempt == options.restarts:
                break
            group.report(f"restarting all workers (restart {attempt + 1} of {options.restarts})")
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        signal.signal(signal.SIGTERM, before)
    return 128 + signal.SIGTERM if terminated.is_set() else status


def parse_launch_options(arguments: list[str]) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="gradtape launch",
        description="Run a program in several processes of this host, with TF_CONFIG set.",
    )
    parser.add_argument("-n", type=parse_count, default=2, help="number of workers (2)")
    parser.add_argument(
        "--restarts",
        type=int,
        default=0,
        help="how often to restart all workers after a failure (0)",
    )
    parser.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        help="script.py, or -m module, and its arguments",
        metavar="script.py|-m module [argument ...]",
    )
    return parser.parse_args(arguments)


def parse_count(text: str) -> int:
    """A positive number of workers."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1 on, received {text}")
    return int(text)


class LaunchedGroup:
    """The processes of one attempt to run a program."""

    def __init__(self, size: int, program: Sequence[str], attempt: int) -> None:
        """Start the workers."""
        addresses = [f"127.0.0.1:{port}" for port in choose_ports(size)]
        self.lock = threading.Lock()
        self.workers: list[subprocess.Popen[bytes]] = []
        self.readers: list[threading.Thread] = []
        self.names = [f"[worker {i}] " for i in range(size)]
        try:
            for i in range(size):
                self.start_worker(i, addresses, program, attempt)
        except BaseException:
            self.end(signal.SIGKILL)
            raise

    def start_worker(
        self, i: int, addresses: Sequence[str], program: Sequence[str], attempt: int
    ) -> None:
        """Start one worker in a session of its own, so that Ctrl-C reaches the launcher only."""
        cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": i}}
        environment = {
            "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // len(addresses))),
            **os.environ,
            "TF_CONFIG": json.dumps(cluster),
            "GRADTAPE_RESTART": str(attempt),
            "PYTHONUNBUFFERED": "1",
        }
        worker = subprocess.Popen(
            [sys.executable, "-m", "gradtape", "run", *program],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.workers.append(worker)
        for source, target in ((worker.stdout, sys.stdout), (worker.stderr, sys.stderr)):
            reader = threading.Thread(
                target=self.copy_lines, args=(source, target, self.names[i]), daemon=True
            )
            reader.start()
            self.readers.append(reader)

    def copy_lines(self, source: IO[bytes], target: Any, prefix: str) -> None:
        """Write the lines of a worker, each with the name of the worker in front."""
        for line in source:
            text = line.decode(errors="replace").rstrip("\n")
            with self.lock:
                target.write(f"{prefix}{text}\n")
                target.flush()

    def report(self, text: str) -> None:
        """Write a line of the launcher itself."""
        with self.lock:
            sys.stderr.write(f"[launch] {text}\n")
            sys.stderr.flush()

    def run(self, terminated: threading.Event) -> int:
        """Wait for the workers; returns 0 or the status of the first that failed."""
        try:
            status = self.wait_for_failure(terminated)
            if terminated.is_set():
                self.report("SIGTERM: the workers may save a checkpoint")
                self.end(signal.SIGTERM, PREEMPTION_SECONDS)
            elif status:
                self.wait(LEAVE_SECONDS)
            self.end(signal.SIGTERM)
        except KeyboardInterrupt:
            self.end(signal.SIGINT)
            raise
        finally:
            self.end(signal.SIGKILL)
            for reader in self.readers:
                reader.join(KILL_SECONDS)
        return status

    def wait_for_failure(self, terminated: threading.Event) -> int:
        """Wait until all workers have ended, or one has failed; returns its status."""
        while not terminated.is_set():
            states = [worker.poll() for worker in self.workers]
            for i, state in enumerate(states):
                if state:
                    self.report(f"worker {i} failed: {describe_status(state)}")
                    return state if state > 0 else 128 - state
            if None not in states:
                break
            time.sleep(POLL_SECONDS)
        return 0

    def wait(self, seconds: float) -> bool:
        """Wait until all workers have ended; False if some still run after `seconds`."""
        deadline = time.monotonic() + seconds
        while any(worker.poll() is None for worker in self.workers):
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def end(self, number: int, seconds: float = KILL_SECONDS) -> None:
        """Send a signal to the workers that still run, and to what they have started; wait."""
        for worker in self.workers:
            if worker.poll() is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(worker.pid, number)
        self.wait(seconds)


def describe_status(status: int) -> str:
    """How a process ended, in words."""
    if status > 0:
        return f"exit status {status}"
    return f"ended by {signal.Signals(-status).name}"
