"""`gradtape launch`: names of workers in front of lines, statuses, restarts, signals."""

import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import json, os, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
restart = os.environ["GRADTAPE_RESTART"]
print("task", task["type"], task["index"], "restart", restart, *sys.argv[1:], flush=True)
what = sys.argv[1]
if what == "once" and restart == "0" and task["index"] == 1:
    sys.exit(7)
if what == "always" and task["index"] == 1:
    sys.exit(7)
if what == "killed" and task["index"] == 0:
    os.kill(os.getpid(), 9)
if what == "sleep":
    time.sleep(300)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def launch(*arguments):
    command = [sys.executable, "-m", "gradtape", "launch", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_each_line_names_its_worker(program):
    done = launch("-n", "3", program, "well", "-n", "x")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        f"[worker {i}] task worker {i} restart 0 well -n x" for i in range(3)
    ]


def test_a_failure_is_the_status_of_the_launcher(program):
    done = launch("-n", "2", program, "always")
    assert done.returncode == 7
    assert "[launch] worker 1 failed: exit status 7" in done.stderr


def test_all_workers_restart(program):
    done = launch("-n", "2", "--restarts", "2", program, "once")
    assert done.returncode == 0
    for i in range(2):
        assert f"[worker {i}] task worker {i} restart 1" in done.stdout
    assert "restart 2" not in done.stdout


def test_a_killed_worker_is_named_after_the_last_restart(program):
    done = launch("-n", "2", "--restarts", "1", program, "killed")
    assert done.returncode == 128 + signal.SIGKILL
    assert done.stderr.count("worker 0 failed: ended by SIGKILL") == 2


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_all_workers(program, number, status):
    command = [sys.executable, "-m", "gradtape", "launch", "-n", "2", program, "sleep"]
    launcher = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        for _ in range(2):
            assert "task worker" in launcher.stdout.readline()
        workers = find_children(launcher.pid)
        assert len(workers) == 2
        launcher.send_signal(number)
        launcher.communicate(timeout=60)
        assert launcher.returncode == status
    finally:
        launcher.kill()
        launcher.communicate()
    deadline = time.monotonic() + 10
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))


def find_children(parent):
    """The processes that a process has started."""
    path = f"/proc/{parent}/task/{parent}/children"
    if not os.path.exists(path):
        pytest.skip("the system does not list the children of a process")
    with open(path) as listing:
        return [int(word) for word in listing.read().split()]


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_without_a_program_there_is_a_message():
    done = launch("-n", "2")
    assert done.returncode == 2
    assert "must be named" in done.stderr
