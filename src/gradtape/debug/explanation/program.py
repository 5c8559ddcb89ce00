"""The user's files as syntax trees, with the scope of every name."""

from __future__ import annotations

import ast
from typing import Any

INSTANCE_CALLS = ("__call__", "call")  # `instance(x)` runs one of these
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
        self.decorated: dict[Any, list[str]] = {}  # names of functions, by decorator
        self.classes: set[str] = set()
        self.attributes: set[str] = set()  # names of attributes that are assigned
        self.loaded: set[str] = set()  # names that are read, other than to call them
        self.statements: list[Any] = []
        for tree in trees:
            self.index(tree, Scope(tree, None))
        self.values = [  # functions that may be called by another name than their own
            one
            for name, functions in self.functions.items()
            if not name or name in self.loaded or name in INSTANCE_CALLS
            for one in functions
        ]

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
            elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
                self.attributes.add(child.attr)
            elif isinstance(child, (ast.Name, ast.Attribute)) and not is_callee(child, node):
                self.loaded.add(name_of(child) or "")
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
            for one in node.decorator_list:
                decorator = callee_of(one) if isinstance(one, ast.Call) else name_of(one)
                self.decorated.setdefault(decorator, []).append(name)
        self.functions.setdefault(name, []).append((node, inner))
        return inner


def parameters_of_tree(node: Any) -> list[ast.arg]:
    """All parameters of a function, in order."""
    a = node.args
    stars = [one for one in (a.vararg, a.kwarg) if one is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *stars]


def is_callee(node: Any, parent: Any) -> bool:
    """Whether a name or attribute is the function of a call."""
    return isinstance(parent, ast.Call) and parent.func is node


def callee_of(node: ast.Call) -> str | None:
    """The name of the function or method that a call names."""
    return name_of(node.func)


def name_of(node: Any) -> str | None:
    """The name of a name or attribute, or None."""
    return getattr(node, "id", getattr(node, "attr", None))
