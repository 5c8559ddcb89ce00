"""The code that runs when a function of the library is called, also if it is generated."""

from __future__ import annotations

import inspect
from typing import Any

from gradtape.core.dispatch import backward_step
from gradtape.core.fastpath.codegen import INPUT_NAMES
from gradtape.debug.plan_source import describe_object, function_source
from gradtape.jit.concrete_function import ConcreteFunction
from gradtape.jit.function import Function


def source(function: Any, backward: bool = False) -> str:
    """The source of what runs when `function` is called.

    Generated source is preceded by the objects that its names stand for. For a `tf.function` it is
    the source of the plans of the calls so far, also of the bodies of loops and branches.

    Args:
        function: a public function or a primitive, such as `tf.tanh`, or a `tf.function`.
        backward: whether to return the source of the backward step, or of the plans of gradients,
            instead.

    Returns:
        The source.

    Raises:
        TypeError: if `function` is not a Python function.
        ValueError: if a backward step is requested of a function that is not a single primitive.

    Example:
        >>> f = tf.function(lambda x: x * 2.0)
        >>> x = [f(tf.constant(1.0)) for _ in range(2)]
        >>> print("def plan(v0):" in tf.debug.source(f))
        True
    """
    if isinstance(function, ConcreteFunction):
        function = function._function
    if isinstance(function, Function):
        return function_source(function, backward)
    if not hasattr(inspect.unwrap(function) if callable(function) else None, "__code__"):
        raise TypeError(f"debug.source: function must be a Python function. Received {function!r}.")
    op = getattr(function, "op", None) or getattr(function, "__globals__", {}).get("op")
    if backward:
        if op is None or not any(op.rules):
            raise ValueError(
                "debug.source: backward=True needs a function of one differentiable primitive, "
                f"such as tf.tanh. Received {function!r}."
            )
        mask = sum(1 << i for i, rule in enumerate(op.rules) if rule is not None)
        function = backward_step(op, mask, False).run
    function = inspect.unwrap(function, stop=lambda f: op is not None)
    if op is None:
        return inspect.getsource(function.__code__)
    space = function.__globals__
    text = space["source"]() if "source" in space else inspect.getsource(function.__code__)
    names = {name: name for name in ("op", "kernel", "allowed", "convert_and_call")}
    names |= {
        f"{short}_rule": f"{name}_rule" for short, name in zip(INPUT_NAMES, op.inputs, strict=False)
    }
    shown = [
        f"# {name} = {describe_object(space[key])}" for key, name in names.items() if key in space
    ]
    return "\n".join([*shown, text])
