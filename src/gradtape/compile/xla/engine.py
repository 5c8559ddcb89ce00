"""The xla engine: a graph becomes one function of `jax.numpy`, which XLA compiles.

JAX is imported only when a graph is compiled. Its settings are those of a context that surrounds
our calls, so that nobody else's JAX code in the process is changed by them.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from gradtape.compile.xla.accelerator import accelerators
from gradtape.compile.xla.lowering import check, evaluate, settings
from gradtape.core.device.array import HOST, Device, Remote, arrived
from gradtape.core.device.lazy_tensor import Handed
from gradtape.core.device.switch import in_use, use_accelerators
from gradtape.core.lazy_array import shown
from gradtape.graph.control_node import LOOP
from gradtape.graph.graph import Constant, Effect, Graph


@functools.cache
def synchronous() -> Any:
    """A CPU of our own for JAX, which runs a program in the thread that calls it.

    JAX's own hands programs to another thread, and waking that takes longer than a small program
    does. Nothing of JAX's is changed by it.
    """
    try:
        from jaxlib.xla_client import make_cpu_client

        return make_cpu_client(asynchronous=False).local_devices()[0]
    except (ImportError, TypeError):  # it is not documented, and may go
        import jax

        return jax.local_devices(backend="cpu")[0]


class XlaPlan:
    """A graph ready to run: called with raw inputs, it returns a tuple of raw outputs.

    Inputs and outputs are NumPy arrays, and NumPy scalars where there are no axes.
    """

    def __init__(self, graph: Graph, device: Device | None = None) -> None:
        """See whether the graph can be expressed; it runs on `device`, or where JAX likes to.

        Raises:
            Inexpressible: if it cannot; says what stands in the way.
        """
        self.in_place: dict[int, int] = {}
        self.device = device
        self.nodes = graph.needed()
        self.specs = graph.specs
        self.inputs = graph.inputs
        checks = [n for n in self.nodes if isinstance(n.op, Effect) and n.op.fails_only]
        given = set(graph.inputs)
        asked = [*graph.outputs, *(i for node in checks for i in node.inputs)]
        self.computed = list(dict.fromkeys(o for o in asked if type(o) is int and o not in given))
        places = {number: k for k, number in enumerate([*self.inputs, *self.computed])}
        self.returned = [o if isinstance(o, Constant) else places[o] for o in graph.outputs]
        self.checked = [
            (node.op, [i if isinstance(i, Constant) else places[i] for i in node.inputs])
            for node in checks
        ]
        read = {i for node in self.nodes for i in node.reads()}
        self.read = [k for k, i in enumerate(self.inputs) if i in read]
        for i in (self.inputs[k] for k in self.read):
            check(self.specs[i].dtype)
        # what a loop has stacked may be longer than it was in the run that was traced
        loops = [node for node in self.nodes if node.op is LOOP]
        self.stretches = any(node.static["shape"].xs for node in loops)
        self.traced()

    def traced(self) -> Any:
        """The program that XLA is given."""
        import jax

        specs = [self.specs[self.inputs[k]] for k in self.read]
        place = jax.sharding.SingleDeviceSharding(self.handle)
        structs = [jax.ShapeDtypeStruct(*spec, sharding=place) for spec in specs]
        with self.settings():
            return self.compiled.trace(*structs)

    @contextlib.contextmanager
    def settings(self) -> Iterator[None]:
        """Around all that traces for JAX or compiles."""
        import jax

        with settings(), jax.default_device(self.handle):
            yield

    @cached_property
    def handle(self) -> Any:
        """JAX's device."""
        import jax

        if self.device is None:
            chosen = jax.config.jax_default_device
            if not isinstance(chosen, jax.Device):
                chosen = jax.local_devices(backend=chosen)[0]
            taken = any(device.handle is chosen for device in accelerators())
            return chosen if taken or chosen.platform != "cpu" else synchronous()
        return self.device.handle or jax.local_devices(backend="cpu")[0]

    @cached_property
    def compiled(self) -> Any:
        """The function of those inputs that are read, compiled for every shape that it is given."""
        import jax

        return jax.jit(self.program)

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The same for the shapes that are known; it need not look at them."""
        import jax

        with self.settings():
            executable = self.traced().lower().compile()
        context, shapes = jax.enable_x64, [self.specs[self.inputs[k]].shape for k in self.read]

        def call(*given: Any) -> Any:
            with context(True):  # without it arrays of 64 bits lose half of them on their way
                return executable(*given)

        def stretching(*given: Any) -> Any:
            if [a.shape for a in given] == shapes:
                return call(*given)
            with self.settings():
                if self.device:
                    given = tuple([jax.device_put(a, self.handle) for a in given])
                return self.compiled(*given)

        if self.stretches:
            return stretching
        wide = any(self.specs[self.inputs[k]].dtype.itemsize > 4 for k in self.read)
        return call if wide else executable

    def program(self, *values: Any) -> tuple[Any, ...]:
        """What is computed, written for JAX."""
        env = dict(zip([self.inputs[k] for k in self.read], values, strict=True))
        evaluate(self.nodes, env, self.specs)
        return tuple([env[i] for i in self.computed])

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """Run."""
        arrays: tuple[Any, ...] = ()
        if self.computed:
            arrays = self.call(*[self.operand(raws[k]) for k in self.read])
        values = [*raws, *map(self.settled, arrays)]
        for op, places in self.checked:
            op.kernel(*[shown(chosen(values, p)) for p in places])
        return tuple([chosen(values, o) for o in self.returned])

    @cached_property
    def start(self) -> Callable[[list[Any]], Any]:
        """To run on the host, on raw inputs or JAX's own; what it computes stays as it is."""
        if not self.computed:
            return lambda given: self.run(*given)
        call, kind, there = self.call, self.kind, {self.kind}
        read, whole = self.read, self.read == list(range(len(self.inputs)))
        straight, brought = self.straight, Brought(self)
        pairs = brought.pairs

        def start(given: list[Any]) -> Any:
            needed = given if whole else [given[k] for k in read]
            if set(map(type, needed)) != there:
                needed = list(needed)
                for k, value in enumerate(needed):
                    if type(value) is not kind:
                        pair = pairs[k]
                        needed[k] = pair[1] if pair[0] is value else brought(k, value)
            arrays = call(*needed)
            return arrays if straight else self.finished([*given, *arrays])

        return start

    @cached_property
    def straight(self) -> bool:
        """Whether what JAX computes is what is returned, all of it and in this order."""
        count = len(self.inputs)
        computed = [*range(count, count + len(self.computed))]
        return not self.checked and self.returned == computed

    def finished(self, values: list[Any]) -> list[Any]:
        """What is returned of all values, once they are checked."""
        for op, places in self.checked:
            raws = [chosen(values, p) for p in places]
            op.kernel(*[on_host(raw) if type(raw) is self.kind else raw for raw in raws])
        return [chosen(values, o) for o in self.returned]

    @cached_property
    def kind(self) -> Any:
        """The class of JAX's arrays."""
        import jax

        return type(jax.device_put(np.float32(0), self.handle))

    __call__ = run

    def operand(self, raw: Any) -> Any:
        """An input as JAX takes it: its own array if there is one on this device."""
        if type(raw) is not Remote:
            found = ON_DEVICE.get(id(raw))
            if found is None:
                return self.copied(raw) if raw.size >= LARGE else raw
            return found[0] if not in_use[0] or found[0].device is self.handle else raw
        if raw.there is not None and raw.there[1] is self.handle:
            return raw.there[0]
        if self.device is not None and self.device is not HOST:
            return raw.on(self.device)
        return raw.seen()

    def copied(self, raw: Any) -> Any:
        """An array, copied once for all calls that are given it."""
        if type(raw) is not np.ndarray or raw.base is not None:  # somebody else may write to it
            return raw
        raw.flags.writeable = False
        array = self.put(raw)
        remember(raw, array)
        return array

    def put(self, raw: Any) -> Any:
        """JAX's copy of an array."""
        import jax

        with jax.enable_x64(True):
            return jax.device_put(raw, self.handle)

    def settled(self, array: Any) -> Any:
        """A result as a raw array; on an accelerator it stays there until somebody looks."""
        if self.device is not None and self.device is not HOST:
            return arrived(array, self.device)
        return Remote(HOST, (array, self.handle)) if self.elsewhere else on_host(array)

    @cached_property
    def elsewhere(self) -> bool:
        """Whether JAX's default device is an accelerator: results then travel when looked at."""
        if all(device.handle is not self.handle for device in accelerators()):
            return False
        use_accelerators()
        return True

    def pretty(self) -> str:
        """The program as JAX shows it."""
        return str(self.traced().jaxpr)


class Brought:
    """Small inputs for JAX: one that comes a second time is copied for all further times.

    Attributes:
        seen: by position what came last; held, so that nobody takes it for their own to write to.
        pairs: by position what was copied, and JAX's copy of it.
    """

    def __init__(self, plan: XlaPlan) -> None:
        """For the calls of a plan."""
        self.plan = plan
        self.seen: list[Any] = [None] * len(plan.read)
        self.pairs: list[tuple[Any, Any]] = [(None, None)] * len(plan.read)

    def __call__(self, place: int, raw: Any) -> Any:
        """An input that is not among the copies."""
        if raw.size >= LARGE or type(raw) is Remote or getattr(raw, "base", None) is not None:
            return self.plan.operand(raw)
        if self.seen[place] is not raw:
            self.seen[place] = raw
            self.pairs[place] = None, None
            return raw
        copy = self.plan.put(raw)
        self.pairs[place] = raw, copy
        return copy


ON_DEVICE: dict[int, tuple[Any, Any]] = {}  # by an array's id JAX's copy, and a `Watch` over it
LARGE = 1 << 14  # elements of an input from which remembering its copy pays


class Watch(weakref.ref[Any]):
    """Knows of an array by its id, also when it is gone."""

    __slots__ = ("key",)
    key: int


def forget(watch: Watch) -> None:
    """An array is gone."""
    ON_DEVICE.pop(watch.key, None)


def remember(raw: Any, array: Any) -> None:
    """Let a raw array, which cannot be written to, lead to JAX's own as long as it is there."""
    watch = Watch(raw, forget)
    watch.key = id(raw)
    ON_DEVICE[watch.key] = array, watch


def on_host(array: Any) -> Any:
    """A result of JAX as a raw array, which leads back to it as long as it is there.

    It cannot be written to, so that both stay the same.
    """
    raw = np.asarray(array)
    if not raw.shape:
        return raw[()]
    remember(raw, array)
    return raw


Handed.fetch = on_host


def chosen(values: list[Any], place: Any) -> Any:
    """A constant, or the value at a place."""
    return place.raw if type(place) is Constant else values[place]


def compile_graph(graph: Graph, device: Device | None = None) -> XlaPlan:
    """A function of the graph's raw inputs that returns its raw outputs.

    Args:
        graph: what to compute.
        device: where; on JAX's default device if None.

    Raises:
        Inexpressible: if XLA cannot run the graph; says what stands in the way.
    """
    return XlaPlan(graph, device)
