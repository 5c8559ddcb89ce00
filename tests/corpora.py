"""Run recorded cases of `tests/conformance` in a process of their own, and read the verdict.

A runner captures file descriptors, sets alarms and changes global state. A run counts only if it
came to its end and judged as many cases as were asked for.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "conformance"
KNOWN_DEVIATION = {"image/resize_bilinear/second_order"}  # of ops: docs/deviations.md
LIMIT = 3000  # seconds; a run that takes longer hangs


class Verdict(NamedTuple):
    """The outcome of a run.

    Attributes:
        count: how many cases were judged.
        failing: the complaint about each failing case, by id.
        rest: what was printed after the verdict.
    """

    count: int
    failing: dict[str, str]
    rest: str


@cache
def list_cases(corpus: str) -> list[dict[str, Any]]:
    """The records of a corpus, `tape` or `ops`."""
    with (FOLDER / corpus / "public.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def area_of(case: str) -> str:
    """The part of an id before the slash."""
    return case.split("/")[0]


def list_areas(corpus: str) -> list[str]:
    """The areas of a corpus, each once."""
    return list(dict.fromkeys(area_of(case["id"]) for case in list_cases(corpus)))


def run_corpus(corpus: str, *arguments: str, launcher: tuple[str, ...] = ()) -> Verdict:
    """Run the cases that `arguments` select; `launcher` is a script that runs the runner."""
    command = [sys.executable, *launcher, str(FOLDER / corpus / "run.py")]
    command += ["--module", "gradtape", "--verbose", *arguments]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=LIMIT, check=False
    )
    verdict = re.search(r"^(\d+) passed, (\d+) failed\n", done.stdout, re.MULTILINE)
    if verdict is None:
        raise AssertionError(
            f"The runner did not finish:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    failing = read_complaints(done.stdout[: verdict.start()])
    assert len(failing) == int(verdict[2])
    return Verdict(int(verdict[1]) + int(verdict[2]), failing, done.stdout[verdict.end() :])


def read_complaints(printed: str) -> dict[str, str]:
    """What the runner says about each failing case."""
    failing: dict[str, str] = {}
    case = ""
    for line in printed.splitlines():
        if line.startswith("FAIL "):
            case = line.split()[1]
            failing[case] = ""
        elif case and line.startswith("    "):
            failing[case] += line + "\n"
        else:
            case = ""
    return failing
