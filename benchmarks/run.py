"""Measure gradtape and its peers on the same workloads.

    python benchmarks/run.py [--compiled] [--only NAME] [--rounds 30] [--threads 1] [--json FILE]
    python benchmarks/run.py --python torch=PATH/bin/python --python jax=PATH/bin/python

Each framework runs in its own process. All frameworks compute a workload first, and the results
of the first and third call are compared. Then they are timed: rounds alternate between the
frameworks, and the best round counts. Many short rounds find a quiet moment on a busy machine.
With `--compiled` each framework compiles the whole step with its own compiler. The times of the
first two calls, which trace and compile, are saved as well. Frameworks that are not installed and
compilers that fail are skipped and listed.
"""

import argparse
import contextlib
import json
import os
import platform
import sys
import tempfile
import time
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from budgets import check_budgets
from peer import COLUMNS, FRAMEWORKS, Peer, PeerError, find_interpreter, parse_threads, pin_to_cores
from problems import MEMORY, PROBLEMS
from tables import (
    SUBJECT,
    format_table,
    geometric_means,
    make_calls_table,
    make_figures_table,
    make_ratio_table,
)

RESULTS = Path(__file__).parent / "results"
GROUPS = ["op", "layer", "step", "start", "memory"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--compiled", action="store_true", help="whole steps, compiled by each framework"
    )
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="rows whose name contains NAME"
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=sorted({*COLUMNS["eager"], *COLUMNS["compiled"]}),
        help="run only these",
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a round")
    parser.add_argument(
        "--threads",
        type=parse_threads,
        default=1,
        help="threads, and cores, for each framework; or `all`",
    )
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="wall-clock time, or processor time (for one thread on a busy machine)",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="output file, by default results/MODE-THREADS.json",
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="FRAMEWORK=PATH",
        help=f"interpreter of a framework ({', '.join(FRAMEWORKS)}); or set BENCH_PYTHON_FRAMEWORK",
    )
    return parser.parse_args()


class Benchmark:
    """The frameworks' workers, their results, and their failures."""

    def __init__(self, peers, mode, rounds, seconds):
        self.peers, self.mode, self.rounds, self.seconds = peers, mode, rounds, seconds
        self.results, self.calls, self.rows = {}, {}, {}
        self.complaints, self.wrong = [], False

    @contextlib.contextmanager
    def guard(self, row, name):
        """Scope that excludes a failing framework from a row, and records the error."""
        try:
            yield
        except PeerError as error:
            self.exclude(row, name, "failed", f"{name} failed: {error}")

    def exclude(self, row, name, word, why):
        self.results[row][name] = word
        self.complaints.append(f"{row}: {why}")
        print(f"  {word}: {name}", flush=True)
        self.wrong |= word == "differs" or name == SUBJECT

    def keep_best(self, row, name, value):
        cells = self.results[row]
        cells[name] = min(value, cells.get(name, value))

    def time(self, problems):
        """Time each framework that has the workload and agrees: best seconds per step or op.

        Rounds alternate between all frameworks and all `problems`, so that other load on the
        machine affects all of them.
        """
        entries = {}
        for problem in problems:
            for name in self.check_results(problem):
                with self.guard(problem.name, name):
                    ask = partial(self.peers[name].ask, problem=problem.name)
                    number = ask("calibrate", seconds=self.seconds)["number"]
                    entries[problem, name] = partial(ask, "time", number=number)
        turns = sorted(entries, key=lambda entry: list(self.peers).index(entry[1]))
        for turn in range(self.rounds):
            first = turn % max(1, len(turns))
            for problem, name in turns[first:] + turns[:first]:
                if self.results[problem.name].get(name) != "failed":
                    with self.guard(problem.name, name):
                        spent = entries[problem, name]()["seconds"]
                        self.keep_best(problem.name, name, spent / problem.per)
        for name, peer in self.peers.items():
            with self.guard(problems[-1].name, name):
                peer.ask("drop")

    def check_results(self, problem):
        """Run the workload everywhere; return the names of the frameworks whose results agree."""
        row, arrays = problem.name, {}
        self.calls[row] = {}
        with tempfile.TemporaryDirectory() as folder:
            for name, peer in self.peers.items():
                with self.guard(row, name):
                    file = f"{folder}/{name}.npz"
                    answer = peer.ask("setup", problem=row, save=file)
                    if "missing" not in answer:
                        self.calls[row][name] = answer["calls"]
                        arrays[name] = list(np.load(file).values())
        reference = "numpy" if "numpy" in arrays else next(iter(arrays), None)
        for name in arrays:
            try:
                for got, want in zip(arrays[name], arrays[reference], strict=True):
                    np.testing.assert_allclose(got, want, rtol=problem.rtol, atol=problem.atol)
            except (AssertionError, ValueError) as error:
                why = " ".join(str(error).split())
                self.exclude(row, name, "differs", f"{name} and {reference} differ: {why}")
        return [name for name in arrays if name not in self.results[row]]

    def measure_start(self, rows):
        """Measure import and first gradient, each time in a new process."""
        for _ in range(min(self.rounds, 5)):
            for name, peer in self.peers.items():
                with self.guard(rows[0], name):
                    answer = peer.run_fresh("gradient", peer.framework, peer.mode, peer.threads)
                    for row in rows:
                        if row in answer:
                            self.keep_best(row, name, answer[row])

    def measure_memory(self, problem):
        """Measure the bytes of a recording, in new processes without freed memory to reuse."""
        for name, peer in self.peers.items():
            with self.guard(problem.name, name), peer.new_worker() as worker:
                worker.wait_until_loaded()
                answer = worker.ask("measure_memory", problem=problem.name)
                if "missing" not in answer:
                    self.results[problem.name][name] = answer["bytes"]

    def measure_sizes(self, row):
        for name, peer in self.peers.items():
            with self.guard(row, name):
                self.results[row][name] = peer.run_fresh("size", peer.framework)[row]

    def run(self, only, save):
        """Measure the rows whose names contain one of `only`; all of them if it is empty.

        After each group of rows `save` is called, so that an interrupted run keeps its results.
        """
        eager = self.mode == "eager"

        def add_row(name, about, group, unit="seconds"):
            if only and not any(part.lower() in name.lower() for part in only):
                return False
            print(f"… {name} {about}", flush=True)
            self.results[name] = {}
            self.rows[name] = {"about": about, "group": group, "unit": unit}
            return True

        start = [
            *([("import", "in a new process", "start")] if eager else []),
            ("first gradient", "MLP tiny in a new process, with the import", "start"),
            ("resident memory", "of that process", "memory", "bytes"),
        ]
        chosen = [row[0] for row in start if add_row(*row)]
        if chosen:
            self.measure_start(chosen)
        problems = [p for p in PROBLEMS if (p.eager if eager else p.compiled)]
        for _, group in groupby(problems, key=lambda problem: problem.kind.split("_")[0]):
            chosen = [
                problem for problem in group if add_row(problem.name, problem.about, problem.group)
            ]
            if chosen:
                self.time(chosen)
                save()
        if eager:
            for problem in MEMORY:
                if add_row(problem.name, problem.about, "memory", "bytes"):
                    self.measure_memory(problem)
            about = "of the distribution and its requirements"
            if add_row("installed size", about, "memory", "bytes"):
                self.measure_sizes("installed size")


def start_peers(args, mode, stack):
    """Start the workers; return them, their versions, and the reasons for skipped columns."""
    chosen = dict(pair.split("=", 1) for pair in args.python)
    peers, versions, left_out = {}, {}, {}
    for name, (framework, how) in COLUMNS[mode].items():
        if args.peers and name not in args.peers:
            continue
        python = find_interpreter(framework, chosen)
        if python is None:
            left_out[name] = "not installed; `make peers` installs peers"
            continue
        peer = stack.enter_context(Peer(framework, how, python, args.threads, args.clock))
        try:
            versions[name] = peer.wait_until_loaded()
            peers[name] = peer
            print(f"{name}: {versions[name]}")
        except PeerError as error:
            left_out[name] = " ".join(str(error).split())[:300]
    for name, why in left_out.items():
        print(f"Left out: {name} ({why})")
    return peers, versions, left_out


def load_average():
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def describe_machine(args):
    """The machine and the settings that figures depend on."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "threads": args.threads,
        "rounds": args.rounds,
        "seconds": args.seconds,
        "clock": args.clock,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load before": load_average(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def print_table(title, table):
    header, rows = table
    if rows:
        print(f"\n{title}\n", *format_table(header, rows), sep="\n")


def print_record(record):
    print_table("Best of all rounds", make_figures_table(record, GROUPS))
    print_table(
        f"As a multiple of {SUBJECT} (above 1: {SUBJECT} needs less)", make_ratio_table(record)
    )
    if record["mode"] == "compiled":
        print_table("First call: tracing and compiling", make_calls_table(record, 0))
        print_table("Second call", make_calls_table(record, 1))
    average = [[name, f"{value:.2f}"] for name, value in geometric_means(record)]
    print_table(f"Geometric mean of {SUBJECT} against", (["", "ratio"], average))
    budgets = [
        [what, f"{ratio:.3g}", f"{limit:.3g}", "met" if met else "MISSED"]
        for what, ratio, limit, met in check_budgets(record)
    ]
    print_table("Budgets of the design", (["", "ratio", "at most", ""], budgets))


def main():
    args = parse_arguments()
    mode = "compiled" if args.compiled else "eager"
    facts = describe_machine(args)
    pin_to_cores(args.threads)
    with contextlib.ExitStack() as stack:
        peers, versions, left_out = start_peers(args, mode, stack)
        benchmark = Benchmark(peers, mode, args.rounds, args.seconds)
        path = args.json or RESULTS / f"{mode}-{args.threads}.json"
        path.parent.mkdir(parents=True, exist_ok=True)

        def save():
            record = {
                "mode": mode,
                "machine": {**facts, "load after": load_average()},
                "columns": list(peers),
                "versions": versions,
                "left_out": left_out,
                "rows": benchmark.rows,
                "results": benchmark.results,
                "calls": benchmark.calls,
                "complaints": benchmark.complaints,
            }
            path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
            return record

        benchmark.run(args.only, save)
    print_record(save())
    print(f"\nSaved: {path}")
    for complaint in benchmark.complaints:
        print(f"\n{complaint}", file=sys.stderr)
    return 1 if benchmark.wrong or SUBJECT in left_out or not peers else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PeerError as error:
        sys.exit(str(error))
