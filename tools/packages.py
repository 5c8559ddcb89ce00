"""Run programs of other packages on gradtape and on TensorFlow, and write docs/ecosystem.md.

    python tools/packages.py --python VENV/bin/python [--tensorflow VENV/bin/python]

`--python` has the packages of the table, Keras and gradtape, but not TensorFlow. Install packages
that depend on TensorFlow with `pip install --no-deps`. `--tensorflow` has the packages and
TensorFlow; the numbers that each program prints are compared with those printed there, to 1e-4.
The table of tests comes from `tools/package_tests.tsv`, which `tools/package_tests.py` writes.
"""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import re
import subprocess
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tools" / "package_programs"
PAGE = ROOT / "docs" / "ecosystem.md"
TESTS = ROOT / "tools" / "package_tests.tsv"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")
TOLERANCE = 1e-4
SECONDS = 300


class Package(NamedTuple):
    """A row: the pinned version, its programs, and what is known to be missing."""

    name: str
    version: str
    programs: str
    missing: str = ""


PACKAGES = (
    Package("autoray", "0.11.0", "autoray"),
    Package("deepxde", "1.15.0", "deepxde"),
    Package("dm-sonnet", "2.0.2", "dm_sonnet", "cuDNN's LSTM, `tf.Graph`"),
    Package("eagerpy", "0.30.0", "eagerpy"),
    Package("einops", "0.8.2", "einops", "`EinMix` in a symbolic Keras model"),
    Package("foolbox", "3.3.4", "foolbox"),
    Package("gpflow", "2.11.2", "gpflow"),
    Package("keras-hub", "0.32.0", "keras_hub", "tokenizers of tensorflow-text"),
    Package("keras-rs", "0.4.0", "keras_rs", "`DistributedEmbedding` in `fit`"),
    Package("keras-tuner", "1.4.8", "keras_tuner"),
    Package("kymatio", "0.3.0", "kymatio", "needs scipy<1.17"),
    Package("pennylane", "0.45.1", "pennylane"),
    Package("POT", "0.9.7.post1", "pot"),
    Package(
        "tensorflow-probability",
        "0.25.0",
        "tensorflow_probability tfp_distribution tfp_bijector tfp_mcmc tfp_inference",
        "auto-batching; samples of gamma variates come from the algorithm for accelerators",
    ),
    Package("tensorly", "0.10.0", "tensorly"),
)


def run_program(command: list[str], program: str) -> tuple[bool, list[str]]:
    """Run a program; return whether it ended well, and its lines, or those of its error."""
    path = PROGRAMS / f"{program}_program.py"
    env = {**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    env.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    try:
        done = subprocess.run(
            [*command, str(path)], capture_output=True, text=True, timeout=SECONDS, env=env
        )
    except subprocess.TimeoutExpired:
        return False, [f"did not end within {SECONDS} s"]
    text = done.stdout if done.returncode == 0 else done.stderr
    return done.returncode == 0, text.strip().splitlines() or [""]


def are_lines_equal(ours: str, theirs: str) -> bool:
    """Whether two lines have equal words and numbers that differ by at most the tolerance."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(
        a == b or abs(float(a) - float(b)) <= TOLERANCE * max(1.0, abs(float(b))) for a, b in pairs
    )


def describe_program(program: str, python: str, tensorflow: str | None) -> str:
    """Run a program on gradtape and on TensorFlow; return a phrase for the table."""
    passed, ours = run_program([python, "-m", "gradtape", "run"], program)
    if not passed:
        return f"fails: {ours[-1][:100]}"
    if tensorflow is None:
        return "runs"
    known, theirs = run_program([tensorflow], program)
    if not known:
        return "runs; fails on TensorFlow"
    same = len(ours) == len(theirs) and all(map(are_lines_equal, ours, theirs))
    return "same numbers" if same else "other numbers"


def describe_package(package: Package, python: str, tensorflow: str | None) -> str:
    """Run the programs of a package; return the phrases for the table, each once."""
    results = [describe_program(p, python, tensorflow) for p in package.programs.split()]
    counts = {phrase: results.count(phrase) for phrase in results}
    return "; ".join(
        f"{n} {phrase}" if len(results) > 1 else phrase for phrase, n in counts.items()
    )


def make_test_table() -> list[str]:
    """The lines of the table of tests."""
    rows = [r.split("\t") for r in TESTS.read_text().splitlines() if r and not r.startswith("#")]
    lines = ["| package | pass on TensorFlow | pass on gradtape | commit | remark |"]
    lines += ["|---|---:|---:|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    both = [sum(int(row[column]) for row in rows) for column in (1, 2)]
    share = f"{100 * both[1] / both[0]:.1f} %"
    return [*lines, f"| **together** | {both[0]} | {both[1]} | | {share} |"]


def write_page(rows: list[tuple[Package, str]]) -> None:
    """Write the page with the tables."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    lines = [
        "# Other packages on gradtape",
        "",
        "Packages written for TensorFlow run on gradtape under `gradtape run`, after `gradtape.install()`, and in an environment with",
        "[`gradtape adopt`](dropin.md#an-environment-without-tensorflow), where pip installs packages that require TensorFlow without it.",
        "",
        "## Programs",
        "",
        "`tools/packages.py` runs programs of documented use (`tools/package_programs/`), compares the numbers that they print with",
        f"TensorFlow's (2.21, to {TOLERANCE:g}), and writes this page. Last run: {datetime.date.today()}, commit {commit}.",
        "",
        "| package | version | programs | missing |",
        "|---|---|---|---|",
        *(f"| {p.name} | {p.version} | {result} | {p.missing} |" for p, result in rows),
        "",
        "## Their own tests",
        "",
        "`tools/package_tests.py` runs the tests of packages on TensorFlow 2.21 and, under the drop-in, on gradtape. The tests that pass on TensorFlow count.",
        "",
        *make_test_table(),
        "",
        "## Private modules",
        "",
        "`src/gradtape/dropin/private_name.py` lists the private modules of TensorFlow that exist, and who imports them. Any other private",
        "module is an error. `tf_keras` is Keras 3, with an `Optimizer` whose first argument is a name: Keras 2 does not run on gradtape.",
        "",
    ]
    PAGE.write_text("\n".join(lines))


def main() -> None:
    """Run all programs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", required=True, help="interpreter with the packages")
    parser.add_argument("--tensorflow", help="interpreter with the packages and TensorFlow")
    options = parser.parse_args()
    rows = []
    for package in PACKAGES:
        result = describe_package(package, options.python, options.tensorflow)
        print(f"{package.name}: {result}", flush=True)
        rows.append((package, result))
    write_page(rows)


if __name__ == "__main__":
    main()
