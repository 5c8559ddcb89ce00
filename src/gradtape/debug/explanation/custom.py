"""Which gradients a user's gradient function returns as None, and on which line."""

from __future__ import annotations

import ast
from typing import Any

from gradtape.core.tensor import make_tensor
from gradtape.core.user_location import Location
from gradtape.debug.explanation.history import Reason
from gradtape.debug.explanation.source_text import function_at
from gradtape.ops.initial_cotangent import make_ones
from gradtape.ops.shape import zeros


class Line:
    """A location that is known by its line alone, such as that of a `return`."""

    def __init__(self, code: Any, line: int) -> None:
        """A line in the file of `code`."""
        self.co_filename, self.line, self.co_name = code.co_filename, line, code.co_name


def custom_reason(step: Any, code: Any, i: int, location: Location) -> Reason | None:
    """Why the gradient function gives input `i` no gradient; -1 is a tensor by closure."""
    if code is None:  # a gradient of the library's own, such as that of py_function
        if step is None and i >= 0:
            return None
        cause = "custom_gradient_none" if i >= 0 else "py_function"
        if i >= 0 and returns_gradient(step, i):
            return None
        return ("py_function" if i >= 0 else cause), location, None
    function = function_at(code)
    returns = returns_of(function)
    if i >= 0:
        if step is not None:
            if returns_gradient(step, i):
                return None
        elif not any(is_none_at(r, i, function) for r in returns):
            return None
    chosen: Any = next((r for r in returns if is_none_at(r, i, function)), None)
    chosen = chosen or (returns[0] if returns else None)
    if isinstance(function, ast.Lambda):
        chosen = function
    place = (Line(code, chosen.lineno), -1) if chosen is not None else location
    return "custom_gradient_none", place, None  # type: ignore[return-value]


def returns_gradient(step: Any, i: int) -> bool:
    """Whether the gradient function returns a gradient for input `i`, when called on ones."""
    known = step.__dict__.setdefault("returned", None)
    if known is None:
        try:
            ones = [make_tensor(make_ones(zeros(s.shape, s.dtype))) for s in step.specs]
            known = [g is not None for g in step.grad(*ones)]
        except Exception:
            known = []
        step.returned = known
    return not known or i >= len(known) or known[i]


def returns_of(function: Any) -> list[ast.Return]:
    """The return statements of a function, without those of functions inside it."""
    found: list[ast.Return] = []
    todo = list(getattr(function, "body", ())) if not isinstance(function, ast.Lambda) else []
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
    return found


def is_none_at(node: ast.Return, i: int, function: Any) -> bool:
    """Whether a return statement returns None for input `i`."""
    value = node.value
    if isinstance(value, (ast.Tuple, ast.List)) and 0 <= i < len(value.elts):
        value = value.elts[i]
    return is_none(value, function)


def is_none(value: Any, function: Any) -> bool:
    """Whether an expression is None, or a name that was assigned None."""
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return True
    return isinstance(value, ast.Name) and any(
        isinstance(n, ast.Assign)
        and is_none(n.value, None)
        and any(isinstance(t, ast.Name) and t.id == value.id for t in n.targets)
        for n in ast.walk(function or ast.Module([], []))
    )
