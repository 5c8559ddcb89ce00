"""XlaExecutable: runs the calls of one signature on XLA."""

from __future__ import annotations

from typing import Any

from gradtape.core.lazy_array import (
    PackedArray,
    get_held_array,
    make_lazy_tensor,
    make_lazy_versions,
)
from gradtape.core.ports import XlaPort
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.jit.executable import Executable, make_packer
from gradtape.jit.trace_path import TracedPath
from gradtape.state.variable.commit import (
    make_versions,
    read_versions,
    run_exclusively,
    snapshot_function,
    store_exclusively,
)


class XlaExecutable(Executable):
    """The same for the xla engine: JAX arrays are passed and returned without conversion."""

    def __init__(self, plan: Any, path: TracedPath) -> None:
        """Run `plan`, which was compiled from the graph of `path`."""
        super().__init__(plan, path)
        self.snapshot = snapshot_function(len(path.states))
        self.start, self.array_type, self.is_direct = plan.start, plan.array_type, plan.is_direct
        self.lazy_captures = list(map(get_held_array, path.captures))
        self.pack = make_packer(path, self.make_result)

    def make_result(self, value: Any) -> Tensor:
        """A result as a tensor."""
        return make_lazy_tensor(value) if type(value) is self.array_type else make_tensor(value)

    def choose_run(self) -> None:
        """Keep `run`."""

    def make_lazy_versions(self, written: list[Any], values: Any) -> list[Any]:
        """Results as versions of variables; many are made by loops in C."""
        kind = self.array_type
        if self.is_direct or set(map(type, values)) <= {kind, PackedArray}:
            return make_lazy_versions(values)
        raws = [XlaPort.fetch(value) if type(value) is kind else value for value in values]
        return make_versions(written, raws)

    def run(self, tensors: list[Any], given: list[Any]) -> Any:
        """Run a call on its tensors and variable arguments, without recorders."""
        raws = [*map(get_held_array, tensors), *self.lazy_captures]
        variables = self.variables
        if variables is None:
            variables = self.path.resolve_variables(given)
        before: Any = self.snapshot(*variables)
        try:
            arrays = list(map(get_held_array, before))
        except TypeError:  # one of them is being updated
            before = read_versions(variables)
            arrays = list(map(get_held_array, before))
        outputs = self.start([*raws, *arrays])
        if self.writes:
            written, checked, blind = self.written, self.checked, self.blind
            if self.variables is None:
                written, checked, blind = self.group_variables(variables)
            fresh = self.make_lazy_versions(written, outputs[self.first_write : self.last_write])
            if not self.checks_all:
                before = [before[i] for i in self.path.checked]
            if not self.commit(*written, *fresh, *checked, *before, *blind):
                outputs = self.run_alone(raws, variables)
        return self.pack(outputs)

    def run_alone(self, raws: list[Any], variables: list[Any]) -> Any:
        """The outputs, computed and stored while other threads wait for the written variables."""
        written = [variables[i] for i in self.path.writes]

        def compute_and_store(before: Any) -> Any:
            outputs = self.start([*raws, *map(get_held_array, before)])
            values = outputs[self.first_write : self.last_write]
            store_exclusively(written, self.make_lazy_versions(written, values))
            return outputs

        return run_exclusively(variables, self.path.writes, compute_and_store)
