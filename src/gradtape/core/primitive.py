"""Primitives: a name, a kernel and one vjp rule per differentiable input.

The decorators `@primitive` and `@elementwise` return an ordinary function. On raw arrays it calls
the kernel. On a Tensor it runs the kernel, wraps the result and tells the recorders (`dispatch`).
Its attribute `op` is the `Primitive`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import itemgetter
from typing import Any

REGISTRY: dict[str, Primitive] = {}

# Lowering a kernel replaces these globals of its module by JAX's modules. Kernels reach NumPy and
# SciPy through these names only; `lax` is for lowerings.
LOWERED_MODULES = {"np": "jax.numpy", "special": "jax.scipy.special", "lax": "jax.lax"}


def parameters_of(fn: Any) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Positional and keyword-only parameters, and whether the positional one is `*name`.

    This is 20 times faster than `inspect.signature`.
    """
    while hasattr(fn, "__wrapped__"):
        fn = fn.__wrapped__
    code = fn.__code__
    count, more = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    variadic = bool(code.co_flags & inspect.CO_VARARGS)
    positional = names[count + more : count + more + 1] if variadic and not count else names[:count]
    return positional, names[count : count + more], variadic


class Spec(tuple[Any, Any]):
    """Shape (a tuple) and NumPy dtype of a value, without its data: `Spec((shape, dtype))`.

    It is a tuple because recorded ops make many, and a tuple is made without calling Python code.
    """

    __slots__ = ()
    shape: tuple[int, ...] = property(itemgetter(0))  # type: ignore[assignment]
    dtype: Any = property(itemgetter(1))


class Rule:
    """A vjp rule and the names of its residuals."""

    __slots__ = ("fn", "residuals")

    def __init__(self, fn: Callable[..., Any]) -> None:
        """Take the residuals from the signature: every parameter after `g`."""
        self.fn = fn
        self.residuals = parameters_of(fn)[0][1:]


class Primitive:
    """The unit that is executed, recorded, differentiated and compiled.

    Attributes:
        name: the name of the kernel.
        kernel: a pure function of raw arrays, written against the module global `np`.
        ufunc: the NumPy ufunc that the kernel equals, or None; the fast path inlines it.
        inputs: names of the positional parameters; one name if variadic.
        variadic: whether the kernel takes `*inputs`.
        statics: names of the keyword-only parameters.
        rules: a Rule or None for each input.
        core: number of trailing axes that do not broadcast; the tape unbroadcasts the axes in
            front of them. None if no axis broadcasts.
        outputs: whether the kernel returns a tuple.
        lowering: replaces the kernel where `np` is `jax.numpy`.
        dynamic: whether the shapes of the results depend on values.
        is_effect: whether graphs keep all applications in order, as side effects: a collective.
        key: identifies equal primitives made while tracing; None for all others.
        record: replaces the default recording of the op in a recorder, or None.
        apply: replaces `bind` when a graph is replayed, or None.
        host: why the kernel cannot be lowered; empty if it can.
        new_arrays: whether results never share memory with inputs, so that plans may reuse that of
            the inputs after the call.
        shape_rule: infers shapes and dtypes of the results (`core/shape_rule.py`); None for
            operands that broadcast.
    """

    __slots__ = (
        "apply",
        "core_ndim",
        "dynamic",
        "function",
        "host_reason",
        "inputs",
        "is_effect",
        "kernel",
        "key",
        "lowering",
        "name",
        "new_arrays",
        "outputs",
        "record_override",
        "rules",
        "shape_rule",
        "statics",
        "steps",
        "ufunc",
        "variadic",
    )

    def __init__(
        self, kernel: Callable[..., Any], rules: dict[str, Any], core: int | None, outputs: bool
    ) -> None:
        """Take inputs and statics from the kernel's signature and check the rules against them."""
        self.name = kernel.__name__
        self.kernel = kernel
        self.inputs, self.statics, self.variadic = parameters_of(kernel)
        self.core_ndim = core
        self.outputs = outputs
        self.lowering: Callable[..., Any] | None = None
        self.dynamic = False
        self.is_effect = False
        self.new_arrays = False
        self.key: Any = None
        self.record_override: Callable[..., None] | None = None
        self.apply: Callable[..., Any] | None = None
        self.host_reason = ""
        self.shape_rule: Callable[..., Any] | None = None
        self.function: Callable[..., Any] = kernel
        self.steps: dict[Any, Any] = {}
        self.ufunc: Any = None
        if set(rules) != set(self.inputs):
            raise TypeError(
                f"primitive {self.name}: every input needs a rule. Received inputs {self.inputs} "
                f"and rules for {tuple(rules)}. Give every input a rule or an explicit None."
            )
        self.rules = tuple(None if rules[n] is None else Rule(rules[n]) for n in self.inputs)
        known = {*self.inputs, *self.statics, "out", "out_spec", "i"}
        known |= {f"{name}_spec" for name in self.inputs}
        for name, rule in zip(self.inputs, self.rules, strict=True):
            unknown = set(rule.residuals) - known if rule else set()
            if unknown:
                raise TypeError(
                    f"primitive {self.name}: the rule for {name} asks for {unknown}, which is "
                    f"neither an input, a static parameter nor an output."
                )

    def __repr__(self) -> str:
        """The name of the primitive."""
        return f"<primitive {self.name}>"

    def rule(self, i: int) -> Rule | None:
        """The rule of the i-th argument."""
        return self.rules[0] if self.variadic else self.rules[i]

    def lower(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function that replaces the kernel on `jax.numpy`."""
        self.lowering = fn
        return fn

    def keep_on_host(self, reason: str) -> None:
        """Declare that the kernel runs on NumPy only, and why."""
        self.host_reason = reason


def is_same_definition(kernel: Callable[..., Any], other: Callable[..., Any]) -> bool:
    """Whether two kernels come from the same lines: an interrupted import defines them again."""
    one, two = kernel.__code__, other.__code__
    return (one.co_filename, one.co_firstlineno) == (two.co_filename, two.co_firstlineno)


def primitive(
    *,
    core: int | None = None,
    outputs: bool = False,
    dynamic: bool = False,
    ufunc: Any = None,
    shape: Callable[..., Any] | None = None,
    new_arrays: bool = False,
    **rules: Any,
) -> Callable[[Callable[..., Any]], Any]:
    """Turn a kernel into a differentiable function; `rules` names a rule or None for each input.

    `shape` is the shape rule; elementwise primitives need none. `new_arrays` declares that results
    never share memory with inputs.
    """
    from gradtape.core.fastpath.codegen import make_primitive_function

    def decorate(kernel: Callable[..., Any]) -> Any:
        op = Primitive(kernel, rules, core, outputs)
        op.dynamic = dynamic
        op.ufunc = ufunc
        op.shape_rule = shape
        op.new_arrays = new_arrays
        known = REGISTRY.get(op.name)
        if known is not None and not is_same_definition(known.kernel, kernel):
            raise TypeError(f"primitive {op.name} exists already.")
        REGISTRY[op.name] = op
        function = op.function = make_primitive_function(op)
        function.__doc__ = kernel.__doc__
        function.__module__ = kernel.__module__
        function.op = op
        function.lower = op.lower
        function.keep_on_host = op.keep_on_host
        return function

    return decorate


def elementwise(*, ufunc: Any = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a primitive whose operands broadcast; the tape unbroadcasts the cotangents.

    `ufunc` declares that the kernel equals this NumPy ufunc. `options` are rules, or `new_arrays`.
    """
    return primitive(core=0, ufunc=ufunc, **options)
