"""Lowering of a graph to JAX: kernels run on JAX's tracers; loops and branches become `lax` ops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from gradtape.compile.xla.kernel_namespace import cloned, kernel_of
from gradtape.core.errors import UnimplementedError
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.graph.control_node import COND, FOREVER, LOOP
from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Constant, Effect, Node
from gradtape.graph.loop_gradient import Shape
from gradtape.graph.subgraph import Body
from gradtape.graph.trace_op import INSTALL
from gradtape.ops.raw_array import stand_in


class Inexpressible(UnimplementedError, NotImplementedError):  # noqa: N818  says what, not how
    """A graph that XLA cannot run."""


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """JAX settings while tracing: 64-bit types, and NumPy's promotion of dtypes and ranks."""
    import jax

    with (
        jax.enable_x64(True),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        yield


FEW = 64  # elements; larger constants of one repeated number are stored as that number
KINDS = "biufcV"  # dtype kinds that JAX has; those of ml_dtypes are V


def check(dtype: Any) -> None:
    """Check that JAX has a dtype.

    Raises:
        Inexpressible: if it does not.
    """
    if dtype.kind not in KINDS:
        what = "strings" if dtype.kind == "O" else dtype.name
        raise Inexpressible(f"{what} stay on the host: XLA supports only numbers")


def value_of(env: dict[int, Any], operand: Any) -> Any:
    """A value of a graph, or a constant."""
    return operand.raw if isinstance(operand, Constant) else env[operand]


def evaluate(nodes: list[Node], env: dict[int, Any], specs: dict[int, Any]) -> None:
    """Apply nodes to the JAX values in `env` and add the results to `env`."""
    for node in nodes:
        if isinstance(node.op, Effect):
            if node.op.fails_only:
                continue  # assertions run on the host at the end of the call
            raise Inexpressible(f"{node.op.name} runs in Python")
        try:
            results = applied(node, [value_of(env, i) for i in node.inputs])
        except Inexpressible:
            raise
        except Exception as error:
            reason = str(error).strip().partition("\n")[0]
            raise Inexpressible(f"{node.op.name} cannot run on JAX ({reason})") from error
        for number, result in zip(node.outputs, results, strict=True):
            env[number] = settled(node, result, specs[number])


def lifted(value: Any) -> Any:
    """An operand as a JAX array; Python numbers stay as they are."""
    if isinstance(value, np.ndarray | np.generic):
        import jax.numpy as jnp

        check(value.dtype)
        array = np.asarray(value)
        if array.size > FEW:
            first = array[(0,) * array.ndim]
            if array.tobytes() == first.tobytes() * array.size:
                return jnp.broadcast_to(jnp.asarray(first), array.shape)
        return jnp.asarray(value)
    return value


def settled(node: Node, result: Any, spec: Any) -> Any:
    """Cast a result to the dtype that it has on NumPy.

    Raises:
        Inexpressible: if its shape differs from the traced one.
    """
    import jax.numpy as jnp

    shape, dtype = spec
    if node.op is LOOP:
        return result
    if np.shape(result) != tuple(shape):
        raise Inexpressible(
            f"{node.op.name} gives shape {np.shape(result)} instead of {tuple(shape)}: "
            "it depends on values"
        )
    return jnp.asarray(result, dtype)


def applied(node: Node, args: list[Any]) -> tuple[Any, ...]:
    """Apply a node to JAX values."""
    op = node.op
    assert isinstance(op, Primitive)
    if op is INSTALL or op is CUSTOM:
        return tuple(args)
    if op is LOOP:
        return repeat(args[0], [lifted(a) for a in args[1:]], **node.static)
    args = [lifted(a) for a in args]
    if op is COND:
        return choose(args, *node.static["branches"])
    if op.host:
        raise Inexpressible(f"{op.name} stays on the host: {op.host}")
    kernel = called(op) if REGISTRY.get(op.name) is not op else kernel_of(op)
    result = kernel(*args, **node.static)
    return tuple(result) if op.outputs else (result,)


def called(op: Primitive) -> Any:
    """The JAX function of an op that calls a function of raw arrays."""
    function, args, places = getattr(op.kernel, "parts", (op.kernel, (), []))
    lowered = cloned(function)
    if lowered is function:
        raise Inexpressible(f"{op.name} stays on the host: it is a function of NumPy arrays")

    def kernel(*raws: Any) -> Any:
        given = [cloned(a) if type(a) is FunctionType else a for a in args]
        for i, raw in zip(places, raws, strict=True):
            given[i] = raw
        return lowered(*given)

    return kernel


# -- control flow


def run_body(body: Body, args: list[Any]) -> tuple[Any, ...]:
    """Apply a body to JAX values; the results have the dtypes that they have on NumPy."""
    graph = body.graph(tuple([stand_in(list(np.shape(a)), a.dtype) for a in args]))
    env = dict(zip(graph.inputs, args, strict=True))
    evaluate(graph.needed(), env, graph.specs)
    return tuple([lifted(value_of(env, o)) for o in graph.outputs])


def choose(args: list[Any], yes: Body, no: Body) -> tuple[Any, ...]:
    """Lower `cond` to `lax.cond`."""
    from jax import lax

    pred, *inputs = args
    return tuple(
        lax.cond(pred != 0, lambda: run_body(yes, inputs), lambda: run_body(no, inputs)),
    )


def repeat(
    most: Any, args: list[Any], body: Body, test: Body | None, shape: Shape
) -> tuple[Any, ...]:
    """Lower `loop`: to a scan if the number of iterations is known, else to a while loop."""
    turns = Turns(most, args, body, test, shape)
    if 0 in turns.sizes:
        return turns.scanned(0)
    if test is None and turns.limit is not None:
        return turns.scanned(turns.limit)
    return turns.looped()


class Turns:
    """The inputs of a `loop` and its lowering.

    Attributes:
        limit: the maximum number of iterations, or None if it is known only at run time.
        sizes: lengths of the sliced inputs; they may exceed the number of iterations.
    """

    def __init__(
        self, most: Any, args: list[Any], body: Body, test: Body | None, shape: Shape
    ) -> None:
        """Take the inputs of a `loop`; `most` is its limit."""
        first, last = shape.carries, shape.carries + shape.captures
        self.body, self.test, self.shape = body, test, shape
        self.most = most
        self.carry, self.captures, self.xs = args[:first], args[first:last], args[last:]
        self.limit = known(most)
        self.sizes = [x.shape[axis] for x, axis in zip(self.xs, shape.xs, strict=True)]

    def turn(self, carry: Any, slices: Any) -> tuple[Any, Any, Any]:
        """One iteration: the next carries, the outputs to stack, and the carries to save."""
        outs = run_body(self.body, [*carry, *self.captures, *slices])
        count = self.shape.carries
        return outs[:count], outs[count:], tuple([carry[i] for i in self.shape.saved])

    def scanned(self, count: int) -> tuple[Any, ...]:
        """Lower to a scan of `count` iterations."""
        import jax.numpy as jnp
        from jax import lax

        shape = self.shape
        pairs = zip(self.xs, shape.xs, strict=True)
        xs = [jnp.moveaxis(x, axis, 0)[:count] for x, axis in pairs]

        def step(carry: Any, slices: Any) -> Any:
            after, ys, saved = self.turn(carry, slices)
            return after, (ys, saved)

        carry, stacks = lax.scan(step, tuple(self.carry), xs, count, shape.reverse)
        return self.outputs(carry, np.int64(count), *stacks)

    def looped(self) -> tuple[Any, ...]:
        """Lower to a while loop that ends by the test or by a limit known only at run time."""
        import jax.numpy as jnp
        from jax import lax

        shape = self.shape
        room = self.room() if shape.ys or shape.saved else 0
        specs = [(s, d) for _, s, d in shape.ys]
        specs += [(self.carry[i].shape, self.carry[i].dtype) for i in shape.saved]
        stacks = tuple([jnp.zeros((room, *s), d) for s, d in specs])
        xs = [jnp.moveaxis(x, axis, 0) for x, axis in zip(self.xs, shape.xs, strict=True)]

        def more(state: Any) -> Any:
            done, carry, _ = state
            go = done < self.most
            if self.test is not None:
                go &= run_body(self.test, [*carry, *self.captures])[0] != 0
            return go

        def step(state: Any) -> Any:
            done, carry, stacks = state
            at = self.most - 1 - done if shape.reverse else done
            slices = [lax.dynamic_index_in_dim(x, at, 0, False) for x in xs]
            after, ys, saved = self.turn(carry, slices)
            pairs = zip(stacks, (*ys, *saved), strict=True)
            grown = [lax.dynamic_update_index_in_dim(s, one, at, 0) for s, one in pairs]
            return done + 1, after, tuple(grown)

        begin = (jnp.int64(0), tuple(self.carry), stacks)
        done, carry, stacks = lax.while_loop(more, step, begin)
        return self.outputs(carry, done, stacks[: len(shape.ys)], stacks[len(shape.ys) :])

    def room(self) -> int:
        """The length to allocate for stacked values.

        Raises:
            Inexpressible: if no bound on the number of iterations is known.
        """
        if self.limit is not None and self.limit < FOREVER:
            return self.limit
        if self.sizes and self.test is None:
            return int(self.sizes[0])
        raise Inexpressible(
            "loop needs a bound on the number of iterations for its gradient: give "
            "maximum_iterations"
        )

    def outputs(self, carry: Any, done: Any, ys: Any, saved: Any) -> tuple[Any, ...]:
        """The outputs of the loop in order, each stack along its own axis."""
        import jax.numpy as jnp

        placed = zip(ys, self.shape.ys, strict=True)
        return (
            *carry,
            *[jnp.moveaxis(y, 0, axis) for y, (axis, _, _) in placed],
            done,
            *saved,
        )


def known(value: Any) -> int | None:
    """A number as an int, or None if it is known only at run time."""
    import jax

    return None if isinstance(value, jax.core.Tracer) else int(value)
