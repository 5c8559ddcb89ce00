"""Run the tests that ship inside the Keras wheel on gradtape, and write down what passes.

    python tools/keras_tests.py                     everything, into docs/keras.md
    python tools/keras_tests.py ops/nn_test.py -v   some of it, with pytest's reports
    python tools/keras_tests.py --sample 20         every 20th test that passes on TensorFlow

The measure is `tests/keras/wheel/passes_on_tensorflow.txt.gz`: the ids, as paths below `keras/src`,
that pass on TensorFlow 2.21. Each folder (in `ops`, each file) is a process of its own; when one
dies or hangs, the test it was at counts as failed, and another process goes on behind it.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHEEL = ROOT / "tests" / "keras" / "wheel"
TABLE = ROOT / "docs" / "keras.md"
# What the target is about; the rest is run and listed as well.
TRAINING = (
    *("activations", "callbacks", "constraints", "initializers", "layers", "losses", "metrics"),
    *("models", "ops", "optimizers", "random", "regularizers", "saving", "trainers", "tree"),
    "utils",
)
PREPROCESSING = "layers/preprocessing"
IDLE_SECONDS = 600


def keras_sources() -> Path:
    """The folder `keras/src` of the installed wheel."""
    spec = find_spec("keras")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("Keras is not installed here: pip install 'gradtape[keras]'")
    return Path(spec.submodule_search_locations[0]) / "src"


def passes_on_tensorflow() -> list[str]:
    """The ids that are to pass."""
    with gzip.open(WHEEL / "passes_on_tensorflow.txt.gz", "rt") as file:
        return file.read().splitlines()


def exclusions() -> dict[str, str]:
    """What is not run, and why."""
    lines = (WHEEL / "excluded.txt").read_text().splitlines()
    pairs = [line.split("  ", 1) for line in lines if line and not line.startswith("#")]
    return {path: reason.strip() for path, reason in pairs}


def is_under(nodeid: str, places: Iterable[str]) -> bool:
    """Whether an id is one of `places`, or inside one."""
    return any(nodeid == p or nodeid.startswith((p + "/", p + "::", p)) for p in places)


def folder_of(nodeid: str) -> str:
    """The folder of a test."""
    return nodeid.partition("::")[0].rpartition("/")[0]


def is_target(folder: str) -> bool:
    """Whether a folder is one of those that training is about."""
    return folder.split("/")[0] in TRAINING and not folder.startswith(PREPROCESSING)


def groups_of(ids: list[str]) -> dict[str, list[str]]:
    """Ids that share a process: those of a folder; in `ops`, of a file."""
    groups: dict[str, list[str]] = defaultdict(list)
    for nodeid in ids:
        folder = folder_of(nodeid)
        groups[nodeid.partition("::")[0] if folder == "ops" else folder].append(nodeid)
    return groups


def run_group(ids: list[str], verbose: bool) -> dict[str, str]:
    """Outcomes of tests, each "passed", "failed", "skipped" or "missing"."""
    outcomes: dict[str, str] = {}
    while remaining := [nodeid for nodeid in ids if nodeid not in outcomes]:
        seen, complete = run_once(remaining, verbose)
        outcomes.update(seen)
        if complete or not seen:
            break
    return {nodeid: outcomes.get(nodeid, "missing") for nodeid in ids}


def run_once(ids: list[str], verbose: bool) -> tuple[dict[str, str], bool]:
    """Outcomes of one process, and whether it came to its end."""
    sources = keras_sources()
    with tempfile.TemporaryDirectory() as folder:
        only, noted = Path(folder, "only"), Path(folder, "noted")
        only.write_text("\n".join(ids))
        noted.touch()
        files = sorted({nodeid.partition("::")[0] for nodeid in ids})
        command = [
            *(sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"),
            *("-c", os.devnull, f"--rootdir={sources}", "-W", "ignore", "--noconftest"),
            *(["-rf", "--tb=short"] if verbose else ["-q", "--tb=no", "--no-header"]),
            *(str(sources / file) for file in files),
        ]
        environment = {
            **os.environ,
            "KERAS_BACKEND": "tensorflow",
            "KERAS_TESTS_ONLY": str(only),
            "KERAS_TESTS_OUTCOMES": str(noted),
            "PYTHONPATH": os.pathsep.join(
                [str(WHEEL), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
            ),
        }
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=None if verbose else subprocess.DEVNULL
        )
        watch(process, noted)
        return read_outcomes(noted)


def watch(process: subprocess.Popen[bytes], noted: Path) -> None:
    """Wait for a process, as long as it goes on noting outcomes."""
    size = -1
    while size != noted.stat().st_size:
        size = noted.stat().st_size
        try:
            process.wait(IDLE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return
    process.kill()
    process.wait()


def read_outcomes(noted: Path) -> tuple[dict[str, str], bool]:
    """What a process noted; a test that was begun and not ended has failed."""
    outcomes: dict[str, str] = {}
    complete = False
    for line in noted.read_text().splitlines():
        word, _, nodeid = line.partition("\t")
        if word == "finished":
            complete = True
        elif word == "started":
            outcomes.setdefault(nodeid, "failed")
            begun = nodeid
        elif word != "passed" or nodeid == begun:
            outcomes[nodeid] = word
    return outcomes, complete


def table(outcomes: dict[str, str], expected: list[str]) -> str:
    """The results by folder."""
    total: Counter[str] = Counter(folder_of(i) for i in expected)
    passed: Counter[str] = Counter(folder_of(i) for i in expected if outcomes.get(i) == "passed")
    lines = ["| folder | pass on TensorFlow | pass on gradtape | share |", "|---|---:|---:|---:|"]

    def line(name: str, folders: list[str]) -> str:
        n, of = sum(passed[f] for f in folders), sum(total[f] for f in folders)
        return f"| {name} | {of} | {n} | {100 * n / of:.1f} % |"

    target = sorted(f for f in total if is_target(f))
    other = sorted(f for f in total if not is_target(f))
    lines += [line(f, [f]) for f in target]
    if target:
        lines += [line("**training, together**", target)]
    lines += [line(f, [f]) for f in other]
    return "\n".join(lines)


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("places", nargs="*", help="folders, files or ids below keras/src")
    parser.add_argument("-v", "--verbose", action="store_true", help="show pytest's reports")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth test only")
    parser.add_argument("--outcomes", type=Path, help="write `outcome id` lines into this file")
    parser.add_argument("--again", type=Path, help="only what did not pass, by such a file")
    parser.add_argument("--least", type=float, default=0, help="fail below this share, in percent")
    arguments = parser.parse_args()
    excluded = exclusions()
    ids = [i for i in passes_on_tensorflow() if not is_under(i, excluded)]
    if arguments.places:
        ids = [i for i in ids if is_under(i, arguments.places)]
    if arguments.again:
        lines = [line.partition("\t") for line in arguments.again.read_text().splitlines()]
        passed = {nodeid for outcome, _, nodeid in lines if outcome == "passed"}
        ids = [i for _, _, i in lines if i not in passed]
    ids = ids[:: arguments.sample]
    outcomes: dict[str, str] = {}
    for name, group in groups_of(ids).items():
        found = run_group(group, arguments.verbose)
        outcomes.update(found)
        n = sum(outcome == "passed" for outcome in found.values())
        print(f"{name}: {n} of {len(group)}", flush=True)
        if arguments.outcomes:
            with arguments.outcomes.open("a") as file:
                file.writelines(f"{outcome}\t{nodeid}\n" for nodeid, outcome in found.items())
    n = sum(outcome == "passed" for outcome in outcomes.values())
    print(f"together: {n} of {len(ids)}")
    if not (arguments.places or arguments.again) and arguments.sample == 1:
        write(outcomes)
    return int(100 * n < arguments.least * len(ids))


if __name__ == "__main__":
    sys.exit(main())
