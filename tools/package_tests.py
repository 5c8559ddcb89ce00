"""Run the tests of other packages on TensorFlow and on gradtape, and record how many pass.

    python tools/package_tests.py --sources FOLDER --python VENV/bin/python \
        --tensorflow VENV/bin/python [package ...]

`--python` has the packages, Keras, pytest and pytest-timeout, but not TensorFlow; `--tensorflow`
has TensorFlow as well. FOLDER has a folder for each package of `SUITES` with its tests, from the
source distribution or the repository at the version that is installed. The tests that pass on
TensorFlow count. The results go into `tools/package_tests.tsv`, which `tools/packages.py` shows.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "tools" / "package_tests.tsv"
SECONDS = 3600
PLUGIN = """
import os

def write(word, nodeid):
    with open(os.environ["PACKAGE_OUTCOMES"], "a") as file:
        file.write(f"{word}\\t{nodeid}\\n")

def pytest_runtest_logreport(report):
    if report.failed or report.when == "call":
        write(report.outcome, report.nodeid)
"""


class Suite(NamedTuple):
    """Tests of a package: arguments of pytest below its folder, and settings."""

    package: str
    arguments: str
    settings: str = ""


SUITES = (
    Suite("autoray", "tests -k tensorflow"),
    Suite("dm-sonnet", "sonnet/src"),
    Suite("eagerpy", "tests --backend tensorflow"),
    Suite("einops", "einops/tests", "EINOPS_TEST_BACKENDS=tensorflow"),
    Suite("fairlearn", "test/unit/adversarial"),
    Suite("foolbox", "tests --backend tensorflow"),
    Suite("keras-rs", "keras_rs"),
    Suite("kymatio", "tests -k 'tensorflow or keras'"),
    Suite("ncps", "ncps/tests/test_tf.py ncps/tests/test_keras.py"),
    Suite("pennylane", "tests/math tests/gradients tests/measurements -m tf"),
    Suite("POT", "test -k tf"),
    Suite("pymanopt", "tests/backends/test_tensorflow.py"),
    Suite("tensorly", "tensorly", "TENSORLY_BACKEND=tensorflow"),
    Suite("tf-explain", "tests"),
    Suite("tf-keras-vis", "tests"),
)


def run_suite(suite: Suite, python: str, sources: Path, on_gradtape: bool) -> set[str]:
    """Run the tests of a package; return the ids that pass, without memory addresses."""
    import shlex

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "package_outcomes.py").write_text(PLUGIN)
        log = Path(folder, "outcomes")
        log.touch()
        paths = [folder, *([str(ROOT / "src")] if on_gradtape else [])]
        environment = {
            **os.environ,
            **dict(pair.split("=") for pair in suite.settings.split()),
            "GRADTAPE_INSTALL": "1" if on_gradtape else "0",
            "KERAS_BACKEND": "tensorflow",
            "MPLBACKEND": "agg",
            "PACKAGE_OUTCOMES": str(log),
            "PYTHONPATH": os.pathsep.join(paths),
            "TF_ENABLE_ONEDNN_OPTS": "0",
        }
        plugins = ["-p", "package_outcomes", *(["-p", "gradtape"] if on_gradtape else [])]
        command = [
            *(python, "-m", "pytest", "-q", "-W", "ignore", "--tb=no", "--timeout=120"),
            *("-p", "no:cacheprovider", "--continue-on-collection-errors"),
            *plugins,
            *shlex.split(suite.arguments),
        ]
        try:
            subprocess.run(
                command,
                cwd=sources / suite.package,
                env=environment,
                stdout=subprocess.DEVNULL,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            print(f"{suite.package}: stopped after {SECONDS} s", flush=True)
        rows = [line.split("\t", 1) for line in log.read_text().splitlines()]
    failed = {nodeid for outcome, nodeid in rows if outcome == "failed"}
    passed = {nodeid for outcome, nodeid in rows if outcome == "passed"} - failed
    return {re.sub(r"0x[0-9a-f]+", "0x", nodeid) for nodeid in passed}


def read_results() -> dict[str, list[str]]:
    """The recorded rows by package."""
    rows = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {row.split("\t")[0]: row.split("\t") for row in rows if not row.startswith("#")}


def write_results(rows: dict[str, list[str]]) -> None:
    """Write the rows, sorted by package."""
    head = "# package, tests that pass on TensorFlow, of these on gradtape, commit, remark"
    ordered = [rows[name] for name in sorted(rows, key=str.lower)]
    RESULTS.write_text("\n".join([head, *("\t".join(row) for row in ordered)]) + "\n")


def main() -> None:
    """Run the suites that the command line names, by default all, and record the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", help="names of packages")
    parser.add_argument("--sources", type=Path, required=True, help="folder with the tests")
    parser.add_argument("--python", required=True, help="interpreter with the packages")
    parser.add_argument("--tensorflow", required=True, help="interpreter with TensorFlow as well")
    options = parser.parse_args()
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    rows = read_results()
    for suite in SUITES:
        if options.packages and suite.package not in options.packages:
            continue
        wanted = run_suite(suite, options.tensorflow, options.sources, on_gradtape=False)
        passed = wanted & run_suite(suite, options.python, options.sources, on_gradtape=True)
        remark = rows.get(suite.package, [""] * 5)[4]
        rows[suite.package] = [suite.package, str(len(wanted)), str(len(passed)), commit, remark]
        print(f"{suite.package}: {len(passed)} of {len(wanted)}", flush=True)
        for nodeid in sorted(wanted - passed):
            print(f"    {nodeid}")
        write_results(rows)


if __name__ == "__main__":
    main()
