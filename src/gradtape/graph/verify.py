"""Checks of a graph's invariants, for tests and for the development of passes."""

from __future__ import annotations

from gradtape.graph.graph import Constant, Graph


def verify(graph: Graph) -> None:
    """Check that every value is computed once, before it is read, and has a spec.

    Raises:
        AssertionError: if one is not; the message names the value.
    """
    made = set(graph.inputs)
    assert len(made) == len(graph.inputs), f"an input is listed twice: {graph.inputs}"
    for node in graph.nodes:
        for operand in node.inputs:
            assert type(operand) is Constant or operand in made, (
                f"{node.op.name} reads {operand} before it is computed"
            )
        for number in node.outputs:
            assert number not in made, f"{number} is computed twice"
            assert number in graph.specs, f"{number} has no spec"
            made.add(number)
    for operand in graph.outputs:
        assert type(operand) is Constant or operand in made, f"output {operand} is never computed"
