"""Where a Python value goes: a slice of the user's source, from one expression to others.

The slice follows names, attributes, containers, calls, returns and control flow through all files
of the program. It stops at `print`, at logging, and at expressions that made tensors: the ledger
describes those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from gradtape.debug.explanation.program import (
    FUNCTIONS,
    Program,
    Scope,
    callee_of,
    name_of,
    parameters_of_tree,
)

Mark = tuple[Any, ...]
SILENT = frozenset(("print", "isinstance", "issubclass", "len", "type", "id", "hasattr"))
SILENT_METHODS = frozenset(("debug", "info", "warning", "error", "critical", "exception", "log"))
# Functions of NumPy that write to their first argument
IN_PLACE = frozenset(("at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))


class Slice:
    """What depends on the value of one expression.

    Attributes:
        marks: names, attributes and functions that hold the value.
        regions: statements that run only because of the value.
    """

    def __init__(
        self,
        program: Program,
        start: ast.expr,
        barriers: set[int],
        calls: Iterable[tuple[Any, Any]] = (),
    ) -> None:
        """Follow the value of `start`; expressions in `barriers` made tensors.

        `calls` were on the stack when the value left: expressions, and the functions they called.
        """
        self.program, self.start, self.barriers = program, start, barriers - {id(start)}
        self.called: dict[int, list[Any]] = {}
        for node, function in calls:
            self.called.setdefault(id(node), []).append(function)
        self.marks: set[Mark] = set()
        self.regions: set[int] = set()
        self.cache: dict[int, bool] = {}
        self.mark_callbacks(start)
        if isinstance(getattr(start, "ctx", None), ast.Store):  # `array[i] = tensor`
            self.mark_target(start)
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
            name = name_of(argument)
            for node, _ in self.program.functions.get(name or "", ()):
                body = node.body if isinstance(node.body, list) else [node.body]
                self.regions.update(id(statement) for statement in body)

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
        if any(self.is_returned(function) for function in self.called.get(id(node), ())):
            return True
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

    def is_returned(self, function: Any) -> bool:
        """Whether a function returns the value."""
        if isinstance(function, ast.Lambda):
            return self.holds(function.body)
        return ("returns", id(function)) in self.marks

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
        if name == "getattr" and ("attribute", constant_at(node, 1)) in self.marks:
            return True
        if any(self.holds(a) for a in arguments):
            return True
        if any(self.is_marked_callback(a) for a in arguments):
            return True
        called = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        return self.holds(called)

    def is_marked_callback(self, node: Any) -> bool:
        """Whether an argument is a function that returns the value."""
        name = name_of(node)
        return name in self.program.functions and ("returns", name) in self.marks

    def visit(self, node: Any) -> None:
        """Mark what a statement or expression makes depend on the start."""
        visitor = VISITORS.get(type(node))
        if visitor is not None:
            visitor(self, node)

    def visit_assign(self, node: Any) -> None:
        """Mark the targets of an assignment."""
        if node.value is None or id(node) in self.barriers:
            return
        if not (self.holds(node.value) or self.is_controlled(node)):
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
            if not isinstance(self.program.scopes[id(target)].node, FUNCTIONS):
                self.marks.add(("attribute", target.id))  # of the class or the module
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
        scope = self.program.scopes[id(node)]
        self.marks.add(("returns", getattr(scope.node, "name", "")))
        self.marks.add(("returns", id(scope.node)))
        decorator = getattr(scope.parent and scope.parent.node, "name", None)
        for name in self.program.decorated.get(decorator, ()):
            self.marks.add(("returns", name))

    def visit_function(self, node: Any) -> None:
        """Mark the parameters whose default is the value."""
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(
                positional[len(positional) - len(arguments.defaults) :],
                arguments.defaults,
                strict=True,
            ),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for parameter, default in pairs:
            if self.holds(default):
                self.marks.add(("name", id(node), parameter.arg))

    def visit_for(self, node: Any) -> None:
        """Mark the variable of a loop; of `range`, also what its body assigns."""
        if self.holds(node.iter):
            self.mark_target(node.target)
            if isinstance(node.iter, ast.Call) and callee_of(node.iter) == "range":
                self.mark_region([*node.body, *node.orelse])

    def visit_comprehension(self, node: Any) -> None:
        """Mark the variables of a comprehension, and what its conditions choose."""
        for generator in node.generators:
            if self.holds(generator.iter):
                self.mark_target(generator.target)
            if any(self.holds(test) for test in generator.ifs):
                self.mark_region(list(child_expressions(node)))

    def visit_test(self, node: Any) -> None:
        """Mark what runs because of a test."""
        if self.holds(node.test):
            self.mark_region([*node.body, *node.orelse])

    def visit_conditional(self, node: ast.IfExp) -> None:
        """Mark both sides of `a if test else b`."""
        if self.holds(node.test):
            self.mark_region([node.body, node.orelse])

    def visit_match(self, node: ast.Match) -> None:
        """Mark the cases of a `match`, and the names that they bind."""
        if self.holds(node.subject):
            for case in node.cases:
                self.mark_region(case.body)
                for pattern in ast.walk(case.pattern):
                    name = getattr(pattern, "name", None)
                    if name is not None:
                        self.marks.add(self.name_mark(node, name))

    def mark_region(self, statements: list[Any]) -> None:
        """Mark statements that run because of the value."""
        self.regions.update(id(statement) for statement in statements)

    def visit_call(self, node: ast.Call) -> None:
        """Mark parameters of the user's functions, and objects that a method changes."""
        name = callee_of(node)
        self.mark_changed_arguments(node)
        held = [a for a in (*node.args, *(k.value for k in node.keywords)) if self.holds(a)]
        if not held:
            return
        if name == "setattr":
            self.marks.add(("attribute", constant_at(node, 1)))
        arguments = node.args
        if name == "partial" and arguments:
            name, arguments = getattr(arguments[0], "id", None), arguments[1:]
        functions = self.program.functions.get(name or "", [])
        if name in self.program.classes:
            functions = self.program.functions.get("__init__", [])
        if not functions and self.is_value_called(node.func):
            functions = self.program.values
        for function, scope in functions:
            self.mark_parameters(arguments, node.keywords, function, scope)
        if functions or name in SILENT or not isinstance(node.func, ast.Attribute):
            return
        if id(node) not in self.barriers and not is_logger(node.func):
            self.mark_target(node.func.value)

    def is_value_called(self, function: Any) -> bool:
        """Whether a call's function is an element or a variable: any function may be called."""
        if isinstance(function, (ast.Subscript, ast.Call)):
            return True
        if isinstance(function, ast.Name):
            scope = self.program.scopes[id(function)].find(function.id)
            return function.id in scope.names
        return isinstance(function, ast.Attribute) and function.attr in self.program.attributes

    def mark_changed_arguments(self, node: ast.Call) -> None:
        """Mark the arrays that a NumPy function writes to, such as `np.copyto(array, x)`."""
        changed = [k.value for k in node.keywords if k.arg == "out"]
        changed += node.args[:1] if callee_of(node) in IN_PLACE else []
        if changed and (node is self.start or any(map(self.holds, node.args))):
            for one in changed:
                self.mark_target(one)

    def mark_parameters(
        self, arguments: list[ast.expr], keywords: list[ast.keyword], function: Any, scope: Scope
    ) -> None:
        """Mark the parameters that receive the value."""
        names = [a.arg for a in parameters_of_tree(function)]
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        if not names:
            return
        for i, argument in enumerate(arguments):
            if self.holds(argument):
                self.marks.add(("name", id(scope.node), names[min(i, len(names) - 1)]))
        for keyword in keywords:
            if self.holds(keyword.value):
                name = keyword.arg if keyword.arg in names else names[-1]
                self.marks.add(("name", id(scope.node), name))

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

    def enters(self, node: ast.expr) -> bool:
        """Whether the value enters the op of an expression, or decides whether it runs."""
        if any(self.holds(child) for child in child_expressions(node)):
            return True
        if any(self.is_returned(function) for function in self.called.get(id(node), ())):
            return True
        if isinstance(node, ast.Call) and any(self.is_marked_callback(a) for a in node.args):
            return True
        if isinstance(getattr(node, "ctx", None), ast.Store):  # a setter of the library's
            statement = self.program.parents.get(id(node))
            if self.holds(getattr(statement, "value", None)):
                return True
        return self.is_controlled(node)


def child_expressions(node: Any) -> Iterator[Any]:
    """The expressions directly inside a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, (ast.keyword, ast.comprehension)):
            yield from child_expressions(child)


def constant_at(node: ast.Call, i: int) -> Any:
    """The constant that a call passes as argument `i`, or None."""
    return getattr(node.args[i], "value", None) if i < len(node.args) else None


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
    ast.FunctionDef: Slice.visit_function,
    ast.AsyncFunctionDef: Slice.visit_function,
    ast.Lambda: Slice.visit_function,
    ast.For: Slice.visit_for,
    ast.ListComp: Slice.visit_comprehension,
    ast.SetComp: Slice.visit_comprehension,
    ast.GeneratorExp: Slice.visit_comprehension,
    ast.DictComp: Slice.visit_comprehension,
    ast.If: Slice.visit_test,
    ast.While: Slice.visit_test,
    ast.IfExp: Slice.visit_conditional,
    ast.Match: Slice.visit_match,
    ast.Call: Slice.visit_call,
}
