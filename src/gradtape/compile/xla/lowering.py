"""Lowering of a graph to JAX: kernels run on JAX's tracers; loops and branches become `lax` ops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from gradtape.compile.xla.kernel_namespace import clone_for_jax, jax_kernel_of
from gradtape.core.errors import UnimplementedError
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.graph.control_node import COND, LOOP, NO_LIMIT
from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Constant, Effect, Node
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.subgraph import Body
from gradtape.graph.trace_op import INSTALL
from gradtape.ops.raw_array import make_stand_in_array


class NotLowerable(UnimplementedError, NotImplementedError):  # noqa: N818  says what, not how
    """A graph that XLA cannot run."""


@contextlib.contextmanager
def jax_settings() -> Iterator[None]:
    """JAX settings while tracing: 64-bit types, NumPy's promotion rules, no debugging checks."""
    import jax

    with (
        jax.enable_x64(True),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        jax.transfer_guard("allow"),
        jax.debug_nans(False),
        jax.debug_infs(False),
        jax.check_tracer_leaks(False),
    ):
        yield


MIN_SPLAT_ELEMENTS = (
    64  # elements; larger constants of one repeated number are stored as that number
)
JAX_DTYPE_KINDS = "biufcV"  # dtype kinds that JAX has; those of ml_dtypes are V


def check_jax_dtype(dtype: Any) -> None:
    """Check that JAX has a dtype.

    Raises:
        NotLowerable: if it does not.
    """
    if dtype.kind not in JAX_DTYPE_KINDS:
        what = "strings" if dtype.kind == "O" else dtype.name
        raise NotLowerable(f"{what} stay on the host: XLA supports only numbers")


def operand_value(env: dict[int, Any], operand: Any) -> Any:
    """A value of a graph, or a constant."""
    return operand.raw if isinstance(operand, Constant) else env[operand]


def lower_nodes(nodes: list[Node], env: dict[int, Any], specs: dict[int, Any]) -> None:
    """Apply nodes to the JAX values in `env` and add the results to `env`."""
    for node in nodes:
        if isinstance(node.op, Effect):
            if node.op.fails_only:
                continue  # assertions run on the host at the end of the call
            raise NotLowerable(f"{node.op.name} runs in Python")
        try:
            results = lower_node(node, [operand_value(env, i) for i in node.inputs])
        except NotLowerable:
            raise
        except Exception as error:
            if is_from_signal_handler(error):
                raise
            reason = str(error).strip().partition("\n")[0]
            raise NotLowerable(f"{node.op.name} cannot run on JAX ({reason})") from error
        for number, result in zip(node.outputs, results, strict=True):
            env[number] = cast_to_numpy_dtype(node, result, specs[number])


def as_jax_operand(value: Any) -> Any:
    """An operand as a JAX array; Python numbers stay as they are."""
    if isinstance(value, np.ndarray | np.generic):
        import jax.numpy as jnp

        check_jax_dtype(value.dtype)
        array = np.asarray(value)
        if array.size > MIN_SPLAT_ELEMENTS:
            first = array[(0,) * array.ndim]
            if array.tobytes() == first.tobytes() * array.size:
                return jnp.broadcast_to(jnp.asarray(first), array.shape)
        return jnp.asarray(value)
    return value


def cast_to_numpy_dtype(node: Node, result: Any, spec: Any) -> Any:
    """Cast a result to the dtype that it has on NumPy.

    Raises:
        NotLowerable: if its shape differs from the traced one.
    """
    import jax.numpy as jnp

    shape, dtype = spec
    if node.op is LOOP:
        return result
    if np.shape(result) != tuple(shape):
        raise NotLowerable(
            f"{node.op.name} gives shape {np.shape(result)} instead of {tuple(shape)}: "
            "it depends on values"
        )
    return jnp.asarray(result, dtype)


def lower_node(node: Node, args: list[Any]) -> tuple[Any, ...]:
    """Apply a node to JAX values."""
    op = node.op
    assert isinstance(op, Primitive)
    if op is INSTALL or op is CUSTOM:
        return tuple(args)
    if op is LOOP:
        return lower_loop(args[0], [as_jax_operand(a) for a in args[1:]], **node.static)
    args = [as_jax_operand(a) for a in args]
    if op is COND:
        return lower_cond(args, *node.static["branches"])
    if op.host_reason:
        raise NotLowerable(f"{op.name} stays on the host: {op.host_reason}")
    kernel = lower_raw_function(op) if REGISTRY.get(op.name) is not op else jax_kernel_of(op)
    result = kernel(*args, **node.static)
    return tuple(result) if op.outputs else (result,)


def lower_raw_function(op: Primitive) -> Any:
    """The JAX function of an op that calls a function of raw arrays."""
    function, args, places = getattr(op.kernel, "parts", (op.kernel, (), []))
    lowered = clone_for_jax(function)
    if lowered is function:
        raise NotLowerable(f"{op.name} stays on the host: it is a function of NumPy arrays")

    def kernel(*raws: Any) -> Any:
        given = [clone_for_jax(a) if type(a) is FunctionType else a for a in args]
        for i, raw in zip(places, raws, strict=True):
            given[i] = raw
        return lowered(*given)

    return kernel


def lower_body(body: Body, args: list[Any]) -> tuple[Any, ...]:
    """Apply a body to JAX values; the results have the dtypes that they have on NumPy."""
    graph = body.graph(tuple([make_stand_in_array(list(np.shape(a)), a.dtype) for a in args]))
    env = dict(zip(graph.inputs, args, strict=True))
    lower_nodes(graph.live_nodes(), env, graph.specs)
    return tuple([as_jax_operand(operand_value(env, o)) for o in graph.outputs])


def lower_cond(args: list[Any], yes: Body, no: Body) -> tuple[Any, ...]:
    """Lower `cond` to `lax.cond`."""
    from jax import lax

    pred, *inputs = args
    return tuple(
        lax.cond(pred != 0, lambda: lower_body(yes, inputs), lambda: lower_body(no, inputs)),
    )


def lower_loop(
    most: Any, args: list[Any], body: Body, test: Body | None, shape: LoopLayout
) -> tuple[Any, ...]:
    """Lower `loop`: to a scan if the number of iterations is known, else to a while loop."""
    turns = LoopState(most, args, body, test, shape)
    if 0 in turns.sizes:
        return turns.lower_as_scan(0)
    if test is None and turns.limit is not None:
        return turns.lower_as_scan(turns.limit)
    return turns.lower_as_while()


class LoopState:
    """The inputs of a `loop` and its lowering.

    Attributes:
        limit: the maximum number of iterations, or None if it is known only at run time.
        sizes: lengths of the sliced inputs; they may exceed the number of iterations.
    """

    def __init__(
        self, most: Any, args: list[Any], body: Body, test: Body | None, shape: LoopLayout
    ) -> None:
        """Take the inputs of a `loop`; `most` is its limit."""
        first, last = shape.carries, shape.carries + shape.captures
        self.body, self.test, self.shape = body, test, shape
        self.limit_value = most
        self.carry, self.captures, self.xs = args[:first], args[first:last], args[last:]
        self.limit = as_static_int(most)
        self.sizes = [x.shape[axis] for x, axis in zip(self.xs, shape.xs, strict=True)]

    def run_iteration(self, carry: Any, slices: Any) -> tuple[Any, Any, Any]:
        """One iteration: the next carries, the outputs to stack, and the carries to save."""
        outs = lower_body(self.body, [*carry, *self.captures, *slices])
        count = self.shape.carries
        return outs[:count], outs[count:], tuple([carry[i] for i in self.shape.saved])

    def lower_as_scan(self, count: int) -> tuple[Any, ...]:
        """Lower to a scan of `count` iterations."""
        import jax.numpy as jnp
        from jax import lax

        shape = self.shape
        pairs = zip(self.xs, shape.xs, strict=True)
        xs = [jnp.moveaxis(x, axis, 0)[:count] for x, axis in pairs]

        def step(carry: Any, slices: Any) -> Any:
            after, ys, saved = self.run_iteration(carry, slices)
            return after, (ys, saved)

        carry, stacks = lax.scan(step, tuple(self.carry), xs, count, shape.reverse)
        return self.loop_outputs(carry, np.int64(count), *stacks)

    def lower_as_while(self) -> tuple[Any, ...]:
        """Lower to a while loop that ends by the test or by a limit known only at run time."""
        import jax.numpy as jnp
        from jax import lax

        shape = self.shape
        room = self.stack_length() if shape.ys or shape.saved else 0
        specs = [(s, d) for _, s, d in shape.ys]
        specs += [(self.carry[i].shape, self.carry[i].dtype) for i in shape.saved]
        stacks = tuple([jnp.zeros((room, *s), d) for s, d in specs])
        xs = [jnp.moveaxis(x, axis, 0) for x, axis in zip(self.xs, shape.xs, strict=True)]

        def more(state: Any) -> Any:
            done, carry, _ = state
            go = done < self.limit_value
            if self.test is not None:
                go &= lower_body(self.test, [*carry, *self.captures])[0] != 0
            return go

        def step(state: Any) -> Any:
            done, carry, stacks = state
            at = self.limit_value - 1 - done if shape.reverse else done
            slices = [lax.dynamic_index_in_dim(x, at, 0, False) for x in xs]
            after, ys, saved = self.run_iteration(carry, slices)
            pairs = zip(stacks, (*ys, *saved), strict=True)
            grown = [lax.dynamic_update_index_in_dim(s, one, at, 0) for s, one in pairs]
            return done + 1, after, tuple(grown)

        begin = (jnp.int64(0), tuple(self.carry), stacks)
        done, carry, stacks = lax.while_loop(more, step, begin)
        return self.loop_outputs(carry, done, stacks[: len(shape.ys)], stacks[len(shape.ys) :])

    def stack_length(self) -> int:
        """The length to allocate for stacked values.

        Raises:
            NotLowerable: if no bound on the number of iterations is known.
        """
        if self.limit is not None and self.limit < NO_LIMIT:
            return self.limit
        if self.sizes and self.test is None:
            return int(self.sizes[0])
        raise NotLowerable(
            "loop needs a bound on the number of iterations for its gradient: give "
            "maximum_iterations"
        )

    def loop_outputs(self, carry: Any, done: Any, ys: Any, saved: Any) -> tuple[Any, ...]:
        """The outputs of the loop in order, each stack along its own axis."""
        import jax.numpy as jnp

        placed = zip(ys, self.shape.ys, strict=True)
        return (
            *carry,
            *[jnp.moveaxis(y, 0, axis) for y, (axis, _, _) in placed],
            done,
            *saved,
        )


def as_static_int(value: Any) -> int | None:
    """A number as an int, or None if it is known only at run time."""
    import jax

    return None if isinstance(value, jax.core.Tracer) else int(value)
