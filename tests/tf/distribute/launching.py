"""Runs programs in several processes, on gradtape by its launcher and on TensorFlow."""

import json
import os
import subprocess
import sys

from gradtape.compile.collective.address import choose_ports

SECONDS = 240


def launch(workers, program, *arguments, environment=None, restarts=0):
    """What each worker printed after RESULT, by rank, with `gradtape launch`."""
    command = [sys.executable, "-m", "gradtape", "launch", "-n", str(workers)]
    done = subprocess.run(
        [*command, "--restarts", str(restarts), str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={"OMP_NUM_THREADS": "1", **os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        name, _, text = line.partition("] RESULT ")
        if text:
            found[int(name.split()[-1])] = json.loads(text)
    assert sorted(found) == list(range(workers)), done.stdout + done.stderr
    return [found[rank] for rank in range(workers)]


def run_on_tensorflow(workers, program, *arguments):
    """What each worker printed after RESULT, by rank, with TensorFlow of this interpreter."""
    addresses = [f"127.0.0.1:{port}" for port in choose_ports(workers)]
    processes = []
    try:
        for rank in range(workers):
            task = {"type": "worker", "index": rank}
            config = json.dumps({"cluster": {"worker": addresses}, "task": task})
            processes.append(
                subprocess.Popen(
                    [sys.executable, str(program), *arguments],
                    env={**os.environ, "TF_CONFIG": config},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        outputs = [process.communicate(timeout=SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    results = []
    for out, problems in outputs:
        texts = [line.removeprefix("RESULT ") for line in out.splitlines() if "RESULT" in line]
        assert texts, problems
        results.append(json.loads(texts[0]))
    return results
