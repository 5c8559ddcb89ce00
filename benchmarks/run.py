"""Measure gradtape beside its peers, on the same eager workloads.

    python benchmarks/run.py [--only NAME] [--rounds 30] [--threads 1] [--json FILE]
    python benchmarks/run.py --python torch=PATH/bin/python --python jax=PATH/bin/python

Each framework lives in its own process. For every workload all of them compute it once, the
results are compared, and only then are they timed: rounds alternate between the frameworks, the
best round counts (many short rounds find a quiet moment on a busy machine). Frameworks that are
not installed are left out and named.
"""

import argparse
import contextlib
import sys
import tempfile
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from peer import FRAMEWORKS, Peer, PeerError, import_seconds, interpreter, stay_on_cores
from problems import MEMORY, PROBLEMS
from report import machine, print_budgets, print_results, save_json

RESULTS = Path(__file__).parent / "results" / "latest.json"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="rows whose name contains NAME"
    )
    parser.add_argument(
        "--peers", nargs="+", choices=FRAMEWORKS, default=FRAMEWORKS, help="leave out others"
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a round")
    parser.add_argument(
        "--threads", type=int, default=1, help="threads, and cores, for each framework"
    )
    parser.add_argument(
        "--json", type=Path, default=RESULTS, metavar="FILE", help="where results are saved"
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="FRAMEWORK=PATH",
        help="interpreter of a framework; or set BENCH_PYTHON_FRAMEWORK",
    )
    return parser.parse_args()


class Benchmark:
    """The frameworks' workers, what they measured, and what went wrong."""

    def __init__(self, peers, rounds, seconds):
        self.peers, self.rounds, self.seconds = peers, rounds, seconds
        self.results, self.complaints = {}, []

    @contextlib.contextmanager
    def guard(self, row, name):
        """Put a framework that fails at a row out of that row, and remember why."""
        try:
            yield
        except PeerError as error:
            self.put_out(row, name, "failed", str(error))

    def put_out(self, row, name, word, why):
        self.results[row][name] = word
        self.complaints.append(f"{row}: {why}")

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
        """Names of the frameworks that have computed the workload once, with the same results."""
        row, arrays = problem.name, {}
        with tempfile.TemporaryDirectory() as folder:
            for name, peer in self.peers.items():
                with self.guard(row, name):
                    file = f"{folder}/{name}.npz"
                    if "missing" not in peer.ask("setup", problem=row, save=file):
                        arrays[name] = list(np.load(file).values())
        reference = "numpy" if "numpy" in arrays else next(iter(arrays), None)
        for name in arrays:
            try:
                for got, want in zip(arrays[name], arrays[reference], strict=True):
                    np.testing.assert_allclose(got, want, rtol=problem.rtol, atol=problem.atol)
            except (AssertionError, ValueError) as error:
                self.put_out(row, name, "differs", f"{name} and {reference} differ: {error}")
        return [name for name in arrays if name not in self.results[row]]

    def time_imports(self):
        for _ in range(min(self.rounds, 5)):
            for name, peer in self.peers.items():
                self.take("import", name, import_seconds(peer))

    def weigh(self, problem):
        """Bytes held by a recording, in new processes where nothing has left free memory behind."""
        for name, peer in self.peers.items():
            with self.guard(problem.name, name), peer.fresh() as fresh:
                fresh.begin()
                answer = fresh.ask("hold", problem=problem.name)
                if "missing" not in answer:
                    self.results[problem.name][name] = answer["bytes"]

    def run(self, only):
        """Measure the rows whose names contain one of `only`; all of them if it is empty."""

        def wanted(name, about=""):
            if only and not any(part.lower() in name.lower() for part in only):
                return False
            print(f"… {name} {about}", flush=True)
            self.results[name] = {}
            return True

        if wanted("import"):
            self.time_imports()
        for _, group in groupby(PROBLEMS, key=lambda problem: problem.kind.split("_")[0]):
            chosen = [problem for problem in group if wanted(problem.name, problem.about)]
            if chosen:
                self.time(chosen)
        for problem in MEMORY:
            if wanted(problem.name, problem.about):
                self.weigh(problem)


def start(args, stack):
    """Workers of the frameworks that are installed, their versions, and the names of the others."""
    chosen = dict(pair.split("=", 1) for pair in args.python)
    peers, versions, absent = {}, {}, []
    for name in args.peers:
        python = interpreter(name, chosen)
        if python is None:
            absent.append(name)
        else:
            peers[name] = stack.enter_context(Peer(name, python, args.threads))
            versions[name] = peers[name].begin()
            print(f"{name}: {versions[name]}")
    if absent:
        print(f"Not installed, left out: {', '.join(absent)} (`make peers` installs peers)")
    return peers, versions, absent


def main():
    args = arguments()
    facts = machine(args.threads)
    stay_on_cores(args.threads)
    with contextlib.ExitStack() as stack:
        peers, versions, absent = start(args, stack)
        benchmark = Benchmark(peers, args.rounds, args.seconds)
        benchmark.run(args.only)
    print_results(benchmark.results, list(peers))
    print_budgets(benchmark.results)
    save_json(args.json, machine=facts, versions=versions, absent=absent, results=benchmark.results)
    for complaint in benchmark.complaints:
        print(f"\n{complaint}", file=sys.stderr)
    return 1 if benchmark.complaints else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PeerError as error:
        sys.exit(str(error))
