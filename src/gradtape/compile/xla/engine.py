"""The xla engine: compiles a graph with XLA, as one function of `jax.numpy`.

JAX is imported only when a graph is compiled. Its settings are set by context managers around our
calls, so that other JAX code in the process is not affected.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from gradtape.compile.index_check import IndexCheck
from gradtape.compile.xla.device import accelerators
from gradtape.compile.xla.jax_runtime import call_again, release_compiler_memory
from gradtape.compile.xla.lowering import check_jax_dtype, jax_settings, lower_nodes
from gradtape.core.lazy_array import PackedArray, materialize
from gradtape.core.ports import XlaPort, devices
from gradtape.devices.array import (
    HOST,
    Device,
    DeviceArray,
    from_jax_array,
)
from gradtape.graph.control_node import LOOP
from gradtape.graph.graph import Constant, Effect, Graph

MIN_NODES_TO_RELEASE = 100  # nodes of a graph whose compilation takes much memory


@functools.cache
def make_synchronous_cpu() -> Any:
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
        computed_values: numbers of the values that JAX computes and returns.
        output_places: for each output a constant, or its position among inputs and computed values.
        assertions: assertions that run on the host, each with the positions of its arguments.
        read_positions: positions of the inputs that are read.
        has_variable_lengths: whether inputs of loops may have other lengths than in the trace.
    """

    def __init__(
        self, graph: Graph, device: Device | None = None, index_checks: Sequence[IndexCheck] = ()
    ) -> None:
        """Lower the graph; it runs on `device`, or on JAX's default device.

        The host makes `index_checks` after each run.

        Raises:
            NotLowerable: if XLA cannot run the graph; the message gives the reason.
        """
        self.in_place: dict[int, int] = {}
        self.device = device
        self.nodes = graph.live_nodes()
        self.specs = graph.specs
        self.inputs = graph.inputs
        checks = [n for n in self.nodes if isinstance(n.op, Effect) and n.op.fails_only]
        given = set(graph.inputs)
        asked = [*graph.outputs, *(i for node in checks for i in node.inputs)]
        asked += [check.operand for check in index_checks]
        self.computed_values = list(
            dict.fromkeys(o for o in asked if type(o) is int and o not in given)
        )
        places = {number: k for k, number in enumerate([*self.inputs, *self.computed_values])}
        self.output_places = [o if isinstance(o, Constant) else places[o] for o in graph.outputs]
        self.assertions: list[tuple[Any, list[Any]]] = [
            (node.op, [i if isinstance(i, Constant) else places[i] for i in node.inputs])
            for node in checks
        ]
        self.assertions += [(check, [places[check.operand]]) for check in index_checks]
        read = {i for node in self.nodes for i in node.reads()}
        self.read_positions = [k for k, i in enumerate(self.inputs) if i in read]
        for i in (self.inputs[k] for k in self.read_positions):
            check_jax_dtype(self.specs[i].dtype)
        # values that a loop stacked may have another length than in the traced run
        loops = [node for node in self.nodes if node.op is LOOP]
        self.has_variable_lengths = any(node.static["shape"].xs for node in loops)
        self.trace()

    def trace(self) -> Any:
        """The JAX trace of the program, which XLA compiles."""
        import jax

        specs = [self.specs[self.inputs[k]] for k in self.read_positions]
        place = jax.sharding.SingleDeviceSharding(self.jax_device)
        structs = [jax.ShapeDtypeStruct(*spec, sharding=place) for spec in specs]
        with self.trace_settings():
            return self.jit_function.trace(*structs)

    @contextlib.contextmanager
    def trace_settings(self) -> Iterator[None]:
        """JAX's settings and default device while tracing and compiling."""
        import jax

        with jax_settings(), jax.default_device(self.jax_device):
            yield

    @cached_property
    def jax_device(self) -> Any:
        """The JAX device on which the plan runs."""
        import jax

        if self.device is None:
            chosen = jax.config.jax_default_device
            if not isinstance(chosen, jax.Device):
                chosen = jax.local_devices(backend=chosen)[0]
            taken = any(device.handle is chosen for device in accelerators())
            return chosen if taken or chosen.platform != "cpu" else make_synchronous_cpu()
        return self.device.handle or jax.local_devices(backend="cpu")[0]

    @cached_property
    def jit_function(self) -> Any:
        """The jitted function of the inputs that are read; JAX compiles it for each shape."""
        import jax

        return jax.jit(self.jax_program)

    @cached_property
    def call_executable(self) -> Callable[..., Any]:
        """The executable for the traced shapes, called without JAX's check of shapes."""
        import jax

        with self.trace_settings():
            executable = self.trace().lower().compile()
        if len(self.nodes) >= MIN_NODES_TO_RELEASE:
            release_compiler_memory()
        context, shapes = (
            jax.enable_x64,
            [self.specs[self.inputs[k]].shape for k in self.read_positions],
        )

        def call(*given: Any) -> Any:
            with context(True):  # else JAX would convert 64-bit inputs to 32 bits
                return executable(*given)

        def call_with_any_length(*given: Any) -> Any:
            if [a.shape for a in given] == shapes:
                return call(*given)
            with self.trace_settings():
                if self.device:
                    given = tuple([jax.device_put(a, self.jax_device) for a in given])
                return self.jit_function(*given)

        if self.has_variable_lengths:
            return call_with_any_length
        wide = any(self.specs[self.inputs[k]].dtype.itemsize > 4 for k in self.read_positions)
        return call if wide else executable

    def compile_now(self) -> XlaPlan:
        """Compile the program before the first call, so that a failure shows; return the plan."""
        if self.computed_values:
            _ = self.call_executable
        return self

    def jax_program(self, *values: Any) -> tuple[Any, ...]:
        """The computation as a function of JAX arrays."""
        env = dict(zip([self.inputs[k] for k in self.read_positions], values, strict=True))
        lower_nodes(self.nodes, env, self.specs)
        return tuple([env[i] for i in self.computed_values])

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """Run the plan."""
        arrays: tuple[Any, ...] = ()
        if self.computed_values:
            given = [self.as_jax_input(raws[k]) for k in self.read_positions]
            try:
                arrays = self.call_executable(*given)
            except Exception as error:
                arrays = call_again(error, self.call_executable, given)
        values = [*raws, *map(self.wrap_result, arrays)]
        for op, places in self.assertions:
            op.kernel(*[materialize(select_value(values, p)) for p in places])
        return tuple([select_value(values, o) for o in self.output_places])

    @property
    def returns_jax_arrays(self) -> bool:
        """Whether `start` may run the plan: on the host, where JAX arrays are lazy tensors."""
        return not self.is_on_accelerator

    @cached_property
    def start(self) -> Callable[[list[Any]], Any]:
        """A function that runs the plan on raw or JAX inputs; results stay JAX arrays."""
        if not self.computed_values:
            return lambda given: self.run(*given)
        call, kind, there = self.call_executable, self.array_type, {self.array_type}
        read, whole = self.read_positions, self.read_positions == list(range(len(self.inputs)))
        straight, brought = self.is_direct, DeviceInputCache(self)
        pairs = brought.copies

        def start(given: list[Any]) -> Any:
            needed = given if whole else [given[k] for k in read]
            if set(map(type, needed)) != there:
                needed = list(needed)
                for k, value in enumerate(needed):
                    if type(value) is not kind:
                        value = value.value() if type(value) is PackedArray else value
                        pair = pairs[k]
                        needed[k] = pair[1] if pair[0] is value else brought(k, value)
            try:
                arrays = call(*needed)
            except Exception as error:
                arrays = call_again(error, call, needed)
            return arrays if straight else self.take_outputs([*given, *arrays])

        return start

    @cached_property
    def is_direct(self) -> bool:
        """Whether the outputs are exactly the values that JAX computes, in the same order."""
        count = len(self.inputs)
        computed = [*range(count, count + len(self.computed_values))]
        return not self.assertions and self.output_places == computed

    def take_outputs(self, values: list[Any]) -> list[Any]:
        """Run the assertions, then select the outputs from all values."""
        for op, places in self.assertions:
            raws = [select_value(values, p) for p in places]
            op.kernel(*[to_host(raw) if type(raw) is self.array_type else raw for raw in raws])
        return [select_value(values, o) for o in self.output_places]

    @cached_property
    def array_type(self) -> Any:
        """The class of JAX arrays."""
        import jax

        return type(jax.device_put(np.float32(0), self.jax_device))

    __call__ = run

    def as_jax_input(self, raw: Any) -> Any:
        """An input for JAX: the cached copy on this device if there is one."""
        if type(raw) is not DeviceArray:
            copy = find_copy(raw)
            if copy is None:
                return self.copy_once(raw) if raw.size >= MIN_CACHED_ELEMENTS else raw
            return copy if not devices.active or copy.device is self.jax_device else raw
        if raw.device_copy is not None and raw.device_copy[1] is self.jax_device:
            return raw.device_copy[0]
        if self.device is not None and self.device is not HOST:
            return raw.jax_array_on(self.device)
        return raw.value()

    def copy_once(self, raw: Any) -> Any:
        """Copy an array to the device once; later calls with the same array reuse the copy."""
        if type(raw) is not np.ndarray or raw.base is not None:  # other references may write to it
            return raw
        raw.flags.writeable = False
        array = self.to_jax_array(raw)
        remember_copy(raw, array)
        return array

    def to_jax_array(self, raw: Any) -> Any:
        """Copy a raw array to the device."""
        import jax

        with jax.enable_x64(True):
            return jax.device_put(raw, self.jax_device)

    def wrap_result(self, array: Any) -> Any:
        """Wrap a JAX result; results on an accelerator are copied to the host on first access."""
        if self.device is not None and self.device is not HOST:
            return from_jax_array(array, self.device)
        return (
            DeviceArray(HOST, (array, self.jax_device))
            if self.is_on_accelerator
            else to_host(array)
        )

    @cached_property
    def is_on_accelerator(self) -> bool:
        """Whether JAX's default device is an accelerator, so that results are copied lazily."""
        if all(device.handle is not self.jax_device for device in accelerators()):
            return False
        devices.activate()
        return True

    def pretty(self) -> str:
        """The program as JAX prints it."""
        return str(self.trace().jaxpr)


class DeviceInputCache:
    """Cache of small inputs: an array that is passed twice in a row is copied to the device once.

    Attributes:
        last_inputs: by position, the last input. The reference also prevents in-place updates of
            it.
        copies: by position, the copied input and its JAX array.
    """

    def __init__(self, plan: XlaPlan) -> None:
        """Make the cache for the calls of a plan."""
        self.plan = plan
        self.last_inputs: list[Any] = [None] * len(plan.read_positions)
        self.copies: list[tuple[Any, Any]] = [(None, None)] * len(plan.read_positions)

    def __call__(self, place: int, raw: Any) -> Any:
        """The operand for an input without a cached copy."""
        if (
            raw.size >= MIN_CACHED_ELEMENTS
            or type(raw) is DeviceArray
            or getattr(raw, "base", None) is not None
        ):
            return self.plan.as_jax_input(raw)
        if self.last_inputs[place] is not raw:
            self.last_inputs[place] = raw
            self.copies[place] = None, None
            return raw
        copy = self.plan.to_jax_array(raw)
        self.copies[place] = raw, copy
        return copy


# By id of an array: a weak reference to it, and its JAX copy
DEVICE_COPIES: dict[int, tuple[weakref.ref[Any], Any]] = {}
MIN_CACHED_ELEMENTS = 1 << 14  # elements; caching the copy of an input pays off from here on


def find_copy(raw: Any) -> Any:
    """The cached JAX copy of a raw array, or None."""
    known = DEVICE_COPIES.get(id(raw))
    return None if known is None or known[0]() is not raw else known[1]


def remember_copy(raw: Any, array: Any) -> None:
    """Cache the JAX copy of a read-only raw array for the lifetime of the raw array."""
    forget = partial(DEVICE_COPIES.pop, id(raw))  # C code, which no interrupt can skip
    DEVICE_COPIES[id(raw)] = weakref.ref(raw, forget), array


def to_host(array: Any) -> Any:
    """Convert a JAX result to a raw array, and cache the JAX array as its copy.

    The raw array is read-only, so that both stay equal.
    """
    if type(array) is PackedArray:
        return array.value()
    raw = np.asarray(array)
    if not raw.shape:
        return raw[()]
    remember_copy(raw, array)
    return raw


XlaPort.supply(fetch=to_host)


def select_value(values: list[Any], place: Any) -> Any:
    """A constant, or the value at a position."""
    return place.raw if type(place) is Constant else values[place]


def compile_graph(
    graph: Graph, device: Device | None = None, index_checks: Sequence[IndexCheck] = ()
) -> XlaPlan:
    """Compile a graph into a plan, from raw inputs to raw outputs.

    Args:
        graph: the graph.
        device: where to run it; JAX's default device if None.
        index_checks: checks of indices that the host makes after each run.

    Raises:
        NotLowerable: if XLA cannot run the graph; the message gives the reason.
    """
    return XlaPlan(graph, device, index_checks)
