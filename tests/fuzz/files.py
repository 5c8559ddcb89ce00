"""Fuzzer of the readers of files: it mutates valid files of every format and reads them.

    python -m tests.fuzz.files --runs 50000 --seed 1 [--only png gif] [--start RUN]

A run fails if reading raises an exception that is not one of TensorFlow's, takes too much processor
time, or makes the process grow too much. A failure names its run: `--seed S --start RUN --runs 1`
repeats it. The last line counts runs and failures; the exit status is 1 if there was any.
"""

import argparse
import faulthandler
import logging
import os
import random
import resource
import sys
import tempfile
import warnings
from collections import Counter
from functools import partial
from typing import Any

from tests.fuzz.file_bombs import READABLE, bombs
from tests.fuzz.file_folders import folder_formats
from tests.fuzz.file_formats import stateless_formats
from tests.fuzz.file_verdict import run_case

ADDRESS_SPACE = 6 << 30  # the process gets no more than this
MEMORY_FOLDER = "/dev/shm"  # a folder in memory, where the system has one
HANG_SECONDS = 120  # then the process ends


def report(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def read_bombs(folder: str, tf: Any) -> int:
    """Read all bombs and print what fails; return the number of failures."""
    failures = 0
    for name, read in bombs().items():
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        outcome, wrong = run_case(partial(read, folder, tf), (tf.errors.OpError,))
        if outcome == "read" and name not in READABLE:
            wrong = wrong or "it was read"
        if wrong:
            failures += 1
            report(f"FAILED bomb {name}: {wrong}")
    return failures


def run_all(options: argparse.Namespace, folder: str, tf: Any) -> int:
    """Run the cases and print what fails; return the number of failures."""
    formats = {**stateless_formats(), **folder_formats(tf)}
    names = [name for name in sorted(formats) if not options.only or name in options.only]
    outcomes: Counter[tuple[str, str]] = Counter()
    failures = 0 if options.only or options.start else read_bombs(folder, tf)
    for run in range(options.start, options.start + options.runs):
        chance = random.Random(f"{options.seed}/{run}")
        name = names[run % len(names)]
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        form = formats[name]
        case = form.make_case(chance)
        kinds = (tf.errors.OpError, *form.errors)
        outcome, wrong = run_case(lambda: form.read(case, folder, tf), kinds)  # noqa: B023 - called at once
        outcomes[name, outcome] += 1
        if wrong:
            failures += 1
            report(f"FAILED run {run} of seed {options.seed}, {name}: {wrong}")
    faulthandler.cancel_dump_traceback_later()
    for (name, outcome), count in sorted(outcomes.items()):
        report(f"{name:20} {outcome:26} {count}")
    return failures


def main(argv: list[str] | None = None) -> int:
    """Run the fuzzer; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5000, help="how many files to read")
    parser.add_argument("--seed", type=int, default=0, help="other seeds give other files")
    parser.add_argument("--start", type=int, default=0, help="the number of the first run")
    parser.add_argument("--only", nargs="*", help="names of formats")
    options = parser.parse_args(argv)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    import gradtape as tf

    logging.getLogger("gradtape").setLevel(logging.CRITICAL)
    tf.debugging.disable_traceback_filtering()
    if os.path.isdir(MEMORY_FOLDER):
        tempfile.tempdir = MEMORY_FOLDER
    with tempfile.TemporaryDirectory() as folder:
        failures = run_all(options, folder, tf)
    report(f"{options.runs} runs, seed {options.seed}: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
