"""One framework in one process: answers the driver's requests, one JSON object per line.

    {"do": "versions"}                                  -> {"versions": {...}}
    {"do": "setup", "problem": …, "save": FILE}         -> {"calls": seconds of the first two},
                                                           results saved; or "missing"
    {"do": "calibrate", "problem": …, "seconds": 0.1}   -> {"number": of steps that take this long}
    {"do": "time", "problem": …, "number": 20}          -> {"seconds": of one step}
    {"do": "drop"}                                      -> {}, all workloads are deleted
    {"do": "measure_memory", "problem": …}              -> {"bytes": of a recording}; or "missing"

The answer to a failed request is {"error": message}. Output of libraries goes to stderr.
"""

import gc
import importlib
import json
import os
import sys
import time
from itertools import chain

import numpy as np

from problems import MEMORY, PROBLEMS

BY_NAME = {problem.name: problem for problem in chain(PROBLEMS, MEMORY)}

WARM_UP_SECONDS = 0.4
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Worker:
    """Holds the steps of the problems that were set up, until they are dropped."""

    def __init__(self, framework, mode, clock, threads):
        self.workloads = importlib.import_module(f"workloads.in_{framework}")
        self.workloads.use_threads(threads)
        self.mode, self.clock, self.steps = mode, clock, {}
        self.warm_up()
        gc.collect()
        gc.freeze()  # so that later collections scan only the workload

    def versions(self):
        return {"versions": self.workloads.versions()}

    def find_workload(self, problem):
        """The function that makes the workload of `problem`; None if the framework lacks it."""
        kind = BY_NAME[problem].kind
        candidates = (getattr(module, kind, None) for module in self.workloads.modules)
        return next(filter(None, candidates), None)

    def warm_up(self):
        """Compile a small workload, so that the first measured one does not load the compiler."""
        make = self.find_workload("op, recorded")
        self.workloads.wait(self.workloads.runner(make(x=np.float32(1), repeats=1), self.mode)())

    def setup(self, problem, save):
        """Save the results of the first and the third call; compilers start in between."""
        make = self.find_workload(problem)
        if make is None:
            return {"missing": True}
        self.steps[problem] = step = self.workloads.runner(make(**BY_NAME[problem].data), self.mode)
        calls, results = [], []
        for _ in range(3):
            start = time.perf_counter()
            results.append(step())
            self.workloads.wait(results[-1])
            calls.append(time.perf_counter() - start)
            results[-1] = [np.array(r) for r in self.workloads.as_numpy(results[-1])]
        np.savez(save, *results[0], *results[2])
        return {"calls": calls[:2]}

    def drop(self):
        self.steps.clear()
        return {}

    def calibrate(self, problem, seconds):
        """Warm up, for compilers that start after some calls; then count the steps that fit."""
        end = time.perf_counter() + WARM_UP_SECONDS
        while time.perf_counter() < end:
            self.workloads.wait(self.steps[problem]())
        number = 1
        while True:
            spent = number * self.time(problem, number)["seconds"]
            if spent > seconds / 4 or number >= 1_000_000:
                return {"number": max(1, round(number * seconds / spent))}
            number *= 4

    def time(self, problem, number):
        step, results, now = self.steps[problem], None, CLOCKS[self.clock]
        gc.collect()
        start = now()
        for _ in range(number):
            results = step()
        self.workloads.wait(results)
        return {"seconds": (now() - start) / number}

    def measure_memory(self, problem, few=4, many=16):
        """Growth of resident memory per recording that is kept alive.

        A forward pass reuses the memory that the one before it freed. So the growth counts only
        the memory of recordings, with any allocator.
        """
        make, problem = self.find_workload(problem), BY_NAME[problem]
        if make is None or not os.path.exists("/proc/self/statm"):
            return {"missing": True}
        record = make(**problem.data)
        for _ in range(few):
            record()
        recordings = [record() for _ in range(few)]
        before = resident_bytes()
        recordings += [record() for _ in range(many)]
        return {"bytes": (resident_bytes() - before) / (len(recordings) - few) / problem.per}


def resident_bytes():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    framework, mode, clock, threads = sys.argv[1:]
    try:
        worker, answer = Worker(framework, mode, clock, int(threads)), {"ready": True}
    except Exception as error:
        worker, answer = None, {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=answers, flush=True)
    for line in sys.stdin if worker else ():
        request = json.loads(line)
        try:
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
