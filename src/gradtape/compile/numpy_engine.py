"""The numpy engine: one flat generated function that calls a graph's kernels in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.dispatch import quiet, recover
from gradtape.trace.graph import Constant, Effect, Graph, Node, Operand
from gradtape.trace.subgraph import Handed

Plan = Callable[..., tuple[Any, ...]]


def compile_graph(graph: Graph) -> Plan:
    """A function of the graph's raw inputs that returns its raw outputs."""
    space: dict[str, Any] = {"quiet": quiet}
    constants: dict[int, str] = {}

    def name_of(operand: Operand) -> str:
        if type(operand) is int:
            return f"v{operand}"
        assert isinstance(operand, Constant)
        if id(operand.raw) not in constants:
            constants[id(operand.raw)] = f"c{len(constants)}"
            space[constants[id(operand.raw)]] = operand.raw
        return constants[id(operand.raw)]

    nodes = graph.needed()
    last = last_reads(nodes, graph)
    lines = [f"def plan({', '.join(f'v{i}' for i in graph.inputs)}):", "    with quiet():"]
    for k, node in enumerate(nodes):
        space[f"k{k}"] = guarded(node)
        args = [name_of(operand) for operand in node.inputs]
        if node.static:
            space[f"s{k}"] = node.static
            args.append(f"**s{k}")
        outs = ", ".join(f"v{o}" for o in node.outputs)
        call = f"k{k}({', '.join(args)})"
        if not outs:
            lines.append(f"        {call}")
        else:
            lines.append(f"        {outs}{',' if node.op.outputs else ''} = {call}")
        dead = [f"v{i}" for i in last[k]]
        if dead:
            lines.append(f"        del {', '.join(dead)}")
    if not nodes:
        lines.append("        pass")
    lines.append(f"    return ({''.join(name_of(o) + ', ' for o in graph.outputs)})")
    exec(compile("\n".join(lines), "<gradtape plan>", "exec"), space)
    plan: Plan = space["plan"]
    return plan


Handed.compile = compile_graph


def guarded(node: Node) -> Callable[..., Any]:
    """The kernel of a node; errors come out as TensorFlow's."""
    op = node.op
    kernel = op.kernel
    if isinstance(op, Effect):
        return kernel

    def run(*raws: Any, **static: Any) -> Any:
        try:
            return kernel(*raws, **static)
        except Exception as error:
            return recover(error, op, raws, static)

    return run


def last_reads(nodes: list[Node], graph: Graph) -> list[list[int]]:
    """For each node, the values that nobody reads after it."""
    kept = {o for o in graph.outputs if type(o) is int} | set(graph.inputs)
    seen = set(kept)
    last: list[list[int]] = []
    for node in reversed(nodes):
        dead = []
        for number in dict.fromkeys([*node.reads(), *node.outputs]):
            if number not in seen:
                seen.add(number)
                dead.append(number)
        last.append(dead)
    last.reverse()
    return last
