"""MultiWorkerMirroredStrategy: 2 and 4 processes train as one process does."""

from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from tests.tf.distribute.launching import launch

CUSTOM_LOOP = Path(__file__).with_name("custom_loop.py")

pytestmark = pytest.mark.xdist_group("workers")


@pytest.fixture(scope="module")
def alone():
    return launch(1, CUSTOM_LOOP)[0]


@pytest.mark.parametrize("workers", [2, 4])
def test_processes_have_the_losses_of_one(alone, workers):
    results = launch(workers, CUSTOM_LOOP)
    for result in results:
        assert result["replicas"] == workers
        assert result["rows"] == alone["rows"] == 200
        assert result["losses"] == results[0]["losses"]
        assert result["weights"] == results[0]["weights"]
        np.testing.assert_allclose(result["losses"], alone["losses"], rtol=1e-5)
        np.testing.assert_allclose(result["weights"], alone["weights"], rtol=1e-5)


def test_workers_agree_on_the_end_of_data():
    """Worker 0 has 34 rows, the others 33: it has one batch more than they."""
    results = launch(3, CUSTOM_LOOP, "function", environment={"BATCH": "3"})
    for result in results:
        assert result["losses"] == results[0]["losses"]
        assert result["rows"] == 200


FILE_ROWS = Path(__file__).with_name("file_rows.py")
# The rows of two workers in each step, as TensorFlow 2.21 has them; file i has the lines
# 100 i, 100 i + 1, … of which there are 5 + i.
EXPECTED_ROWS = {
    (4, "FILE", "reader"): (
        [[0, 1], [2, 3], [4, 200], [201, 202], [203, 204], [205, 206], []],
        [[100, 101], [102, 103], [104, 105], [300, 301], [302, 303], [304, 305], [306, 307]],
    ),
    (4, "AUTO", "interleave"): (
        [[0, 200], [1, 201], [2, 202], [3, 203], [4, 204], [205, 206], []],
        [[100, 300], [101, 301], [102, 302], [103, 303], [104, 304], [105, 305], [306, 307]],
    ),
    (3, "FILE", "flat_map"): (
        [[1, 2], [3, 4], [201, 202], [203, 204], [205, 206]],
        [[101, 102], [103, 104], [105], [], []],
    ),
    (2, "DATA", "reader"): (
        [[0, 1], [4, 100], [103, 104]],
        [[2, 3], [101, 102], [105]],
    ),
    (2, "OFF", "reader"): ([[0, 1], [2, 3], [4, 100], [101, 102], [103, 104], [105]],) * 2,
    # TensorFlow fails if there are fewer files than workers.
    (1, "AUTO", "reader"): ([[0, 1], [4]], [[2, 3], []]),
}


@pytest.mark.parametrize(("files", "policy", "pipeline"), EXPECTED_ROWS)
def test_policies_divide_files_or_rows(files, policy, pipeline, tmp_path):
    for i in range(files):
        (tmp_path / f"{i}.txt").write_text("".join(f"{100 * i + j}\n" for j in range(5 + i)))
    results = launch(2, FILE_ROWS, str(tmp_path), policy, pipeline)
    rows = EXPECTED_ROWS[files, policy, pipeline]
    assert results == [[rows[0], ""], [rows[1], ""]]


def test_the_policy_file_needs_files(tmp_path):
    assert launch(2, FILE_ROWS, str(tmp_path), "FILE", "memory") == [[[], "NotFoundError"]] * 2


def test_different_graphs_are_an_error_on_both_workers():
    for result in launch(2, Path(__file__).with_name("different_graphs.py")):
        assert result["first"] == 4
        error, message = result["problem"]
        assert error == "InvalidArgumentError"
        assert "must call the same collectives" in message


def test_without_tf_config_there_is_one_worker(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1
    assert strategy.cluster_resolver.task_type is None
    assert isinstance(tf.distribute.experimental.MultiWorkerMirroredStrategy(), type(strategy))


PREEMPTED = """
import json, os, signal, sys
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
resolver = strategy.cluster_resolver
with strategy.scope():
    w = tf.Variable(0.0)
handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    resolver, tf.train.Checkpoint(w=w), sys.argv[1]
)
started = handler.total_run_calls

def replica_step():
    context = tf.distribute.get_replica_context()
    w.assign_add(context.all_reduce("SUM", tf.constant(1.0)))

@tf.function
def step():
    strategy.run(replica_step)

for i in range(started, 10):
    if resolver.task_id == 1 and i == 4 and os.environ["GRADTAPE_RESTART"] == "0":
        os.kill(os.getpid(), signal.SIGTERM)
    handler.run(step)
result = {"started": started, "runs": handler.total_run_calls, "w": float(w.numpy())}
print("RESULT", json.dumps(result), flush=True)
"""


def test_a_preempted_worker_makes_all_save_and_the_restart_continues(tmp_path):
    program = tmp_path / "preempted.py"
    program.write_text(PREEMPTED)
    results = launch(2, program, str(tmp_path / "checkpoints"), restarts=1)
    assert results == [{"started": 5, "runs": 10, "w": 20.0}] * 2
