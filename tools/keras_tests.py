"""Run the tests inside the Keras wheel on gradtape, and record which pass.

    python tools/keras_tests.py                     everything, into docs/keras.md
    python tools/keras_tests.py ops/nn_test.py -v   some tests, with pytest's reports
    python tools/keras_tests.py --sample 20         every 20th test that passes on TensorFlow

`tests/keras/wheel/passes_on_tensorflow.txt.gz` lists the tests that pass on TensorFlow 2.21, as
ids below `keras/src`, without the addresses of objects that some ids contain. Each folder (in
`ops`, each file) runs in its own process. If a process crashes or hangs, its current test counts as
failed, and a new process runs the remaining tests.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHEEL = ROOT / "tests" / "keras" / "wheel"
TABLE = ROOT / "docs" / "keras.md"
# Folders that the target counts; the others are run and listed as well.
TRAINING = (
    *("activations", "callbacks", "constraints", "initializers", "layers", "losses", "metrics"),
    *("models", "ops", "optimizers", "random", "regularizers", "saving", "trainers", "tree"),
    "utils",
)
PREPROCESSING = "layers/preprocessing"
IDLE_SECONDS = 600
MARK = "<!-- written by tools/keras_tests.py -->"


def keras_sources() -> Path:
    """The folder `keras/src` of the installed wheel."""
    spec = find_spec("keras")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("Keras is not installed here: pip install 'gradtape[keras]'")
    return Path(spec.submodule_search_locations[0]) / "src"


def passes_on_tensorflow() -> list[str]:
    """The ids of tests that pass on TensorFlow."""
    with gzip.open(WHEEL / "passes_on_tensorflow.txt.gz", "rt") as file:
        return file.read().splitlines()


def exclusions() -> dict[str, str]:
    """Tests that are not run, with reasons."""
    lines = (WHEEL / "excluded.txt").read_text().splitlines()
    pairs = [line.split("  ", 1) for line in lines if line and not line.startswith("#")]
    return {path: reason.strip() for path, reason in pairs}


def is_under(nodeid: str, places: Iterable[str]) -> bool:
    """Whether an id starts with one of `places`."""
    return any(nodeid.startswith(p) for p in places)


def folder_of(nodeid: str) -> str:
    """The folder of a test."""
    return nodeid.partition("::")[0].rpartition("/")[0]


def is_target(folder: str) -> bool:
    """Whether a folder counts for the target."""
    return folder.split("/")[0] in TRAINING and not folder.startswith(PREPROCESSING)


def group_by_process(ids: list[str]) -> dict[str, list[str]]:
    """Group ids by process: one per folder; in `ops`, one per file."""
    groups: dict[str, list[str]] = defaultdict(list)
    for nodeid in ids:
        folder = folder_of(nodeid)
        groups[nodeid.partition("::")[0] if folder == "ops" else folder].append(nodeid)
    return groups


def run_group(ids: list[str], verbose: bool) -> dict[str, str]:
    """Run tests; each outcome is "passed", "failed", "skipped" or "missing"."""
    outcomes: dict[str, str] = {}
    while remaining := [nodeid for nodeid in ids if nodeid not in outcomes]:
        new, complete = run_once(remaining, verbose)
        outcomes.update(new)
        if complete or not new:
            break
    return {nodeid: outcomes.get(nodeid, "missing") for nodeid in ids}


def run_once(ids: list[str], verbose: bool) -> tuple[dict[str, str], bool]:
    """Run tests in one process; return the outcomes, and whether it ended normally."""
    sources = keras_sources()
    with tempfile.TemporaryDirectory() as folder:
        only, log = Path(folder, "only"), Path(folder, "outcomes")
        only.write_text("\n".join(ids))
        log.touch()
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
            "KERAS_TESTS_OUTCOMES": str(log),
            "PYTHONPATH": os.pathsep.join(
                [str(WHEEL), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
            ),
        }
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=None if verbose else subprocess.DEVNULL
        )
        wait_or_kill(process, log)
        return read_outcomes(log)


def wait_or_kill(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for a process; kill it if it records no outcome for IDLE_SECONDS."""
    size = -1
    while size != log.stat().st_size:
        size = log.stat().st_size
        try:
            process.wait(IDLE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return
    process.kill()
    process.wait()


def read_outcomes(log: Path) -> tuple[dict[str, str], bool]:
    """Parse the outcomes of a process; a test that started but did not end has failed."""
    outcomes: dict[str, str] = {}
    complete = False
    for line in log.read_text().splitlines():
        word, _, nodeid = line.partition("\t")
        if word == "finished":
            complete = True
        elif word == "started":
            outcomes.setdefault(nodeid, "failed")
            current = nodeid
        elif word != "passed" or nodeid == current:
            outcomes[nodeid] = word
    return outcomes, complete


def make_row(name: str, ids: list[str], outcomes: dict[str, str]) -> str:
    """Make a row of the table."""
    passed = sum(outcomes.get(i) == "passed" for i in ids)
    return f"| {name} | {len(ids)} | {passed} | {100 * passed / len(ids):.1f} % |"


def make_table(outcomes: dict[str, str], ids: list[str]) -> str:
    """Make the table of results by folder, for the folders that were run."""
    ran = {folder_of(nodeid) for nodeid in outcomes}
    folders: dict[str, list[str]] = defaultdict(list)
    for nodeid in ids:
        if folder_of(nodeid) in ran:
            folders[folder_of(nodeid)].append(nodeid)
    training = [i for i in ids if is_target(folder_of(i))]
    lines = ["| folder | pass on TensorFlow | pass on gradtape | share |", "|---|---:|---:|---:|"]
    lines += [make_row(f, folders[f], outcomes) for f in sorted(folders) if is_target(f)]
    lines += [make_row("**about training, together**", training, outcomes)]
    lines += [make_row(f, folders[f], outcomes) for f in sorted(folders) if not is_target(f)]
    return "\n".join(lines)


def make_report(outcomes: dict[str, str], ids: list[str]) -> str:
    """Make the part of docs/keras.md below its marker."""
    reasons = known_failures()
    failed: dict[str, list[str]] = defaultdict(list)
    for nodeid in ids:
        if outcomes.get(nodeid) != "passed" and is_target(folder_of(nodeid)):
            failed[reason_for(nodeid, reasons)].append(nodeid)
    lines = [make_table(outcomes, ids), "", "Tests that fail in the folders about training:", ""]
    lines += ["| tests | why | which |", "|---:|---|---|"]
    for why, nodeids in sorted(failed.items(), key=lambda item: -len(item[1])):
        places = sorted({i.partition("::")[0] for i in nodeids})
        lines.append(f"| {len(nodeids)} | {why} | {', '.join(f'`{p}`' for p in places)} |")
    return "\n".join(lines) + "\n"


def known_failures() -> list[tuple[str, str]]:
    """Parts of ids, with the reason why such tests fail."""
    lines = (WHEEL / "failures.txt").read_text().splitlines()
    pairs = [line.split("  ", 1) for line in lines if line and not line.startswith("#")]
    return [(part, reason.strip()) for part, reason in pairs]


def reason_for(nodeid: str, reasons: list[tuple[str, str]]) -> str:
    """The reason of the first entry whose part is in the id."""
    return next((why for part, why in reasons if part in nodeid), "not investigated")


def write_report(outcomes: dict[str, str], ids: list[str]) -> None:
    """Write the results to docs/keras.md, below its marker."""
    text = TABLE.read_text().partition(MARK)[0]
    TABLE.write_text(f"{text}{MARK}\n\n{make_report(outcomes, ids)}")


def main() -> int:
    """Run the tests that the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("places", nargs="*", help="folders, files or ids below keras/src")
    parser.add_argument("-v", "--verbose", action="store_true", help="show pytest's reports")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth test only")
    parser.add_argument("--outcomes", type=Path, help="write `outcome id` lines into this file")
    parser.add_argument("--table", type=Path, help="run nothing: write the table from such a file")
    parser.add_argument(
        "--again", type=Path, help="only tests that did not pass according to such a file"
    )
    parser.add_argument(
        "--least", type=float, default=0, help="fail below this percentage of passes"
    )
    arguments = parser.parse_args()
    excluded = exclusions()
    every = passes_on_tensorflow()
    ids = [i for i in every if not is_under(i, excluded)]
    if arguments.table:
        rows = [text.split("\t") for text in arguments.table.read_text().splitlines()]
        write_report({nodeid: outcome for outcome, nodeid in rows}, every)
        return 0
    if arguments.places:
        ids = [i for i in ids if is_under(i, arguments.places)]
    if arguments.again:
        lines = [line.partition("\t") for line in arguments.again.read_text().splitlines()]
        passed = {nodeid for outcome, _, nodeid in lines if outcome == "passed"}
        ids = [i for _, _, i in lines if i not in passed]
    ids = ids[:: arguments.sample]
    outcomes: dict[str, str] = {}
    for name, group in group_by_process(ids).items():
        results = run_group(group, arguments.verbose)
        outcomes.update(results)
        n = sum(outcome == "passed" for outcome in results.values())
        print(f"{name}: {n} of {len(group)}", flush=True)
        if arguments.outcomes:
            with arguments.outcomes.open("a") as file:
                file.writelines(f"{outcome}\t{nodeid}\n" for nodeid, outcome in results.items())
    n = sum(outcome == "passed" for outcome in outcomes.values())
    print(f"together: {n} of {len(ids)}")
    if not (arguments.places or arguments.again) and arguments.sample == 1:
        write_report(outcomes, every)
    return int(100 * n < arguments.least * len(ids))


if __name__ == "__main__":
    sys.exit(main())
