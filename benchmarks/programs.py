"""Whole programs on gradtape and on TensorFlow: imports, building, first calls and training.

    python benchmarks/programs.py [--only dcgan …] [--turns 3]
    python benchmarks/programs.py --python gradtape=PATH/bin/python --python tensorflow=PATH …

The programs in `user_programs/` are written as TensorFlow's tutorials are, on small random data.
Each run has its own process with one thread. Measured are the processor time of the process from
its start to its end, and its peak memory; the least of all turns counts. The numbers that both
print must agree before a row is printed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from peer import PeerError, find_interpreter, make_environment

HERE = Path(__file__).parent
PROGRAMS = {path.stem: path for path in sorted((HERE / "user_programs").glob("*.py"))}
PROGRAMS["actor_critic"] = HERE.parent / "examples" / "actor_critic.py"
NEEDS = {"gradtape": "keras", "tensorflow": "tensorflow"}
TOLERANCE = 0.05  # rounding grows in some thousand steps of training


def run_program(python, framework, path):
    """Run a program in a new process; return its processor time, peak memory and numbers."""
    command = [python, str(path)]
    if framework == "gradtape":
        command = [python, "-m", "gradtape", str(path)]
    environment = {**make_environment(1), "KERAS_BACKEND": "tensorflow"}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise PeerError(f"{framework}: {path.name}: {errors.read()[-2000:]}")
        numbers = [float(text) for text in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", output.read())]
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, numbers


def compare_program(name, pythons, turns):
    """Run a program on all frameworks in turns, print one row, and return the ratio of times."""
    runs = {framework: [] for framework in pythons}
    for _ in range(turns):
        for framework, python in pythons.items():
            runs[framework].append(run_program(python, framework, PROGRAMS[name]))
    numbers = [runs[framework][0][2] for framework in pythons]
    for other in numbers[1:]:
        if not np.allclose(numbers[0], other, TOLERANCE, TOLERANCE):
            print(f"{name}: results differ: {numbers}", file=sys.stderr)
    times = {key: min(run[0] for run in runs[key]) for key in pythons}
    peaks = {key: min(run[1] for run in runs[key]) for key in pythons}
    ratio = times["gradtape"] / times["tensorflow"] if "tensorflow" in times else float("nan")
    cells = [f"{times[key]:.1f}" for key in pythons]
    cells += [f"{ratio:.2f}", *(f"{peaks[key]:.0f}" for key in pythons)]
    print(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH")
    args = parser.parse_args()
    chosen = dict(pair.split("=", 1) for pair in args.python)
    found = {key: find_interpreter(need, {need: chosen.get(key)}) for key, need in NEEDS.items()}
    pythons = {key: python for key, python in found.items() if python is not None}
    titles = [f"{key}, s" for key in pythons] + ["ratio"] + [f"{key}, MB" for key in pythons]
    print(f"| program | {' | '.join(titles)} |\n|---|{'---:|' * len(titles)}")
    ratios = [compare_program(name, pythons, args.turns) for name in args.only]
    print(f"\nGeometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()
