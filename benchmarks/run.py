"""Measure gradtape beside its peers, on the same eager workloads.

    python benchmarks/run.py [--only NAME] [--rounds 10] [--threads 1] [--json FILE]
    python benchmarks/run.py --python torch=PATH/bin/python --python jax=PATH/bin/python

Each framework lives in its own process. For every workload all of them compute it once, the
results are compared, and only then are they timed: rounds alternate between the frameworks, the
best round counts. Frameworks that are not installed are left out and named.
"""

import argparse
import contextlib
import sys
import tempfile
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
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.1, help="length of a round")
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
    def guard(self, row, name, running):
        """Put a framework that fails at a row out of that row, and remember why."""
        try:
            yield
        except PeerError as error:
            self.put_out(row, name, running, "failed", str(error))

    def put_out(self, row, name, running, word, why):
        running.pop(name, None)
        self.results[row][name] = word
        self.complaints.append(f"{row}: {why}")

    def take(self, row, name, value):
        cells = self.results[row]
        cells[name] = min(value, cells.get(name, value))

    def turns(self, running):
        """Every round each framework once, another one first each time."""
        for turn in range(self.rounds):
            names = list(running)
            first = turn % max(1, len(names))
            yield from names[first:] + names[:first]

    def time(self, problem):
        """Best seconds per step (or per op) of each framework that has the workload and agrees."""
        row = problem.name
        self.results[row] = {}
        running = self.agreeing(problem)
        numbers = {}
        for name, peer in list(running.items()):
            with self.guard(row, name, running):
                numbers[name] = peer.ask("calibrate", seconds=self.seconds)["number"]
        for name in self.turns(running):
            with self.guard(row, name, running):
                spent = self.peers[name].ask("time", number=numbers[name])["seconds"]
                self.take(row, name, spent / problem.per)

    def agreeing(self, problem):
        """Frameworks that have computed the workload once, with the same results."""
        row, running = problem.name, {}
        with tempfile.TemporaryDirectory() as folder:
            for name, peer in self.peers.items():
                with self.guard(row, name, running):
                    answer = peer.ask("setup", problem=row, save=f"{folder}/{name}.npz")
                    if "missing" not in answer:
                        running[name] = peer
            arrays = {name: list(np.load(f"{folder}/{name}.npz").values()) for name in running}
        reference = "numpy" if "numpy" in arrays else next(iter(arrays), None)
        for name in list(running):
            try:
                for got, want in zip(arrays[name], arrays[reference], strict=True):
                    np.testing.assert_allclose(got, want, rtol=problem.rtol, atol=problem.atol)
            except (AssertionError, ValueError) as error:
                why = f"{name} and {reference} differ: {error}"
                self.put_out(row, name, running, "differs", why)
        return running

    def time_imports(self):
        self.results["import"] = {}
        for _ in range(min(self.rounds, 5)):
            for name, peer in self.peers.items():
                self.take("import", name, import_seconds(peer))

    def weigh(self, problem):
        """Bytes held by a recording, in new processes where nothing has left free memory behind."""
        row = problem.name
        self.results[row] = {}
        for name, peer in self.peers.items():
            with self.guard(row, name, {}), peer.fresh() as fresh:
                fresh.begin()
                answer = fresh.ask("hold", problem=row)
                if "missing" not in answer:
                    self.results[row][name] = answer["bytes"]

    def run(self, only):
        def wanted(name):
            return not only or any(part.lower() in name.lower() for part in only)

        if wanted("import"):
            print("… import", flush=True)
            self.time_imports()
        for problems, do in ((PROBLEMS, self.time), (MEMORY, self.weigh)):
            for problem in problems:
                if wanted(problem.name):
                    print(f"… {problem.name}: {problem.about}", flush=True)
                    do(problem)


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
