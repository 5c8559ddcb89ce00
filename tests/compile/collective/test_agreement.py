"""Workers compare the collectives of compiled graphs; the error names the first that differs."""

import numpy as np
import pytest

from gradtape.compile.collective.agreement import announce_collectives
from gradtape.core.errors import InvalidArgumentError
from tests.compile.collective.in_threads import run_workers

PROGRAM = ["train_step", "all_reduce of 2 tensors (node 3)", "all_reduce of 1 tensors (node 7)"]


def run_with(program):
    def run(group):
        group.announce(program(group.rank))
        return [float(group.all_reduce([np.ones(2)])[0][0]) for _ in range(2)]

    return run_workers(3, run)


def test_equal_programs_agree():
    assert run_with(lambda rank: PROGRAM) == [[3, 3]] * 3


def test_numbers_of_nodes_may_differ():
    other = [line.replace("node 3", "node 4") for line in PROGRAM]
    assert run_with(lambda rank: other if rank == 1 else PROGRAM) == [[3, 3]] * 3


def test_a_worker_without_a_program_is_not_compared():
    assert run_with(lambda rank: [] if rank == 1 else PROGRAM) == [[3, 3]] * 3


@pytest.mark.parametrize(
    ("program", "difference"),
    [
        ([*PROGRAM[:1], "broadcast (node 3)", *PROGRAM[2:]], "collective 1 of train_step is"),
        (PROGRAM[:2], "`the end of the graph`"),
        ([*PROGRAM, "all_reduce (node 9)"], "collective 3 of train_step is"),
        (["test_step", *PROGRAM[1:]], "the function is"),
    ],
)
def test_the_first_difference_is_named_on_every_worker(program, difference):
    for error in run_with(lambda rank: program if rank == 2 else PROGRAM):
        assert isinstance(error, InvalidArgumentError)
        assert difference in str(error)
        assert "worker 2" in str(error)


class Node:
    """A node of a graph, as far as the announcement reads it."""

    def __init__(self, name, key):
        self.op = type("Op", (), {"name": name, "key": key})
        self.args = self.outs = (0, 1)


def test_only_collectives_of_a_graph_are_announced():
    collective = type("Primitive", (), {"is_effect": True})

    def announce(group):
        key = (collective, (("reduction", "SUM"), ("group", group)))
        announce_collectives("step", [Node("print", "x"), Node("all_reduce", key)])
        return group.program

    expected = ["step", "all_reduce of 2 tensors, reduction=SUM (node 1)"]
    assert run_workers(2, announce) == [expected, expected]
