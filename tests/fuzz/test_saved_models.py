"""The fuzzer of saved models: a quick run, and that its watch sees what it should."""

import os
import subprocess
import sys

import pytest

from tests.fuzz.saved_models import ROOT, main


def test_mutated_models_do_no_harm(capfd):
    status = main(["--runs", "200", "--seed", "0"])
    said = capfd.readouterr().out
    assert "200 runs" in said
    assert status == 0, said
    assert "works" in said  # some mutations are harmless


FORBIDDEN = {
    "write": "open('written', 'w')",
    "append": "open(target + '/inside', 'a')",
    "read": "open(os.path.dirname(target) + '/outside')",
    "system": "os.system('true')",
    "spawn": "subprocess.Popen(['true'])",
    "remove": "os.remove('missing')",
    "socket": "socket.socket()",
    "source": "exec('1 + 1 # zq_fuzz_marker')",
    "compile": "compile('zq_fuzz_marker', '<gradtape plan>', 'exec')",
    "import": "__import__('zq_fuzz_marker')",
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_the_watch_reports(name, tmp_path):
    code = (
        "import os, socket, subprocess, sys\n"
        "from tests.fuzz.saved_models import Watch\n"
        f"target = {str(tmp_path / 'model')!r}\n"
        "watch = Watch('zq_fuzz_marker')\n"
        "watch.start(target)\n"
        f"try: {FORBIDDEN[name]}\n"
        "except Exception: pass\n"
        "print(len(watch.stop()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) >= 1


def test_the_watch_allows_the_files_of_the_model(tmp_path):
    (tmp_path / "inside").write_text("")
    code = (
        "from tests.fuzz.saved_models import Watch\n"
        f"watch = Watch('zq_fuzz_marker')\nwatch.start({str(tmp_path)!r})\n"
        f"open({str(tmp_path / 'inside')!r}).close()\nimport decimal\n"
        "print(watch.stop())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
