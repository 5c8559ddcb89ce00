"""Run the programs of `tests/conformance/explain` in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

from tests.corpora import FOLDER, list_cases

RUNNER = FOLDER / "explain" / "run.py"
MODES = {
    "cause and line": ("--breaks", "--then", "--direction", "--message"),
    "repaired": ("--fixed",),
    "half repaired": ("--half",),
}


def list_programs(mode: str, keras: bool) -> list[dict]:
    """The programs that a mode runs, those with Keras or those without."""
    field = {"repaired": "fixed", "half repaired": "half"}.get(mode, "program")
    cases = [case for case in list_cases("explain") if case.get(field)]
    return [case for case in cases if ("keras" in case["needs"]) is keras]


@cache
def find_wrong_answers(mode: str, keras: bool, folder: str) -> dict[str, str]:
    """What the runner says about each program with a wrong answer, by id."""
    cases = list_programs(mode, keras)
    chosen = f"{folder}/cases.jsonl"
    with open(chosen, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(case) + "\n" for case in cases)
    command = [sys.executable, str(RUNNER), "--module", "gradtape", "--cases", chosen, *MODES[mode]]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    lines = done.stdout.splitlines()
    wrong = [line[5:].partition(": ") for line in lines if line.startswith("FAIL ")]
    assert lines[-1] == f"{len(cases) - len(wrong)} passed, {len(wrong)} failed", done.stderr
    return {case: said for case, _, said in wrong}
