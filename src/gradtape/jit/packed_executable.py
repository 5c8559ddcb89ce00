"""PackedExecutable: runs calls on XLA whose small variables are parts of one buffer."""

from __future__ import annotations

from itertools import repeat
from operator import is_, itemgetter
from typing import Any

from gradtape.core.lazy_array import PackedArray, get_held_array, make_lazy_versions
from gradtape.core.ports import devices
from gradtape.jit.executable import Executable
from gradtape.jit.trace_path import TracedPath
from gradtape.jit.xla_executable import XlaExecutable


class PackedExecutable(XlaExecutable):
    """The same with a buffer for the small variables.

    The buffer of the last call is the argument of the next one if the variables still hold its
    parts. Otherwise a new one is made of what they hold.

    Attributes:
        last: the parts of the last buffer, and the buffer; replaced as a whole.
    """

    def __init__(self, plan: Any, path: TracedPath) -> None:
        """Run `plan`, which was compiled from the graph of `path`."""
        super().__init__(plan, path)
        layout = self.layout = plan.layout
        self.start_packed = plan.packed.start
        first = len(path.graph.inputs) - len(path.states)
        packed = [k - first for k in layout.inputs]
        self.pick_packed = itemgetter(*packed)
        self.other_states = sorted(set(range(len(path.states))) - set(packed))
        self.packed_writes = [k - self.first_write for k in layout.outputs]
        self.packs_all = self.packed_writes == list(range(len(path.writes)))
        self.last: tuple[list[Any], Any] = ([None] * len(packed), None)

    def run(self, tensors: list[Any], given: list[Any]) -> Any:
        """Run a call on its tensors and variable arguments, without recorders."""
        variables = self.variables
        if variables is None:
            variables = self.path.resolve_variables(given)
        before: Any = self.snapshot(*variables)
        try:
            held = list(map(get_held_array, before))
        except TypeError:  # one of them is being updated
            return super().run(tensors, given)
        parts, (known, buffer) = self.pick_packed(held), self.last
        if not all(map(is_, parts, known)):
            buffer = self.layout.make_buffer(parts, known, buffer)
        others = [held[k] for k in self.other_states]
        raws = [*map(get_held_array, tensors), *self.lazy_captures, *others, buffer]
        outputs = self.start_packed(raws)
        buffer = outputs[-1]
        parts = list(map(PackedArray, zip(repeat(buffer), self.layout.places, strict=False)))
        written, checked, blind = self.written, self.checked, self.blind
        if self.variables is None:
            written, checked, blind = self.group_variables(variables)
        fresh = self.make_packed_versions(parts, written, outputs)
        if not self.checks_all:
            before = [before[i] for i in self.path.checked]
        if self.commit(*written, *fresh, *checked, *before, *blind):
            self.last = parts, buffer
            return self.pack(outputs)
        raws = [*map(get_held_array, tensors), *self.lazy_captures]
        return self.pack(self.run_alone(raws, variables))

    def make_packed_versions(self, parts: list[Any], written: list[Any], outputs: Any) -> list[Any]:
        """The new versions of all written variables."""
        if self.packs_all:
            return make_lazy_versions(parts)
        others = iter(outputs[self.first_write : -1])
        packed = dict(zip(self.packed_writes, parts, strict=True))
        values = [packed[k] if k in packed else next(others) for k in range(len(written))]
        return self.make_lazy_versions(written, values)


def make_executable(plan: Any, path: TracedPath) -> Executable:
    """The executable for a plan."""
    if not plan.returns_jax_arrays or devices.active:
        return Executable(plan, path)
    if getattr(plan, "layout", None) is not None:
        return PackedExecutable(plan, path)
    return XlaExecutable(plan, path)
