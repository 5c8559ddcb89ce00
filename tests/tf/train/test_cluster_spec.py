"""tf.train.ClusterSpec: values and errors as TensorFlow 2.21 has them."""

import pytest

import gradtape as tf

SPEC = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {0: "c:1", 3: "d:2"}})


def test_tasks_and_addresses():
    assert SPEC.as_dict() == {"worker": ["a:1", "b:2"], "ps": {0: "c:1", 3: "d:2"}}
    assert SPEC.jobs == ["worker", "ps"]
    assert SPEC.num_tasks("ps") == 2
    assert SPEC.task_indices("ps") == [0, 3]
    assert SPEC.job_tasks("ps") == ["c:1", None, None, "d:2"]
    assert SPEC.task_address("ps", 3) == "d:2"
    assert repr(SPEC) == "ClusterSpec({'ps': {0: 'c:1', 3: 'd:2'}, 'worker': ['a:1', 'b:2']})"


def test_equality_and_truth():
    assert tf.train.ClusterSpec(SPEC) == SPEC
    assert tf.train.ClusterSpec({"worker": ["a:1"]}) != SPEC
    assert SPEC
    assert not tf.train.ClusterSpec({})


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: SPEC.task_address("ps", 1), ValueError, "No task with index 1 in job 'ps'"),
        (lambda: SPEC.num_tasks("x"), ValueError, "No such job in cluster: 'x'"),
        (lambda: tf.train.ClusterSpec({"a": "b"}), TypeError, "must be a list or a dictionary"),
        (lambda: tf.train.ClusterSpec([1]), TypeError, "`cluster` must be a dictionary"),
        (lambda: tf.train.ClusterSpec({"a": [1]}), TypeError, "Task address 1 must be bytes"),
    ],
)
def test_errors_are_tensorflows(call, error, message):
    with pytest.raises(error, match=message):
        call()
