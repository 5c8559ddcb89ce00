"""A sample of failures of workers; `python -m tests.tf.distribute.failure_run` tries them all."""

import pytest

from tests.tf.distribute.failure_run import STEPS, find_problems, run_program


@pytest.fixture(scope="module")
def undisturbed():
    outcome = run_program(2)
    assert len(outcome.losses) == 2 * STEPS, outcome.text
    return outcome


@pytest.mark.xdist_group("workers")
@pytest.mark.parametrize(
    ("kind", "rank", "point"),
    [("kill", 0, 9), ("kill", 1, 8), ("raise", 1, 0), ("exit", 0, 10), ("stop", 1, 9)],
)
def test_survivors_get_an_error_and_the_restarted_run_has_the_same_losses(
    undisturbed, kind, rank, point
):
    outcome = run_program(2, f"{kind} {rank} {point}")
    assert find_problems(undisturbed, outcome, 2, kind, rank) == [], outcome.text


@pytest.mark.xdist_group("workers")
def test_workers_have_equal_losses_and_those_of_one_process(undisturbed):
    alone = run_program(1)
    for step in range(STEPS):
        assert undisturbed.losses[0, step] == undisturbed.losses[1, step]
        assert undisturbed.losses[0, step] == pytest.approx(alone.losses[0, step], rel=1e-5)
    assert undisturbed.weights[0] == undisturbed.weights[1]
