"""SpmdPlan: the replicas of a graph as one program that runs on all their devices at once.

Each device computes the lanes for its own replica. Shared values are computed on every device, from
equal operands. A sum over the replicas becomes `psum`; a shared op that reads single replicas in
another way reads them from `all_gather`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gradtape.compile.xla.engine import select_value
from gradtape.compile.xla.jax_runtime import call_again
from gradtape.compile.xla.lowering import (
    NotLowerable,
    as_jax_operand,
    check_jax_dtype,
    jax_settings,
    lower_nodes,
    operand_value,
)
from gradtape.core.lazy_array import materialize
from gradtape.core.ports import devices
from gradtape.devices.array import HOST, DeviceArray
from gradtape.graph.graph import Constant, Effect, Graph, Node
from gradtape.graph.replica_lane import ReplicaGraph, ReplicaMarks, ReplicasDifferError
from gradtape.ops.elementwise import add_all

AXIS = "replica"


class SpmdPlan:
    """A compiled graph of several replicas: called with raw inputs, it returns raw outputs.

    Attributes:
        merged: the graph with one lane for the nodes of all replicas.
        nodes: its live nodes, in order.
        reads: numbers of the inputs that are equal on all devices.
        lane_reads: selections of which each device gets one input.
        computed: numbers of the values that the program returns, each once for all replicas.
    """

    returns_jax_arrays = False
    device = None

    def __init__(self, graph: Graph, marks: ReplicaMarks) -> None:
        """Lower the graph.

        Raises:
            NotLowerable: if the replicas differ, or XLA cannot run the graph.
        """
        self.in_place: dict[int, int] = {}
        self.graph, self.specs = graph, graph.specs
        self.handles = [device.handle for device in marks.devices]
        if not marks.is_usable or len(set(self.handles)) < len(self.handles):
            raise NotLowerable("replicas of different strategies run in one graph")
        try:
            self.merged = ReplicaGraph(graph, marks)
        except ReplicasDifferError as error:
            raise NotLowerable(f"one program cannot serve all replicas: {error}") from error
        self.lanes, self.selections = self.merged.lanes, self.merged.selections
        checks = [n for n in graph.nodes if isinstance(n.op, Effect) and n.op.fails_only]
        asked = [*graph.outputs, *(o for node in checks for o in node.inputs)]
        wanted = [o for o in asked if type(o) is int and o not in self.merged.inputs]
        self.computed = list(dict.fromkeys(map(self.lane_of, wanted)))
        self.nodes = self.find_live_nodes()
        self.lane_reads: list[int] = []
        self.reads: list[int] = []
        self.sort_inputs()
        self.positions = {number: k for k, number in enumerate(graph.inputs)}
        self.places = {number: self.place_of(number) for number in {*graph.inputs, *wanted}}
        self.checks = [(node.op, list(map(self.find, node.inputs))) for node in checks]
        self.output_places = list(map(self.find, graph.outputs))
        self.trace()

    def lane_of(self, number: int) -> int:
        """The lane of a value, or the number of a shared value."""
        return self.lanes[number][0] if number in self.lanes else number

    def find_live_nodes(self) -> list[Node]:
        """The nodes that a returned value depends on."""
        wanted = set(self.computed)
        kept = []
        for node in reversed(self.merged.nodes):
            is_check = isinstance(node.op, Effect) and node.op.fails_only
            if is_check or (node.outputs and wanted.isdisjoint(node.outputs)):
                continue
            kept.append(node)
            for number in node.reads():
                selection = self.selections.get(number)
                given = (number,) if selection is None else (number, *selection.operands)
                wanted.update([self.lane_of(o) for o in given if type(o) is int])
        return kept[::-1]

    def sort_inputs(self) -> None:
        """Find the inputs that the program reads, and those of which each device reads one."""
        inputs, read = self.merged.inputs, set()
        used = {number for node in self.nodes for number in node.reads()}
        for number, selection in self.selections.items():
            given = [o for o in selection.operands if type(o) is int]
            if number not in used:
                continue
            if inputs.issuperset(given) and len(given) == len(selection.operands):
                self.lane_reads.append(number)
            else:
                read.update(given)
        read |= used
        self.reads = [number for number in self.graph.inputs if number in read]
        for number in [*self.reads, *self.lane_reads]:
            check_jax_dtype(self.spec_of_input(number).dtype)

    def place_of(self, number: int) -> tuple[int, int]:
        """The position of a value among inputs and results, and its replica."""
        if number in self.merged.inputs:
            return self.positions[number], 0
        lane, replica = self.lanes.get(number, (number, 0))
        return len(self.graph.inputs) + self.computed.index(lane), replica

    def find(self, operand: Any) -> Any:
        """A constant, or the place of a value."""
        return operand if isinstance(operand, Constant) else self.places[operand]

    def run_program(self, *values: Any) -> tuple[Any, ...]:
        """The computation of one device, as a function of JAX arrays."""
        env: dict[int, Any] = {}
        for number, value in zip([*self.reads, *self.lane_reads], values, strict=True):
            is_lane_scalar = number < 0 and not self.spec_of_input(number).shape
            env[number] = value[0] if is_lane_scalar else value
        gathered: dict[int, Any] = {}
        for node in self.nodes:
            self.select_operands(node, env)
            if not node.outputs or node.outputs[0] in self.lanes:
                lower_nodes([node], env, self.specs)
            elif self.is_sum_of_replicas(node):
                self.sum_over_replicas(node, env)
            else:
                lower_nodes([self.gather_operands(node, env, gathered)], env, self.specs)
        results = [env[number] for number in self.computed]
        return tuple([v[None] if self.is_lane_scalar(n) else v for n, v in self.pair(results)])

    def select_operands(self, node: Node, env: dict[int, Any]) -> None:
        """Compute the operands of a lane that differ between replicas and are no inputs."""
        import jax.numpy as jnp
        from jax import lax

        for number in node.reads():
            if number in self.selections and number not in env:
                operands = self.selections[number].operands
                values = jnp.stack([as_jax_operand(operand_value(env, o)) for o in operands])
                env[number] = lax.dynamic_index_in_dim(values, lax.axis_index(AXIS), 0, False)

    def is_sum_of_replicas(self, node: Node) -> bool:
        """Whether a shared node adds one value of each replica."""
        places = [self.lanes.get(o) if type(o) is int else None for o in node.inputs]
        first = places[0] if places else None
        is_sum = node.op is add_all.op and first is not None
        return is_sum and places == [(first[0], i) for i in range(len(self.handles))]  # type: ignore[index]

    def sum_over_replicas(self, node: Node, env: dict[int, Any]) -> None:
        """Add a value over the devices."""
        from jax import lax

        env[node.outputs[0]] = lax.psum(env[self.lane_of(node.reads()[0])], AXIS)

    def gather_operands(self, node: Node, env: dict[int, Any], gathered: dict[int, Any]) -> Node:
        """A shared node with the values of single replicas as operands."""
        from jax import lax

        inputs: list[Any] = list(node.inputs)
        for k, operand in enumerate(inputs):
            if type(operand) is not int or operand not in self.lanes:
                continue
            lane, replica = self.lanes[operand]
            if lane not in gathered:
                gathered[lane] = lax.all_gather(env[lane], AXIS)
            inputs[k] = self.fetch_number(operand)
            env[inputs[k]] = gathered[lane][replica]
        return Node(node.op, tuple(inputs), node.static, node.outputs, node.location)

    def fetch_number(self, operand: int) -> int:
        """A number for the value of one replica on all devices."""
        return -1 - len(self.selections) - operand

    def is_lane_scalar(self, number: int) -> bool:
        """Whether a result is a scalar of each replica; it travels with an axis."""
        return number in self.lanes and not self.specs[number].shape

    def pair(self, results: Any) -> Any:
        """The results with their numbers."""
        return zip(self.computed, results, strict=True)

    def spec_of_input(self, number: int) -> Any:
        """The spec of an input, or of each input of a selection."""
        operand: Any = self.selections[number].operands[0] if number < 0 else number
        return self.specs[operand]

    @cached_property
    def mesh(self) -> Any:
        """The devices of the replicas."""
        from jax.sharding import Mesh

        return Mesh(np.array(self.handles, object), (AXIS,))

    @cached_property
    def shardings(self) -> tuple[Any, Any]:
        """The shardings of values that all devices share, and of those of replicas."""
        from jax.sharding import NamedSharding, PartitionSpec

        return (
            NamedSharding(self.mesh, PartitionSpec()),
            NamedSharding(self.mesh, PartitionSpec(AXIS)),
        )

    @cached_property
    def jit_function(self) -> Any:
        """The jitted program over all devices."""
        import jax
        from jax.sharding import PartitionSpec

        whole, divided = PartitionSpec(), PartitionSpec(AXIS)
        return jax.jit(
            jax.shard_map(
                self.run_program,
                mesh=self.mesh,
                in_specs=(*[whole] * len(self.reads), *[divided] * len(self.lane_reads)),
                out_specs=tuple([divided if n in self.lanes else whole for n in self.computed]),
                check_vma=False,
            )
        )

    def trace(self) -> Any:
        """The JAX trace of the program, which XLA compiles."""
        import jax

        structs = []
        for number in [*self.reads, *self.lane_reads]:
            shape, dtype = self.spec_of_input(number)
            if number < 0:
                shape = self.global_shape(shape)
            place = self.shardings[number < 0]
            structs.append(jax.ShapeDtypeStruct(tuple(shape), dtype, sharding=place))
        with jax_settings():
            return self.jit_function.trace(*structs)

    def global_shape(self, shape: Any) -> tuple[int, ...]:
        """The shape of the arrays of all replicas, joined along the first axis."""
        count = len(self.handles)
        return (count * shape[0], *shape[1:]) if shape else (count,)

    @cached_property
    def executable(self) -> Any:
        """The compiled program."""
        with jax_settings():
            return self.trace().lower().compile()

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """Run the plan."""
        arrays: Any = ()
        if self.computed:
            import jax

            devices.activate()
            given = [self.put_shared(raws[self.positions[n]]) for n in self.reads]
            given += [self.put_lane(n, raws) for n in self.lane_reads]
            with jax.enable_x64(True):
                try:
                    arrays = self.executable(*given)
                except Exception as error:
                    arrays = call_again(error, self.executable, given)
        values = [*[(raw,) for raw in raws], *[self.wrap(n, a) for n, a in self.pair(arrays)]]
        for op, places in self.checks:
            op.kernel(*[materialize(self.take(values, place)) for place in places])
        return tuple([self.take(values, place) for place in self.output_places])

    __call__ = run

    def take(self, values: list[Any], place: Any) -> Any:
        """A constant, or the value of a replica."""
        if isinstance(place, Constant):
            return select_value(values, place)
        each = values[place[0]]
        return each[place[1] if len(each) > 1 else 0]

    def put_shared(self, raw: Any) -> Any:
        """An input on all devices; results of an earlier call are there already."""
        import jax

        if type(raw) is DeviceArray:
            copy = raw.device_copy
            if copy is not None and copy[1] is self.mesh:
                return copy[0]
            array = jax.device_put(raw.value(), self.shardings[0])
            if raw.device is HOST:
                raw.device_copy = array, self.mesh
            return array
        with jax.enable_x64(True):
            return jax.device_put(raw, self.shardings[0])

    def put_lane(self, number: int, raws: Any) -> Any:
        """The inputs of all replicas, each on its own device."""
        import jax

        parts = []
        shape, _ = self.spec_of_input(number)
        operands: Any = self.selections[number].operands
        for operand, handle in zip(operands, self.handles, strict=True):
            raw = raws[self.positions[operand]]
            copy = raw.device_copy if type(raw) is DeviceArray else None
            if copy is not None and copy[1] is handle:
                parts.append(copy[0])
                continue
            value = materialize(raw)
            with jax.enable_x64(True):
                parts.append(jax.device_put(value if shape else np.reshape(value, 1), handle))
        return jax.make_array_from_single_device_arrays(
            self.global_shape(shape), self.shardings[1], parts
        )

    def wrap(self, number: int, array: Any) -> tuple[Any, ...]:
        """A result as raw arrays: one for each replica, or one that all of them share."""
        if number not in self.lanes:
            return (DeviceArray(HOST, (array, self.mesh)),)
        by_device = {shard.device: shard.data for shard in array.addressable_shards}
        parts = [by_device[handle] for handle in self.handles]
        if not self.specs[number].shape:
            return tuple([np.asarray(part)[0] for part in parts])
        return tuple(
            DeviceArray(HOST, (part, handle))
            for part, handle in zip(parts, self.handles, strict=True)
        )

    def pretty(self) -> str:
        """The program as JAX prints it."""
        return str(self.trace().jaxpr)


def compile_replicas(graph: Graph, marks: ReplicaMarks) -> SpmdPlan:
    """Compile a graph for the devices of its replicas."""
    plan = SpmdPlan(graph, marks)
    if plan.computed:
        _ = plan.executable
    return plan
