"""Measure gradtape beside its peers, on the same workloads.

    python benchmarks/run.py [--compiled] [--only NAME] [--rounds 30] [--threads 1] [--json FILE]
    python benchmarks/run.py --python torch=PATH/bin/python --python jax=PATH/bin/python

Each framework lives in its own process. For every workload all of them compute it, the results of
the first and of the third call are compared, and only then are they timed: rounds alternate between
the frameworks, the best round counts (many short rounds find a quiet moment on a busy machine).
With `--compiled` each framework compiles the whole step by its own means, and the first two calls
are kept as well: they trace and compile. Frameworks that are not installed, and compilers that do
not work here, are left out and named.
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

from budgets import verdicts
from peer import COLUMNS, FRAMEWORKS, Peer, PeerError, interpreter, stay_on_cores, threads_of
from problems import MEMORY, PROBLEMS
from tables import SUBJECT, calls, figures, markdown, means, multiples

RESULTS = Path(__file__).parent / "results"
GROUPS = ["op", "layer", "step", "start", "memory"]


def arguments():
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
        help="leave out others",
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a round")
    parser.add_argument(
        "--threads",
        type=threads_of,
        default=1,
        help="threads, and cores, for each framework; or `all`",
    )
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="time that passes, or (on a busy machine, one thread) that the processor works",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="where results are saved, else results/MODE-THREADS.json",
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
    """The frameworks' workers, what they measured, and what went wrong."""

    def __init__(self, peers, mode, rounds, seconds):
        self.peers, self.mode, self.rounds, self.seconds = peers, mode, rounds, seconds
        self.results, self.calls, self.rows = {}, {}, {}
        self.complaints, self.wrong = [], False

    @contextlib.contextmanager
    def guard(self, row, name):
        """Put a framework that fails at a row out of that row, and remember why."""
        try:
            yield
        except PeerError as error:
            self.put_out(row, name, "failed", f"{name} failed: {error}")

    def put_out(self, row, name, word, why):
        self.results[row][name] = word
        self.complaints.append(f"{row}: {why}")
        print(f"  {word}: {name}", flush=True)
        self.wrong |= word == "differs" or name == SUBJECT

    def take(self, row, name, value):
        cells = self.results[row]
        cells[name] = min(value, cells.get(name, value))

    def time(self, problems):
        """Best seconds per step (or per op) of each framework that has the workload and agrees.

        Rounds alternate between all frameworks and all `problems`: what happens on the machine
        happens to all of them.
        """
        entries = {}
        for problem in problems:
            for name in self.agreeing(problem):
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
                        self.take(problem.name, name, spent / problem.per)
        for name, peer in self.peers.items():
            with self.guard(problems[-1].name, name):
                peer.ask("drop")

    def agreeing(self, problem):
        """Names of the frameworks that have computed the workload, with the same results."""
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
                self.put_out(row, name, "differs", f"{name} and {reference} differ: {why}")
        return [name for name in arrays if name not in self.results[row]]

    def begin(self, rows):
        """Import and first gradient, each time in a new process."""
        for _ in range(min(self.rounds, 5)):
            for name, peer in self.peers.items():
                with self.guard(rows[0], name):
                    answer = peer.tell("gradient", peer.framework, peer.mode, peer.threads)
                    for row in rows:
                        if row in answer:
                            self.take(row, name, answer[row])

    def weigh(self, problem):
        """Bytes held by a recording, in new processes where nothing has left free memory behind."""
        for name, peer in self.peers.items():
            with self.guard(problem.name, name), peer.fresh() as fresh:
                fresh.begin()
                answer = fresh.ask("hold", problem=problem.name)
                if "missing" not in answer:
                    self.results[problem.name][name] = answer["bytes"]

    def measure_sizes(self, row):
        for name, peer in self.peers.items():
            with self.guard(row, name):
                self.results[row][name] = peer.tell("size", peer.framework)[row]

    def run(self, only, save):
        """Measure the rows whose names contain one of `only`; all of them if it is empty.

        After each group of rows `save` is called: who stops a long run keeps what it has found.
        """
        eager = self.mode == "eager"

        def wanted(name, about, group, unit="seconds"):
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
        chosen = [row[0] for row in start if wanted(*row)]
        if chosen:
            self.begin(chosen)
        problems = [p for p in PROBLEMS if (p.eager if eager else p.compiled)]
        for _, group in groupby(problems, key=lambda problem: problem.kind.split("_")[0]):
            chosen = [
                problem for problem in group if wanted(problem.name, problem.about, problem.group)
            ]
            if chosen:
                self.time(chosen)
                save()
        if eager:
            for problem in MEMORY:
                if wanted(problem.name, problem.about, "memory", "bytes"):
                    self.weigh(problem)
            about = "of the distribution and all that it requires"
            if wanted("installed size", about, "memory", "bytes"):
                self.measure_sizes("installed size")


def start(args, mode, stack):
    """Workers of the columns that can be had, their versions, and why the others can not."""
    chosen = dict(pair.split("=", 1) for pair in args.python)
    peers, versions, left_out = {}, {}, {}
    for name, (framework, how) in COLUMNS[mode].items():
        if args.peers and name not in args.peers:
            continue
        python = interpreter(framework, chosen)
        if python is None:
            left_out[name] = "not installed; `make peers` installs peers"
            continue
        peer = stack.enter_context(Peer(framework, how, python, args.threads, args.clock))
        try:
            versions[name] = peer.begin()
            peers[name] = peer
            print(f"{name}: {versions[name]}")
        except PeerError as error:
            left_out[name] = " ".join(str(error).split())[:300]
    for name, why in left_out.items():
        print(f"Left out: {name} ({why})")
    return peers, versions, left_out


def load():
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def machine(args):
    """What a reader must know to compare figures."""
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
        "load before": load(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def print_table(title, table):
    header, rows = table
    if rows:
        print(f"\n{title}\n", *markdown(header, rows), sep="\n")


def print_record(record):
    print_table("Best of all rounds", figures(record, GROUPS))
    print_table(f"As a multiple of {SUBJECT} (above 1: {SUBJECT} needs less)", multiples(record))
    if record["mode"] == "compiled":
        print_table("First call: tracing and compiling", calls(record, 0))
        print_table("Second call", calls(record, 1))
    average = [[name, f"{value:.2f}"] for name, value in means(record)]
    print_table(f"Geometric mean of {SUBJECT} against", (["", "ratio"], average))
    budgets = [
        [what, f"{ratio:.3g}", f"{limit:.3g}", "met" if met else "MISSED"]
        for what, ratio, limit, met in verdicts(record)
    ]
    print_table("Budgets of the design", (["", "ratio", "at most", ""], budgets))


def main():
    args = arguments()
    mode = "compiled" if args.compiled else "eager"
    facts = machine(args)
    stay_on_cores(args.threads)
    with contextlib.ExitStack() as stack:
        peers, versions, left_out = start(args, mode, stack)
        benchmark = Benchmark(peers, mode, args.rounds, args.seconds)
        path = args.json or RESULTS / f"{mode}-{args.threads}.json"
        path.parent.mkdir(parents=True, exist_ok=True)

        def save():
            record = {
                "mode": mode,
                "machine": {**facts, "load after": load()},
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
