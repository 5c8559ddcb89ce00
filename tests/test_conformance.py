"""Recorded cases of TensorFlow 2.21: tensors, variables and tapes.

The cases and their runner are in `tests/conformance/tape`. Each area runs once in a subprocess,
because its programs capture file descriptors, set alarms and change global state. Every case is a
test, so that a failure names its id.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "conformance" / "tape"


def core_cases():
    """Ids of the cases that the runner selects for `--needs core`."""
    with (FOLDER / "public.jsonl").open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return [c["id"] for c in cases if c["needs"] == [] and "deviation" not in c]


def area_of(case):
    return case.split("/")[0]


CASES = core_cases()


@cache
def failures_of(area):
    """The error message of each failing case of an area, by id."""
    command = [sys.executable, str(FOLDER / "run.py"), "--module", "gradtape", "--needs", "core"]
    command += ["--only", f"{area}/", "--verbose"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    failing, case = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("FAIL "):
            case = line.removeprefix("FAIL ")
            failing[case] = ""
        elif case and line.startswith("    "):
            failing[case] += line + "\n"
        else:
            case = None
    cases = [case for case in CASES if area_of(case) == area]
    verdict = f"{len(cases) - len(failing)} passed, {len(failing)} failed"
    if done.stdout.splitlines()[-1:] != [verdict]:
        end = f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return dict.fromkeys(cases, f"The runner did not finish:\n{end}")
    return failing


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.xdist_group(area_of(case))) for case in CASES],
)
def test_case_behaves_as_in_tensorflow(case):
    failing = failures_of(area_of(case))
    assert case not in failing, f"{case}\n{failing[case]}"


def test_no_case_is_missing():
    assert len(CASES) == 800
    assert len(set(CASES)) == len(CASES)
