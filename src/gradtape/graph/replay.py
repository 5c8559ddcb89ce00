"""Replay a graph on tensors, primitive by primitive, so that active recorders record every op."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.context import local
from gradtape.core.dispatch import bind
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.custom_gradient import CUSTOM, UserGradient
from gradtape.graph.graph import Constant, Effect, Node, Operand
from gradtape.graph.trace_op import INSTALL
from gradtape.tape.custom_gradient_step import record_custom_gradient
from gradtape.tape.indexed_slices import IndexedSlices

TensorsByNumber = dict[int, Any]


def replay(
    nodes: Iterable[Node],
    env: TensorsByNumber,
    run_effect: Callable[[Node, tuple[Any, ...]], tuple[Tensor, ...]],
    install: Callable[[int, Any], Tensor],
) -> TensorsByNumber:
    """Apply `nodes` to the tensors in `env` and add the results to `env`.

    Args:
        nodes: nodes of a graph, in order.
        env: tensors by number.
        run_effect: returns the results of an effect, given the node and its arguments.
        install: returns the new version of a variable, given the variable's key and the value.
    """
    for node in nodes:
        replay_node(node, env, run_effect, install)
    return env


def replay_node(
    node: Node,
    env: TensorsByNumber,
    run_effect: Callable[[Node, tuple[Any, ...]], tuple[Tensor, ...]],
    install: Callable[[int, Any], Tensor],
) -> None:
    """Apply one node at its location in the user's program; see `replay`."""
    before = local.origin
    if node.location[0] is not None:
        local.origin = node.location
    try:
        apply_node(node, env, run_effect, install)
    finally:
        local.origin = before


def apply_node(
    node: Node,
    env: TensorsByNumber,
    run_effect: Callable[[Node, tuple[Any, ...]], tuple[Tensor, ...]],
    install: Callable[[int, Any], Tensor],
) -> None:
    """Apply one node; see `replay`."""
    args = tuple([lookup_operand(env, operand) for operand in node.inputs])
    if isinstance(node.op, Effect):
        outs: Any = run_effect(node, args)
    elif node.op is CUSTOM:
        custom = node.static["custom"]
        count = len(custom.seeds)
        outs = (*replay_user_gradient(custom, args[:count], env), *args[count:])
    elif node.op is INSTALL:
        outs = (install(node.static["key"], args[0]),)
    else:
        apply = node.op.apply or bind
        outs = apply(node.op, args, node.static)
        if not node.op.outputs:
            outs = (outs,)
    env.update(zip(node.outputs, outs, strict=True))


def refuse_effect(node: Node, args: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Refuse an effect, for graphs that cannot contain one."""
    raise AssertionError(f"replay: this graph must not contain effects. Found {node.op.name}.")


def skip_effect(node: Node, args: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Skip an effect of a user's gradient function, such as a message or a check."""
    if node.outputs:
        raise NotImplementedError(
            f"custom_gradient inside tf.function: the gradient function must not use {node.op.name}"
            ". Call the function outside tf.function."
        )
    return ()


def install_version(key: int, value: Any) -> Tensor:
    """A new version of a variable; no gradient flows through it."""
    tensor: Tensor = bind(INSTALL, (value,), {"key": key})
    return tensor


def lookup_operand(env: TensorsByNumber, operand: Operand) -> Any:
    """The tensor, or the raw constant, of an operand."""
    return operand.raw if isinstance(operand, Constant) else env[operand]


def tensor_at(env: TensorsByNumber, operand: Operand) -> Tensor:
    """The tensor of an operand."""
    value = lookup_operand(env, operand)
    return value if isinstance(value, Tensor) else make_tensor(value)


def replay_user_gradient(
    custom: UserGradient, results: tuple[Any, ...], env: TensorsByNumber
) -> list[Tensor]:
    """New tensors for `results`, whose gradient replays the user's gradient function."""
    inputs = [tensor_at(env, operand) for operand in custom.inputs]

    def grad(*cotangents: Tensor) -> list[Any]:
        if custom.raised is not None:
            raise custom.raised.with_traceback(None)
        if custom.trace_error:
            raise NotImplementedError(f"custom_gradient inside tf.function: {custom.trace_error}")
        inner = dict(env)
        inner.update(zip(custom.seeds, cotangents, strict=True))
        replay(custom.nodes, inner, skip_effect, install_version)
        return [gradient_for_input(inner, answer) for answer in custom.input_gradients]

    return record_custom_gradient(
        [t if isinstance(t, Tensor) else make_tensor(t) for t in results], inputs, grad
    )


def gradient_for_input(env: TensorsByNumber, answer: Any) -> Any:
    """The user's gradient for one input: a tensor, IndexedSlices or None."""
    if answer is None:
        return None
    if isinstance(answer, tuple):
        values, indices = (tensor_at(env, part) for part in answer)
        return IndexedSlices(values, indices, None)
    return tensor_at(env, answer)
