"""The source of the plans that run the calls of a `tf.function`."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import Any

from gradtape.graph.subgraph import Body
from gradtape.jit.function import Function
from gradtape.jit.guard_tree import GuardTree, Segment
from gradtape.jit.specialization import Specialization

FORMS = ("run", "run_for_commit")  # functions of a plan; they are generated on first use
NOT_COMPILED = "# not compiled yet"
# Names of all plans; the glossary of a plan leaves them out
COMMON_NAMES = {"IGNORE_ALL", "set_float_errors", "reset_float_errors", "explain_kernel_error"}


def describe_object(value: Any) -> str:
    """A short text for an object that generated code refers to."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def function_source(function: Function, backward: bool) -> str:
    """The plans of a function, one after the other, each with a title.

    Args:
        function: the function.
        backward: whether to return the plans of gradients instead: forward and backward.

    Returns:
        The source. Without a call so far, a comment.
    """
    parts = []
    for known in function.list_specializations():
        name = f"{function.name}{known.leaf_keys if known.call_specs is None else known.call_specs}"
        texts = gradient_sources(known) if backward else call_sources(known)
        parts += [f"# {name}: {title}\n{text}" for title, text in texts]
    return "\n\n".join(parts) or f"# {function.name}: no plan, because no call needed one"


def call_sources(known: Specialization) -> Iterator[tuple[str, str]]:
    """Titles and sources of the plans of calls without tapes."""
    if known.eager_reason:
        yield "calls run the Python function", f"# {known.eager_reason}"
    elif known.tree is not None and known.only_path is None:
        yield from tree_sources(known.tree)
    elif known.executable is not None:
        yield from plan_sources("plan", known.executable.plan)
    else:
        yield "plan", NOT_COMPILED


def gradient_sources(known: Specialization) -> Iterator[tuple[str, str]]:
    """Titles and sources of the plans of calls under a tape."""
    paths = [] if known.tree is None else known.tree.all_paths
    for path in paths:
        for (places, _), joint in path.forward_backward_cache.items():
            wanted = f"for the gradients of inputs {list(places)}"
            yield from plan_sources(f"forward plan {wanted}", joint._forward)
            yield from plan_sources(f"backward plan {wanted}", joint._backward)


def tree_sources(tree: GuardTree) -> Iterator[tuple[str, str]]:
    """Titles and sources of the segments between guards."""
    waiting: list[tuple[str, Segment]] = [("from the start", tree.root)]
    while waiting:
        where, segment = waiting.pop(0)
        title = f"segment {where}"
        if segment.guard is not None:
            title += f", up to the guard on v{segment.guard[0]}"
        if segment.plan is None:
            yield title, "# no ops" if not segment.nodes else NOT_COMPILED
        else:
            yield from plan_sources(title, segment.plan[0])
        number = "" if segment.guard is None else f"v{segment.guard[0]}"
        waiting += [(f"where {number} is {seen}", one) for seen, one in segment.children.items()]


def plan_sources(title: str, plan: Any) -> Iterator[tuple[str, str]]:
    """Titles and sources of a plan, and of the bodies of its loops and branches."""
    made = [vars(plan)[form] for form in FORMS if form in getattr(plan, "__dict__", ())]
    functions = [f.args[0] if isinstance(f, partial) else f for f in made or [plan]]
    functions = [f for f in functions if isinstance(f, FunctionType)]
    if not functions:
        yield title, plan.pretty() if hasattr(plan, "pretty") else NOT_COMPILED
    for function in functions:
        names = names_of(function)
        shown = [f"# {name} = {describe_object(value)}" for name, value in names.items()]
        lines = linecache.getlines(function.__code__.co_filename)
        yield title, "\n".join([*shown, "".join(lines).rstrip()])
        for name, body in bodies_in(names):
            yield from plan_sources(f"{title}, body {name}", body._plan._run)


def names_of(function: FunctionType) -> dict[str, Any]:
    """What the names of a generated function stand for."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    names = zip(function.__code__.co_freevars, values, strict=True)
    return {name: value for name, value in names if name not in COMMON_NAMES}


def bodies_in(names: dict[str, Any]) -> Iterator[tuple[str, Body]]:
    """The bodies of loops and branches among the values, by name."""
    for name, value in names.items():
        if isinstance(value, Body):
            yield name, value
        elif isinstance(value, tuple):
            for i, one in enumerate(value):
                if isinstance(one, Body):
                    yield f"{name}[{i}]", one
