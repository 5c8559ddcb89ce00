"""Where a Python value goes: a slice of the user's source, from one expression to others.

The slice follows names, attributes, containers, calls, returns and control flow through all files
of the program. It stops at `print`, at logging, and at expressions that made tensors: the ledger
describes those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

Mark = tuple[Any, ...]
SILENT = frozenset(("print", "isinstance", "issubclass", "len", "type", "id", "hasattr"))
SILENT_METHODS = frozenset(("debug", "info", "warning", "error", "critical", "exception", "log"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scope:
    """The names of a function, class or module."""

    def __init__(self, node: Any, parent: Scope | None) -> None:
        """The scope of `node` inside `parent`."""
        self.node, self.parent = node, parent
        self.names: set[str] = set()
        self.shared: set[str] = set()  # declared global or nonlocal

    def find(self, name: str) -> Scope:
        """The scope that a name belongs to."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and name not in scope.shared:
                return scope
            if scope.parent is None:
                return scope
            scope = scope.parent
        return self


class Program:
    """The syntax trees of the user's files, with the scope of every node."""

    def __init__(self, trees: list[ast.Module]) -> None:
        """Index all nodes."""
        self.trees = trees
        self.scopes: dict[int, Scope] = {}
        self.parents: dict[int, Any] = {}
        self.functions: dict[str, list[tuple[Any, Scope]]] = {}
        self.classes: set[str] = set()
        self.statements: list[Any] = []
        for tree in trees:
            self.index(tree, Scope(tree, None))

    def index(self, node: Any, scope: Scope) -> None:
        """Index a node and those below it."""
        for child in ast.iter_child_nodes(node):
            self.parents[id(child)] = node
            self.scopes[id(child)] = scope
            inner = scope
            if isinstance(child, FUNCTIONS):
                inner = self.index_function(child, scope)
            elif isinstance(child, ast.ClassDef):
                self.classes.add(child.name)
                scope.names.add(child.name)
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                scope.names.add(child.id)
            elif isinstance(child, (ast.Global, ast.Nonlocal)):
                scope.shared.update(child.names)
            if isinstance(child, (ast.stmt, ast.expr)):
                self.statements.append(child)
            self.index(child, inner)

    def index_function(self, node: Any, scope: Scope) -> Scope:
        """Index a function and its parameters."""
        inner = Scope(node, scope)
        inner.names.update(a.arg for a in parameters_of_tree(node))
        name = getattr(node, "name", "")
        if not name:
            parent = self.parents[id(node)]
            if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
                name = parent.targets[0].id
        else:
            scope.names.add(name)
        self.functions.setdefault(name, []).append((node, inner))
        return inner


def parameters_of_tree(node: Any) -> list[ast.arg]:
    """All parameters of a function, in order."""
    a = node.args
    stars = [one for one in (a.vararg, a.kwarg) if one is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *stars]


class Slice:
    """What depends on the value of one expression.

    Attributes:
        marks: names, attributes and functions that hold the value.
        regions: statements that run only because of the value.
    """

    def __init__(self, program: Program, start: ast.expr, barriers: set[int]) -> None:
        """Follow the value of `start`; expressions in `barriers` made tensors."""
        self.program, self.start, self.barriers = program, start, barriers - {id(start)}
        self.marks: set[Mark] = set()
        self.regions: set[int] = set()
        self.cache: dict[int, bool] = {}
        self.mark_callbacks(start)
        before = -1
        while before != len(self.marks) + len(self.regions):
            before = len(self.marks) + len(self.regions)
            self.cache = {}
            for node in program.statements:
                self.visit(node)
        self.cache = {}

    def mark_callbacks(self, start: ast.expr) -> None:
        """The functions passed to the call that read the value run because of it."""
        for argument in start.args if isinstance(start, ast.Call) else ():
            if isinstance(argument, ast.Lambda):
                self.regions.add(id(argument.body))
            name = getattr(argument, "id", getattr(argument, "attr", None))
            for node, _ in self.program.functions.get(name or "", ()):
                body = node.body if isinstance(node.body, list) else [node.body]
                self.regions.update(id(statement) for statement in body)

    # -- expressions

    def holds(self, node: Any) -> bool:
        """Whether the value of an expression depends on the start."""
        if node is self.start:
            return True
        if node is None or id(node) in self.barriers:
            return False
        known = self.cache.get(id(node))
        if known is None:
            self.cache[id(node)] = False  # recursion
            known = self.cache[id(node)] = self.compute(node)
        return known

    def compute(self, node: Any) -> bool:
        """`holds` without the cache."""
        if isinstance(node, ast.Name):
            return self.name_mark(node, node.id) in self.marks
        if isinstance(node, ast.Attribute):
            marked = ("attribute", node.attr) in self.marks or self.is_property(node.attr)
            return marked or self.holds(node.value)
        if isinstance(node, ast.Call):
            return self.call_holds(node)
        if isinstance(node, ast.Lambda):
            return self.holds(node.body)
        return any(self.holds(child) for child in child_expressions(node))

    def is_property(self, name: str) -> bool:
        """Whether a property of this name returns the value."""
        return ("returns", name) in self.marks and any(
            getattr(d, "id", "") == "property"
            for node, _ in self.program.functions.get(name, ())
            for d in getattr(node, "decorator_list", ())
        )

    def name_mark(self, node: Any, name: str) -> Mark:
        """The mark of a name at a node."""
        scope = self.program.scopes.get(id(node))
        return ("name", id(scope.find(name).node) if scope is not None else 0, name)

    def call_holds(self, node: ast.Call) -> bool:
        """Whether a call returns the value."""
        name = callee_of(node)
        arguments = [*node.args, *(k.value for k in node.keywords)]
        if name in SILENT:
            return False
        if isinstance(node.func, ast.Attribute) and name in SILENT_METHODS and is_logger(node.func):
            return False
        if name in self.program.functions and name not in self.program.classes:
            return ("returns", name) in self.marks
        if any(self.holds(a) for a in arguments):
            return True
        if any(self.is_marked_callback(a) for a in arguments):
            return True
        return isinstance(node.func, ast.Attribute) and self.holds(node.func.value)

    def is_marked_callback(self, node: Any) -> bool:
        """Whether an argument is a function that returns the value."""
        name = getattr(node, "id", getattr(node, "attr", None))
        return name in self.program.functions and ("returns", name) in self.marks

    # -- statements

    def visit(self, node: Any) -> None:
        """Mark what a statement or expression makes depend on the start."""
        visitor = VISITORS.get(type(node))
        if visitor is not None:
            visitor(self, node)

    def visit_assign(self, node: Any) -> None:
        """Mark the targets of an assignment."""
        if node.value is None or not (self.holds(node.value) or self.is_controlled(node)):
            return
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.Assign) and self.assign_parts(node):
            return
        for target in targets:
            self.mark_target(target)

    def assign_parts(self, node: ast.Assign) -> bool:
        """Mark the targets of `a, b = x, y` one by one; False if the shapes differ."""
        target, value = node.targets[0], node.value
        if self.is_controlled(node) or len(node.targets) > 1:
            return False
        if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
            return False
        if len(target.elts) != len(value.elts):
            return False
        for one, part in zip(target.elts, value.elts, strict=True):
            if self.holds(part):
                self.mark_target(one)
        return True

    def mark_target(self, target: Any) -> None:
        """Mark what an assignment target names."""
        if isinstance(target, ast.Name):
            self.marks.add(self.name_mark(target, target.id))
        elif isinstance(target, ast.Attribute):
            self.marks.add(("attribute", target.attr))
        elif isinstance(target, (ast.Subscript, ast.Starred)):
            self.mark_target(target.value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self.mark_target(one)

    def visit_return(self, node: Any) -> None:
        """Mark the function that returns the value."""
        if not (self.holds(node.value) or self.is_controlled(node)):
            return
        owner = self.program.scopes[id(node)].node
        self.marks.add(("returns", getattr(owner, "name", "")))

    def visit_for(self, node: Any) -> None:
        """Mark the variable of a loop; of `range`, also what its body assigns."""
        if self.holds(node.iter):
            self.mark_target(node.target)
            if isinstance(node.iter, ast.Call) and callee_of(node.iter) == "range":
                self.mark_region([*node.body, *node.orelse])

    def visit_comprehension(self, node: Any) -> None:
        """Mark the variables of a comprehension."""
        for generator in node.generators:
            if self.holds(generator.iter):
                self.mark_target(generator.target)

    def visit_test(self, node: Any) -> None:
        """Mark what runs because of a test."""
        if self.holds(node.test):
            self.mark_region([*node.body, *node.orelse])

    def mark_region(self, statements: list[Any]) -> None:
        """Mark statements that run because of the value."""
        self.regions.update(id(statement) for statement in statements)

    def visit_call(self, node: ast.Call) -> None:
        """Mark parameters of the user's functions, and objects that a method changes."""
        name = callee_of(node)
        held = [a for a in (*node.args, *(k.value for k in node.keywords)) if self.holds(a)]
        if not held:
            return
        functions = self.program.functions.get(name or "", [])
        if name in self.program.classes:
            functions = self.program.functions.get("__init__", [])
        for function, scope in functions:
            self.mark_parameters(node, function, scope, isinstance(node.func, ast.Attribute))
        if functions or name in SILENT or not isinstance(node.func, ast.Attribute):
            return
        if id(node) not in self.barriers and not is_logger(node.func):
            self.mark_target(node.func.value)

    def mark_parameters(self, call: ast.Call, function: Any, scope: Scope, method: bool) -> None:
        """Mark the parameters that receive the value."""
        names = [a.arg for a in parameters_of_tree(function)]
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        for i, argument in enumerate(call.args):
            if self.holds(argument) and names:
                self.marks.add(("name", id(scope.node), names[min(i, len(names) - 1)]))
        for keyword in call.keywords:
            if self.holds(keyword.value):
                self.marks.add(("name", id(scope.node), keyword.arg or names[-1]))

    def is_controlled(self, node: Any) -> bool:
        """Whether a node runs only because of the value."""
        while node is not None:
            if id(node) in self.regions:
                return True
            if isinstance(node, FUNCTIONS):
                return any(
                    id(s) in self.regions
                    for s in (node.body if isinstance(node.body, list) else [node.body])
                )
            node = self.program.parents.get(id(node))
        return False

    # -- what the ledger asks

    def enters(self, node: ast.expr) -> bool:
        """Whether the value enters the op of an expression, or decides whether it runs."""
        if any(self.holds(child) for child in child_expressions(node)):
            return True
        if isinstance(node, ast.Call) and any(self.is_marked_callback(a) for a in node.args):
            return True
        return self.is_controlled(node)


def child_expressions(node: Any) -> Iterator[Any]:
    """The expressions directly inside a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, (ast.keyword, ast.comprehension)):
            yield from child_expressions(child)


def callee_of(node: ast.Call) -> str | None:
    """The name of the function or method that a call names."""
    return getattr(node.func, "id", getattr(node.func, "attr", None))


def is_logger(node: ast.Attribute) -> bool:
    """Whether an attribute looks like a method of a logger or of the logging module."""
    name = getattr(node.value, "id", getattr(node.value, "attr", "")) or ""
    return node.attr in SILENT_METHODS and "log" in name.lower()


VISITORS: dict[type, Any] = {
    ast.Assign: Slice.visit_assign,
    ast.AugAssign: Slice.visit_assign,
    ast.AnnAssign: Slice.visit_assign,
    ast.NamedExpr: Slice.visit_assign,
    ast.Return: Slice.visit_return,
    ast.Yield: Slice.visit_return,
    ast.For: Slice.visit_for,
    ast.ListComp: Slice.visit_comprehension,
    ast.SetComp: Slice.visit_comprehension,
    ast.GeneratorExp: Slice.visit_comprehension,
    ast.DictComp: Slice.visit_comprehension,
    ast.If: Slice.visit_test,
    ast.While: Slice.visit_test,
    ast.Call: Slice.visit_call,
}
