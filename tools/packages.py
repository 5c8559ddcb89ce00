"""Run programs of other packages on gradtape and on TensorFlow, and write docs/ecosystem.md.

    python tools/packages.py --python VENV/bin/python [--tensorflow VENV/bin/python]

`--python` has the packages of the table, Keras and gradtape, but not TensorFlow. Install packages
that depend on TensorFlow with `pip install --no-deps`. `--tensorflow` has the packages and
TensorFlow; the output of each program is compared with what it prints there.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tools" / "package_programs"
PAGE = ROOT / "docs" / "ecosystem.md"
SECONDS = 300


class Package(NamedTuple):
    """A row: the pinned version, its program, and what is known to be missing."""

    name: str
    version: str
    program: str
    missing: str = ""


PACKAGES = (
    Package("autoray", "0.11.0", "autoray"),
    Package("deepxde", "1.15.0", "deepxde"),
    Package("dm-sonnet", "2.0.2", "dm_sonnet", "`tf.function(f)._decorate`, cuDNN's LSTM"),
    Package("eagerpy", "0.30.0", "eagerpy"),
    Package("einops", "0.8.2", "einops"),
    Package("foolbox", "3.3.4", "foolbox"),
    Package("gpflow", "2.11.2", "gpflow", "natural gradients: they need the optimizers of Keras 2"),
    Package("keras-rs", "0.4.0", "keras_rs", "embeddings on TPUs"),
    Package("kymatio", "0.3.0", "kymatio", "needs scipy<1.17"),
    Package("pennylane", "0.45.1", "pennylane"),
    Package("POT", "0.9.7.post1", "pot"),
    Package(
        "tensorflow-probability",
        "0.25.0",
        "tensorflow_probability",
        "auto-batching; samples of gamma variates come from the algorithm for accelerators",
    ),
    Package("tensorly", "0.10.0", "tensorly"),
)


def run_program(command: list[str], package: Package) -> tuple[bool, str]:
    """Run a program; return whether it ended well, and its last line."""
    path = PROGRAMS / f"{package.program}_program.py"
    env = {**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    env.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    try:
        done = subprocess.run(
            [*command, str(path)], capture_output=True, text=True, timeout=SECONDS, env=env
        )
    except subprocess.TimeoutExpired:
        return False, f"did not end within {SECONDS} s"
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else ""


def describe_result(package: Package, python: str, tensorflow: str | None) -> str:
    """Run the program of a package; return a word for the table."""
    passed, said = run_program([python, "-m", "gradtape", "run"], package)
    if not passed:
        return f"fails: {said[:100]}"
    if tensorflow is None:
        return "runs"
    known, expected = run_program([tensorflow], package)
    if not known:
        return "runs; not compared"
    return "runs, same output" if said == expected else "runs, other output"


def write_page(rows: list[tuple[Package, str]]) -> None:
    """Write the page with the table."""
    lines = [
        "# Other packages on gradtape",
        "",
        "Packages written for TensorFlow run on gradtape under `gradtape run` or after `gradtape.install()`.",
        "`tools/packages.py` runs a short program of documented use for each (`tools/package_programs/`), compares its output with",
        "TensorFlow's where TensorFlow has the package, and writes this page.",
        "",
        "| package | version | program | missing |",
        "|---|---|---|---|",
    ]
    lines += [f"| {p.name} | {p.version} | {result} | {p.missing} |" for p, result in rows]
    lines += [
        "",
        "## Install them",
        "",
        "Some packages declare TensorFlow as a dependency. Install those with `pip install --no-deps`, and their other dependencies by name.",
        "",
        "## Private modules",
        "",
        "`src/gradtape/dropin/private_name.py` lists the private modules of TensorFlow that exist, and who imports them. Any other private",
        "module is an error. `tf_keras` is Keras 3: Keras 2 does not run on gradtape.",
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
        result = describe_result(package, options.python, options.tensorflow)
        print(f"{package.name}: {result}", flush=True)
        rows.append((package, result))
    write_page(rows)


if __name__ == "__main__":
    main()
