"""One framework in one process: does what the driver asks, one JSON object a line each way.

    {"do": "versions"}                                  -> {"versions": {...}}
    {"do": "setup", "problem": …, "save": FILE}         -> {"calls": seconds of the first two},
                                                           results saved; or "missing"
    {"do": "calibrate", "problem": …, "seconds": 0.1}   -> {"number": of steps that take so long}
    {"do": "time", "problem": …, "number": 20}          -> {"seconds": of one step}
    {"do": "drop"}                                      -> {}, all that was set up forgotten
    {"do": "hold", "problem": …}                        -> {"bytes": of a recording}; or "missing"

An exception is answered with {"error": its text}. What libraries print goes to stderr.
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

WARM = 0.4  # seconds
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Worker:
    """Holds the steps of the problems that were set up, until they are dropped."""

    def __init__(self, framework, mode, clock, threads):
        self.workloads = importlib.import_module(f"workloads.in_{framework}")
        self.workloads.use_threads(threads)
        self.mode, self.clock, self.steps = mode, clock, {}
        self.warm_up()
        gc.collect()
        gc.freeze()  # so that collecting before each round looks at the workload only

    def versions(self):
        return {"versions": self.workloads.versions()}

    def find(self, problem):
        """The function that makes the workload of `problem`, if the framework has it."""
        kind = BY_NAME[problem].kind
        found = (getattr(chapter, kind, None) for chapter in self.workloads.chapters)
        return next(filter(None, found), None)

    def warm_up(self):
        """Compile something, so that the first workload does not pay for waking the compiler."""
        make = self.find("op, recorded")
        self.workloads.wait(self.workloads.runner(make(x=np.float32(1), repeats=1), self.mode)())

    def setup(self, problem, save):
        """Results of the first and of the third call: in between, compilers begin to work."""
        make = self.find(problem)
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
        """Warm up, as compilers that look at counts of calls need, then see how many steps fit."""
        end = time.perf_counter() + WARM
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

    def hold(self, problem, few=4, many=16):
        """Growth of resident memory for each further recording that is kept alive.

        What one forward pass allocates and frees again is reused by the next, so the slope counts
        only what stays, whatever allocator the framework has.
        """
        make, problem = self.find(problem), BY_NAME[problem]
        if make is None or not os.path.exists("/proc/self/statm"):
            return {"missing": True}
        record = make(**problem.data)
        for _ in range(few):
            record()
        kept = [record() for _ in range(few)]
        before = resident_bytes()
        kept += [record() for _ in range(many)]
        return {"bytes": (resident_bytes() - before) / (len(kept) - few) / problem.per}


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
