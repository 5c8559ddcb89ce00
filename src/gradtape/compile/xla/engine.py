"""The xla engine: compiles a graph with XLA, as one function of `jax.numpy`.

JAX is imported only when a graph is compiled. Its settings are set by context managers around our
calls, so that other JAX code in the process is not affected.
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
    """Make a separate CPU device for JAX that runs programs in the calling thread.

    JAX's default CPU device runs programs in another thread, and waking it takes longer than a
    small program. JAX's own devices are not affected.
    """
    try:
        from jaxlib.xla_client import make_cpu_client

        return make_cpu_client(asynchronous=False).local_devices()[0]
    except (ImportError, TypeError):  # an undocumented function, which may disappear
        import jax

        return jax.local_devices(backend="cpu")[0]


class XlaPlan:
    """A compiled graph: called with raw inputs, it returns a tuple of raw outputs.

    Inputs and outputs are NumPy arrays, or NumPy scalars if they have no axes.

    Attributes:
        computed: numbers of the values that JAX computes and returns.
        returned: for each output a constant, or its position among inputs and computed values.
        checked: assertions that run on the host, each with the positions of its arguments.
        read: positions of the inputs that are read.
        stretches: whether inputs of loops may have other lengths than in the trace.
    """

    def __init__(self, graph: Graph, device: Device | None = None) -> None:
        """Lower the graph; it runs on `device`, or on JAX's default device.

        Raises:
            Inexpressible: if XLA cannot run the graph; the message gives the reason.
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
        # values that a loop stacked may have another length than in the traced run
        loops = [node for node in self.nodes if node.op is LOOP]
        self.stretches = any(node.static["shape"].xs for node in loops)
        self.traced()

    def traced(self) -> Any:
        """The JAX trace of the program, which XLA compiles."""
        import jax

        specs = [self.specs[self.inputs[k]] for k in self.read]
        place = jax.sharding.SingleDeviceSharding(self.handle)
        structs = [jax.ShapeDtypeStruct(*spec, sharding=place) for spec in specs]
        with self.settings():
            return self.compiled.trace(*structs)

    @contextlib.contextmanager
    def settings(self) -> Iterator[None]:
        """JAX's settings and default device while tracing and compiling."""
        import jax

        with settings(), jax.default_device(self.handle):
            yield

    @cached_property
    def handle(self) -> Any:
        """The JAX device on which the plan runs."""
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
        """The jitted function of the inputs that are read; JAX compiles it for each shape."""
        import jax

        return jax.jit(self.program)

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The executable for the traced shapes, called without JAX's check of shapes."""
        import jax

        with self.settings():
            executable = self.traced().lower().compile()
        context, shapes = jax.enable_x64, [self.specs[self.inputs[k]].shape for k in self.read]

        def call(*given: Any) -> Any:
            with context(True):  # else JAX would convert 64-bit inputs to 32 bits
                return executable(*given)

        def call_with_any_length(*given: Any) -> Any:
            if [a.shape for a in given] == shapes:
                return call(*given)
            with self.settings():
                if self.device:
                    given = tuple([jax.device_put(a, self.handle) for a in given])
                return self.compiled(*given)

        if self.stretches:
            return call_with_any_length
        wide = any(self.specs[self.inputs[k]].dtype.itemsize > 4 for k in self.read)
        return call if wide else executable

    def program(self, *values: Any) -> tuple[Any, ...]:
        """The computation as a function of JAX arrays."""
        env = dict(zip([self.inputs[k] for k in self.read], values, strict=True))
        evaluate(self.nodes, env, self.specs)
        return tuple([env[i] for i in self.computed])

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """Run the plan."""
        arrays: tuple[Any, ...] = ()
        if self.computed:
            arrays = self.call(*[self.operand(raws[k]) for k in self.read])
        values = [*raws, *map(self.settled, arrays)]
        for op, places in self.checked:
            op.kernel(*[shown(chosen(values, p)) for p in places])
        return tuple([chosen(values, o) for o in self.returned])

    @cached_property
    def start(self) -> Callable[[list[Any]], Any]:
        """A function that runs the plan on raw or JAX inputs; results stay JAX arrays."""
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
        """Whether the outputs are exactly the values that JAX computes, in the same order."""
        count = len(self.inputs)
        computed = [*range(count, count + len(self.computed))]
        return not self.checked and self.returned == computed

    def finished(self, values: list[Any]) -> list[Any]:
        """Run the assertions, then select the outputs from all values."""
        for op, places in self.checked:
            raws = [chosen(values, p) for p in places]
            op.kernel(*[on_host(raw) if type(raw) is self.kind else raw for raw in raws])
        return [chosen(values, o) for o in self.returned]

    @cached_property
    def kind(self) -> Any:
        """The class of JAX arrays."""
        import jax

        return type(jax.device_put(np.float32(0), self.handle))

    __call__ = run

    def operand(self, raw: Any) -> Any:
        """An input for JAX: the cached copy on this device if there is one."""
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
        """Copy an array to the device once; later calls with the same array reuse the copy."""
        if type(raw) is not np.ndarray or raw.base is not None:  # other references may write to it
            return raw
        raw.flags.writeable = False
        array = self.put(raw)
        remember(raw, array)
        return array

    def put(self, raw: Any) -> Any:
        """Copy a raw array to the device."""
        import jax

        with jax.enable_x64(True):
            return jax.device_put(raw, self.handle)

    def settled(self, array: Any) -> Any:
        """Wrap a JAX result; results on an accelerator are copied to the host on first access."""
        if self.device is not None and self.device is not HOST:
            return arrived(array, self.device)
        return Remote(HOST, (array, self.handle)) if self.elsewhere else on_host(array)

    @cached_property
    def elsewhere(self) -> bool:
        """Whether JAX's default device is an accelerator, so that results are copied lazily."""
        if all(device.handle is not self.handle for device in accelerators()):
            return False
        use_accelerators()
        return True

    def pretty(self) -> str:
        """The program as JAX prints it."""
        return str(self.traced().jaxpr)


class Brought:
    """Cache of small inputs: an array that is passed twice in a row is copied to the device once.

    Attributes:
        seen: by position, the last input. The reference also prevents in-place updates of it.
        pairs: by position, the copied input and its JAX array.
    """

    def __init__(self, plan: XlaPlan) -> None:
        """Make the cache for the calls of a plan."""
        self.plan = plan
        self.seen: list[Any] = [None] * len(plan.read)
        self.pairs: list[tuple[Any, Any]] = [(None, None)] * len(plan.read)

    def __call__(self, place: int, raw: Any) -> Any:
        """The operand for an input without a cached copy."""
        if raw.size >= LARGE or type(raw) is Remote or getattr(raw, "base", None) is not None:
            return self.plan.operand(raw)
        if self.seen[place] is not raw:
            self.seen[place] = raw
            self.pairs[place] = None, None
            return raw
        copy = self.plan.put(raw)
        self.pairs[place] = raw, copy
        return copy


ON_DEVICE: dict[int, tuple[Any, Any]] = {}  # by id of an array: its JAX copy, and a `Watch`
LARGE = 1 << 14  # elements; caching the copy of an input pays off from here on


class Watch(weakref.ref[Any]):
    """A weak reference to an array that keeps the id of the array."""

    __slots__ = ("key",)
    key: int


def forget(watch: Watch) -> None:
    """Remove the copy of an array that was deleted."""
    ON_DEVICE.pop(watch.key, None)


def remember(raw: Any, array: Any) -> None:
    """Cache the JAX copy of a read-only raw array for the lifetime of the raw array."""
    watch = Watch(raw, forget)
    watch.key = id(raw)
    ON_DEVICE[watch.key] = array, watch


def on_host(array: Any) -> Any:
    """Convert a JAX result to a raw array, and cache the JAX array as its copy.

    The raw array is read-only, so that both stay equal.
    """
    raw = np.asarray(array)
    if not raw.shape:
        return raw[()]
    remember(raw, array)
    return raw


Handed.fetch = on_host


def chosen(values: list[Any], place: Any) -> Any:
    """A constant, or the value at a position."""
    return place.raw if type(place) is Constant else values[place]


def compile_graph(graph: Graph, device: Device | None = None) -> XlaPlan:
    """Compile a graph into a plan, from raw inputs to raw outputs.

    Args:
        graph: the graph.
        device: where to run it; JAX's default device if None.

    Raises:
        Inexpressible: if XLA cannot run the graph; the message gives the reason.
    """
    return XlaPlan(graph, device)
