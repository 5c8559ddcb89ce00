"""Runs `train_workers.py` with a failure, and checks survivors and the restarted run.

`python -m tests.tf.distribute.failure_run --points 20 --workers 2` tries every failure of the first
and of the last worker at every point; it takes about 20 minutes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PROGRAM = Path(__file__).with_name("train_workers.py")
ERRORS = {
    "kill": "UnavailableError",
    "raise": "UnavailableError",
    "exit": "UnavailableError",
    "stop": "DeadlineExceededError",
}
SILENCE_SECONDS = 3
LONGEST_SECONDS = 15
STEPS = 12


class Outcome(NamedTuple):
    """What the workers of a run printed: losses by worker and step, weights, errors."""

    losses: dict
    weights: dict
    survivors: dict
    status: int
    text: str


def run_program(workers, failure="none -1 0", restarts=1):
    """Run the program with `gradtape launch`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "gradtape", "launch", "-n", str(workers)]
        command += ["--restarts", str(restarts), str(PROGRAM), folder]
        environment = {
            **os.environ,
            "FAILURE": failure,
            "GRADTAPE_WORKER_TIMEOUT": str(SILENCE_SECONDS),
        }
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=180, check=False
        )
    losses, weights, survivors = {}, {}, {}
    for line in done.stdout.splitlines():
        name, _, rest = line.partition("] ")
        worker, (kind, _, text) = int(name.split()[-1]), rest.partition(" ")
        if kind == "LOSS":
            step, loss = json.loads(text)
            losses[worker, step] = loss
        elif kind == "WEIGHTS":
            weights[worker] = json.loads(text)
        elif kind == "SURVIVED":
            survivors[worker] = json.loads(text)
    return Outcome(losses, weights, survivors, done.returncode, done.stdout + done.stderr)


def find_problems(undisturbed, outcome, workers, kind, rank):
    """What is wrong with a run in which the worker `rank` failed; empty if nothing is."""
    problems = []
    if outcome.status:
        problems.append(f"the launcher's status is {outcome.status}")
    if outcome.losses != undisturbed.losses or outcome.weights != undisturbed.weights:
        problems.append("the restarted run has other losses or weights")
    if len(outcome.weights) != workers:
        problems.append(f"{len(outcome.weights)} of {workers} workers came to the end")
    if sorted(outcome.survivors) != [i for i in range(workers) if i != rank]:
        problems.append(f"survivors that got an error: {sorted(outcome.survivors)}")
    for worker, (error, seconds, message) in outcome.survivors.items():
        if error != ERRORS[kind] or seconds > LONGEST_SECONDS or f"worker {rank}" not in message:
            problems.append(f"worker {worker} got after {seconds:.1f} s {error}: {message}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kinds", nargs="*", default=list(ERRORS))
    options = parser.parse_args()
    undisturbed = run_program(options.workers)
    assert len(undisturbed.losses) == STEPS * options.workers, undisturbed.text
    bad, slowest = 0, dict.fromkeys(options.kinds, 0.0)
    for kind in options.kinds:
        for rank in (0, options.workers - 1):
            for point in range(options.points):
                outcome = run_program(options.workers, f"{kind} {rank} {point}")
                problems = find_problems(undisturbed, outcome, options.workers, kind, rank)
                times = [seconds for _, seconds, _ in outcome.survivors.values()]
                slowest[kind] = max([slowest[kind], *times])
                bad += bool(problems)
                for problem in problems:
                    print(f"{kind} worker {rank} point {point}: {problem}", flush=True)
        print(f"{kind}: the slowest error came after {slowest[kind]:.1f} s", flush=True)
    print(f"{bad} of {len(options.kinds) * 2 * options.points} runs have a problem")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
