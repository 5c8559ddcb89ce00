"""Loops that obey `set_loop_options(maximum_iterations=…)`.

Loops on tensors run as Python, so a limit has to become Python, too. `rewrite_loops` replaces

    while test:
        set_loop_options(maximum_iterations=n)
        ...

by the following code, and `for` loops in the same way. No other loop changes.

    limit = set_loop_options.make_limit(maximum_iterations=n)
    while limit.check(test):
        ...
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import operator
import types
from collections.abc import Iterator
from typing import Any

from gradtape.core.context import current_trace, local
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.tensor import Tensor

DIRECTIVE = "set_loop_options"
LIBRARIES = {"gradtape", "keras", "numpy", "jax"}  # whose functions have no such loops


class LoopLimit:
    """Ends one run of a loop on tensors after `maximum_iterations`.

    As in TensorFlow, loops on Python values, loops over datasets and eager loops have no limit.

    Args:
        parallel_iterations: without effect.
        swap_memory: without effect.
        maximum_iterations: an integer, a scalar tensor, or None for no limit.
        shape_invariants: without effect.
    """

    def __init__(
        self,
        parallel_iterations: Any = None,
        swap_memory: Any = None,
        maximum_iterations: Any = None,
        shape_invariants: Any = None,
    ) -> None:
        """Start the loop."""
        self.left = None
        if maximum_iterations is not None and self.is_obeyed():
            self.left = as_limit(maximum_iterations)

    def is_obeyed(self) -> bool:
        """Whether this code runs as part of a function that is traced or was traced."""
        return bool(current_trace() or local.random_streams is not None)

    def check(self, test: Any) -> Any:
        """The test of a `while` loop, or False after the last iteration."""
        if self.left is None or not isinstance(test, Tensor):
            return test
        self.left -= 1
        return test if self.left >= 0 else False

    def negate(self, test: Any) -> Any:
        """`not test`, as a tensor if `test` is one."""
        return test == False if isinstance(test, Tensor) else not test  # noqa: E712  elementwise

    def limit_iterations(self, iterable: Any) -> Any:
        """The values of a `for` loop, up to the limit."""
        has_limit = isinstance(iterable, Tensor | RaggedTensor) or hasattr(iterable, "get_next")
        if self.left is None or not has_limit:
            return iterable
        return itertools.islice(iterable, max(self.left, 0))


class EagerLoopLimit(LoopLimit):
    """The same for results of `tf.autograph.to_graph`, which obey limits in eager calls, too."""

    def is_obeyed(self) -> bool:
        """True."""
        return True


def as_limit(value: Any) -> int:
    """A number of iterations as an int.

    Raises:
        TypeError: if it is not an integer.
    """
    try:
        return int(value) if isinstance(value, Tensor) else operator.index(value)
    except TypeError:
        raise TypeError(
            f"set_loop_options: maximum_iterations must be an integer. Received {value!r}. "
            "Convert it with int()."
        ) from None


class LoopRewriter(ast.NodeTransformer):
    """Rewrites the loops of a syntax tree whose first statement is the directive.

    Args:
        names: other names of the directive.
        maker: which method of the directive makes the limit.
    """

    def __init__(self, names: set[str], maker: str) -> None:
        """Start without any loop."""
        self.names = names
        self.maker = maker
        self.count = 0

    def directive_of(self, loop: Any) -> ast.Call | None:
        """The call of the directive in a loop, or None."""
        first = loop.body[0]
        if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Call)):
            return None
        called = first.value.func
        name = getattr(called, "attr", None) or getattr(called, "id", None)
        return first.value if name == DIRECTIVE or name in self.names else None

    def make_limit(self, loop: Any, directive: ast.Call) -> tuple[str, ast.stmt]:
        """The variable of a loop's limit, and its assignment; the directive becomes `pass`."""
        self.count += 1
        variable = f"gradtape_loop_limit_{self.count}"
        directive.func = ast.Attribute(directive.func, self.maker, ast.Load())
        loop.body[0] = ast.copy_location(ast.Pass(), directive)
        target = ast.Name(variable, ast.Store())
        return variable, ast.copy_location(ast.Assign([target], directive), directive)

    def visit_While(self, loop: ast.While) -> Any:
        """Rewrite a `while` loop."""
        self.generic_visit(loop)
        directive = self.directive_of(loop)
        if directive is None:
            return loop
        variable, assignment = self.make_limit(loop, directive)
        loop.test = call_limit(variable, "check", replace_not(loop.test, variable))
        return [assignment, loop]

    def visit_For(self, loop: ast.For) -> Any:
        """Rewrite a `for` loop."""
        self.generic_visit(loop)
        directive = self.directive_of(loop)
        if directive is None:
            return loop
        variable, assignment = self.make_limit(loop, directive)
        loop.iter = call_limit(variable, "limit_iterations", loop.iter)
        return [assignment, loop]


def call_limit(variable: str, method: str, argument: ast.expr) -> ast.expr:
    """The expression `variable.method(argument)`."""
    called = ast.Attribute(ast.Name(variable, ast.Load()), method, ast.Load())
    return ast.copy_location(ast.Call(called, [argument], []), argument)


def replace_not(test: ast.expr, variable: str) -> ast.expr:
    """A test in which `not x` is a tensor if `x` is one."""
    if isinstance(test, ast.BoolOp):
        test.values = [replace_not(value, variable) for value in test.values]
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return call_limit(variable, "negate", replace_not(test.operand, variable))
    return test


def rewrite_loops(function: Any) -> None:
    """Let the loops of a function, and of functions that it calls by name, obey their options."""
    pending = list(find_functions(function))
    seen = set()
    while pending:
        found = pending.pop()
        if found in seen:
            continue
        seen.add(found)
        if names_directive(found):
            code = rewrite_code(found, "make_limit")
            if code is not None:
                found.__code__ = code
        pending += find_callees(found)


def copy_with_limits(function: types.FunctionType) -> types.FunctionType:
    """A copy of a function whose loops obey their options in eager calls, too."""
    code = rewrite_code(function, "make_eager_limit") if names_directive(function) else None
    copy = types.FunctionType(
        code or function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    copy.__doc__ = function.__doc__
    return copy


def find_functions(value: Any) -> Iterator[types.FunctionType]:
    """The Python functions behind a function, a method, a partial function or a `tf.function`."""
    if isinstance(value, types.FunctionType):
        if (value.__module__ or "").partition(".")[0] not in LIBRARIES:
            yield value
        yield from find_functions(vars(value).get("__wrapped__"))
    elif isinstance(value, functools.partial):
        yield from find_functions(value.func)
    elif isinstance(value, types.MethodType) or is_wrapper(value):
        inner = inner_function(value)
        yield from find_functions(inner)
        yield from find_methods(inner, getattr(value, "__self__", None))


def is_wrapper(value: Any) -> bool:
    """Whether a value is a `tf.function` or one of its bound methods."""
    return bool({"_python_function", "_function"} & getattr(value, "__dict__", {}).keys())


def inner_function(value: Any) -> Any:
    """The function of a method or of a wrapper."""
    if isinstance(value, types.MethodType):
        return value.__func__
    return vars(value).get("_python_function", vars(value).get("_function"))


def find_methods(function: Any, instance: Any) -> Iterator[types.FunctionType]:
    """The methods of `instance` that its method `function` names."""
    if not isinstance(function, types.FunctionType):
        return
    for name in function.__code__.co_names:
        found = inspect.getattr_static(type(instance), name, None)
        if isinstance(found, types.FunctionType):
            yield found
        elif is_wrapper(found) and isinstance(inner_function(found), types.FunctionType):
            yield inner_function(found)


def find_callees(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """Functions that a function names, as globals, free variables or functions of a module."""
    names = list(all_names(function.__code__))
    for value in visible_values(function):
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] not in LIBRARIES:
                for name in names:
                    yield from find_functions(vars(value).get(name))
        else:
            yield from find_functions(value)


def visible_values(function: types.FunctionType) -> list[Any]:
    """The values of the names that a function, or one that it defines, does not assign itself."""
    scope = inspect.getclosurevars(function)
    values = [*scope.globals.values(), *scope.nonlocals.values()]
    known = function.__globals__
    return values + [known[name] for name in all_names(function.__code__) if name in known]


def all_names(code: types.CodeType) -> Iterator[str]:
    """Names of globals and attributes in a function and in those that it defines."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_names(constant)


def names_directive(function: types.FunctionType) -> bool:
    """Whether a function seems to call the directive."""
    return DIRECTIVE in all_names(function.__code__) or bool(aliases_of_directive(function))


def aliases_of_directive(function: types.FunctionType) -> set[str]:
    """The names under which a function sees the directive."""
    scope = inspect.getclosurevars(function)
    named = {**scope.globals, **scope.nonlocals}
    return {name for name, value in named.items() if is_directive(value)}


def is_directive(value: Any) -> bool:
    """Whether a value is the directive."""
    return isinstance(value, types.FunctionType) and value.__name__ == DIRECTIVE


def rewrite_code(function: types.FunctionType, maker: str) -> types.CodeType | None:
    """The code of a function with its loops rewritten; None if there is no source or no change."""
    code = function.__code__
    source = "".join(linecache.getlines(code.co_filename, function.__globals__))
    if not source:
        return None
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    rewriter = LoopRewriter(aliases_of_directive(function), maker)
    tree = ast.fix_missing_locations(rewriter.visit(tree))
    if not rewriter.count:
        return None
    compiled = compile(tree, code.co_filename, "exec", dont_inherit=True)
    return find_code(compiled, code)


def find_code(module: types.CodeType, wanted: types.CodeType) -> types.CodeType | None:
    """The code of the same function in a module, if it still has the same free variables."""
    for constant in module.co_consts:
        if isinstance(constant, types.CodeType):
            if (
                constant.co_qualname == wanted.co_qualname
                and constant.co_firstlineno == wanted.co_firstlineno
                and constant.co_freevars == wanted.co_freevars
                and constant is not wanted
            ):
                return constant
            found = find_code(constant, wanted)
            if found is not None:
                return found
    return None
