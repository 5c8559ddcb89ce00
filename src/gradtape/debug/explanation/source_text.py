"""The user's source: lines, syntax trees, and the expression of an instruction."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from typing import Any

from gradtape.core.user_location import Location

Span = tuple[int, int, int, int]  # line, column, last line, end column


@lru_cache(maxsize=256)
def parse_file(filename: str) -> ast.Module | None:
    """The syntax tree of a file; None if its text is not available."""
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename))
    if not text:
        return None
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def forget_sources() -> None:
    """Parse files again: they may have changed."""
    parse_file.cache_clear()
    spans_of.cache_clear()
    function_at.cache_clear()


@lru_cache(maxsize=256)
def spans_of(filename: str) -> dict[Span, list[Any]]:
    """The expressions and augmented assignments of a file by their place."""
    tree = parse_file(filename)
    found: dict[Span, list[Any]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.expr, ast.AugAssign)):
            found.setdefault(span_of(node), []).append(node)
    return found


def span_of(node: Any) -> Span:
    """The place of a node."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


@lru_cache(maxsize=4096)
def positions_of(code: Any) -> tuple[Any, ...]:
    """The places of the instructions of a code object."""
    return tuple(code.co_positions())


def place_of(location: Location) -> Span | None:
    """Line, column, last line and end column of a location; None if they are not known."""
    code, instruction = location
    if code is None or instruction < 0 or not hasattr(code, "co_positions"):
        return None
    line, last, column, end = positions_of(code)[instruction // 2]
    return None if None in (line, last, column, end) else (line, column, last, end)


def line_of(location: Location) -> int | None:
    """The line of a location."""
    code, instruction = location
    if code is None:
        return None
    if hasattr(code, "line"):
        line: int = code.line
        return line
    found: int | None = positions_of(code)[instruction // 2][0]
    return found


def expression_at(location: Location) -> Any:
    """The expression (or the statement `a += b`) whose instruction is at a location, or None."""
    place = place_of(location)
    if place is None or location[0] is None:
        return None
    spans = spans_of(location[0].co_filename)
    exact = spans.get(place)
    if exact:
        return exact[0]
    ending = [n for span, nodes in spans.items() if span[2:] == place[2:] for n in nodes]
    calls = [n for n in ending if isinstance(n, ast.Call) and n.lineno <= place[0]]
    return max(calls, key=span_of, default=None)


@lru_cache(maxsize=4096)
def function_at(code: Any) -> Any:
    """The syntax tree of the function that a code object was compiled from, or None."""
    tree = parse_file(code.co_filename)
    found = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            name = getattr(node, "name", "<lambda>")
            if first == code.co_firstlineno and name == code.co_name:
                found.append(node)
    if len(found) > 1:  # several lambdas on one line
        columns = [p[2] for p in positions_of(code) if p[2] and p[0] == code.co_firstlineno]
        inside = [n for n in found if columns and n.col_offset < columns[0] < n.end_col_offset]
        found = inside[-1:] or found
    return found[0] if found else None


def assigned_name(location: Location) -> str | None:
    """The name or attribute to which the statement at a location binds its value, or None."""
    node = expression_at(location)
    if node is None or location[0] is None:
        return None
    tree = parse_file(location[0].co_filename)
    for statement in ast.walk(tree) if tree is not None else ():
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            is_name = len(targets) == 1 and isinstance(targets[0], (ast.Name, ast.Attribute))
            if is_name and statement.value is node:
                return ast.unparse(targets[0])
    return None


def is_other_library_call(location: Location, name: str) -> bool:
    """Whether another function of an imported module than `name` is called at a location.

    The module is a library's: the innermost location in the user's program is outside of it. A
    call that mentions `name`, as an argument for example, does not count.
    """
    node = expression_at(location)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if any(name in (getattr(n, "id", ""), getattr(n, "attr", "")) for n in ast.walk(node)):
        return False
    root: Any = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    assert location[0] is not None
    tree = parse_file(location[0].co_filename)
    imports = (n for n in ast.walk(tree or root) if isinstance(n, (ast.Import, ast.ImportFrom)))
    names = {(a.asname or a.name).split(".")[0] for one in imports for a in one.names}
    return getattr(root, "id", None) in names


def text_at(location: Location) -> tuple[str, int, int]:
    """The source line of a location and the columns to underline; empty if it is not known."""
    line = line_of(location)
    if line is None or location[0] is None:
        return "", 0, 0
    text = linecache.getline(location[0].co_filename, line).rstrip("\n")
    place = place_of(location)
    if place is None:
        indent = len(text) - len(text.lstrip())
        return text, indent, len(text)
    end = place[3] if place[2] == place[0] else len(text.encode())
    start, end = (len(text.encode()[:at].decode(errors="ignore")) for at in (place[1], end))
    return text, start, end
