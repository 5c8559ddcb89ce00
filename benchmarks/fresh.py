"""Measurements of a framework that need a new process, printed as JSON.

    fresh.py gradient FRAMEWORK MODE THREADS    seconds of the import, seconds from the import to
                                                the first gradient, and resident bytes then
    fresh.py size FRAMEWORK                     bytes of its distribution and its requirements

Only the standard library is imported before the clock starts.
"""

import importlib
import json
import os
import re
import sys
import time
from importlib import metadata, util
from pathlib import Path

DISTRIBUTIONS = {"tensorflow": ["tensorflow-cpu", "tensorflow"]}


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def gradient(framework, mode, threads):
    start = time.perf_counter()
    importlib.import_module(framework)
    imported = time.perf_counter() - start
    import numpy as np

    workloads = importlib.import_module(f"workloads.in_{framework}")
    workloads.use_threads(int(threads))
    work = workloads.modules[0].mlp(
        x=np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4),
        y=np.arange(8, dtype=np.int32) % 3,
        weights=[np.full((4, 16), 0.1, np.float32), np.full((16, 3), 0.1, np.float32)],
        biases=[np.zeros(16, np.float32), np.zeros(3, np.float32)],
        rate=0.1,
    )
    workloads.wait(workloads.runner(work, mode)())
    seconds = time.perf_counter() - start
    answer = {"import": imported, "first gradient": seconds}
    if os.path.exists("/proc/self/statm"):
        answer["resident memory"] = float(resident_bytes())
    return answer


def collect_requirements(name, known):
    """Add the distribution and its installed requirements, without extras, to `known`."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name in known:
        return
    try:
        known[name] = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    for requirement in known[name].requires or []:
        if not re.search(r";.*\bextra\b", requirement):
            collect_requirements(re.match(r"[\w.-]+", requirement)[0], known)


def total_bytes(paths):
    files = {p.resolve() for p in paths if "__pycache__" not in p.parts}
    return sum(p.stat().st_size for p in files if p.is_file())


def size(framework):
    known = {}
    for name in DISTRIBUTIONS.get(framework, [framework]):
        collect_requirements(name, known)
    total = sum(total_bytes(Path(f.locate()) for f in d.files or []) for d in known.values())
    if framework == "gradtape":  # an editable install lists no files
        listed = [f for f in known["gradtape"].files or [] if f.parts[0] == "gradtape"]
        if not listed:
            (folder,) = util.find_spec("gradtape").submodule_search_locations
            total += total_bytes(Path(folder).rglob("*"))
    return {"installed size": float(total), "distributions": sorted(known)}


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])), file=answers, flush=True)
