"""Executable: what runs the calls of one signature, from tensors to results.

It reads the variables, runs the plan, commits the new values and packs the results. `run` is for
calls without an active tape, `record` for calls under tapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Any

from gradtape.core.context import local, next_uid
from gradtape.core.dispatch import TapeRecord
from gradtape.core.dtypes import is_differentiable
from gradtape.core.ledger import ledger, note_call
from gradtape.core.ownership import HAS_GIL
from gradtape.core.ports import TapePort, devices
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor, mark_recorded
from gradtape.jit.backward import FUNCTION_STEP, SavedCall
from gradtape.jit.result_filler import make_filler
from gradtape.jit.trace_path import TracedPath
from gradtape.state.variable.commit import (
    ExclusiveUpdate,
    commit_function,
    make_versions,
    read_function,
    read_versions,
    run_commit_calls,
    run_exclusively,
    sort_places,
    store_exclusively,
    update_function,
)

get_array = attrgetter("_array")
MIN_IN_PLACE_BYTES = 32768  # on average; below, a new array costs less than the ownership check


def as_is(tensor: Any) -> Any:
    """The tensor itself, for `make_packer`."""
    return tensor


def make_packer(
    path: TracedPath, tensor: Callable[[Any], Tensor] = make_tensor
) -> Callable[[Any], Any]:
    """Make a function that packs outputs, converted by `tensor`, into the result of a path."""
    structure, count = path.structure, path.result_count
    kind = type(structure)
    if kind is SymbolicTensor or kind is EagerTensor:
        return itemgetter(0) if tensor is as_is else lambda raws: tensor(raws[0])
    if structure is None:
        return lambda raws: None
    if kind in (tuple, list) and all(isinstance(t, Tensor) for t in structure):
        return lambda raws: kind(map(tensor, raws[:count]))
    if kind is dict and structure and all(isinstance(t, Tensor) for t in structure.values()):
        keys, ordered = tuple(structure), sorted(structure)
        if list(keys) == ordered:
            return lambda raws: dict(zip(keys, map(tensor, raws), strict=False))
        pick = itemgetter(*[ordered.index(key) for key in keys])  # outputs are sorted by key
        return lambda raws: dict(zip(keys, map(tensor, pick(raws)), strict=True))
    fill = make_filler(structure, iter(path.output_places))
    return fill if tensor is as_is else lambda raws: fill(list(map(tensor, raws[:count])))


class Executable:
    """Runs the plan of a path without guards and side effects.

    Attributes:
        path: the path.
        plan: its compiled graph.
        variables: the variables of the path; None if some of them are arguments.
        is_in_place: whether large variables are updated in their own arrays.
        gives_elements: whether results can be elements of a dataset as they are; None: unknown.
    """

    gives_elements: bool | None = None

    def __init__(self, plan: Any, path: TracedPath) -> None:
        """Run `plan`, which was compiled from the graph of `path`."""
        self.plan, self.path = plan, path
        self.compute = plan.run
        self.captures = [t._array for t in path.captures]
        self.pack = make_packer(path)
        self.pack_tensors = make_packer(path, as_is)
        self.first_write, self.last_write = path.result_count, len(path.graph.outputs)
        is_fixed = all(type(s) is not int for s in path.states)
        self.variables = path.resolve_variables([]) if is_fixed else None
        self.writes = bool(path.writes)
        self.template = [None if type(s) is int else s for s in path.states]
        self.slots = [(i, s) for i, s in enumerate(path.states) if type(s) is int]
        self.blind_places = [i for i in path.writes if i not in path.checked]
        self.written: list[Any] = []
        self.checked: list[Any] = []
        self.blind: list[Any] = []
        if self.variables is not None:
            self.written, self.checked, self.blind = self.group_variables(self.variables)
        self.checks_all = path.checked == list(range(len(path.states)))
        self.read = read_function(len(path.states))
        counts = len(path.writes), len(path.checked), len(self.blind_places)
        self.commit = commit_function(*counts)
        inputs = path.graph.inputs
        self.differentiable_places = [
            k for k, i in enumerate(inputs) if is_differentiable(path.graph.specs[i].dtype)
        ]
        self.busy: dict[int, Any] = {}  # the call in place; unlike a lock, an interrupt frees it
        first = len(inputs) - len(path.states)
        updated = sorted(set(plan.in_place.values()))
        self.owned = [i - first for i in updated]
        specs = [path.graph.specs[inputs[i]] for i in updated]
        total = sum(math.prod(shape) * dtype.itemsize for shape, dtype in specs)
        self.places = self.variables and sort_places(path.writes, self.variables)
        self.is_in_place = HAS_GIL and bool(specs) and total >= MIN_IN_PLACE_BYTES * len(specs)
        self.choose_run()

    def choose_run(self) -> None:
        """Replace `run` by a faster form, where there is one."""
        path = self.path
        if not path.states:
            self.run = self.make_pure_run()  # type: ignore[method-assign, assignment]
        elif self.is_in_place:
            self.run = self.run_in_place  # type: ignore[method-assign]
        elif self.variables is not None and self.checks_all and not devices.active:
            self.run = self.make_update_run()  # type: ignore[method-assign, assignment]

    def group_variables(self, variables: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The variables that are written, those of them that a commit checks, and the others."""
        pick, path = variables.__getitem__, self.path
        groups = path.writes, path.checked, self.blind_places
        written, checked, blind = (list(map(pick, places)) for places in groups)
        return written, checked, blind

    def make_pure_run(self) -> Callable[[list[Any], list[Any]], Any]:
        """`run` for a path without variables."""
        compute, pack, captures = self.compute, self.pack, self.captures
        if not captures:
            return lambda tensors, given: pack(compute(*map(get_array, tensors)))
        return lambda tensors, given: pack(compute(*map(get_array, tensors), *captures))

    def make_update_run(self) -> Callable[[list[Any], list[Any]], Any]:
        """`run` for a path that reads and writes all its variables, which are no arguments."""
        compute, pack, captures, variables = self.compute, self.pack, self.captures, self.variables
        assert variables is not None
        first, last, read = self.first_write, self.last_write, self.read
        update = update_function(len(variables))

        def run(tensors: list[Any], given: list[Any]) -> Any:
            raws = list(map(get_array, tensors))
            raws += captures
            before: Any
            try:
                before, arrays = read(*variables)
            except AttributeError:  # one of them is being updated
                before = read_versions(variables)
                arrays = list(map(get_array, before))
            outputs = compute(*raws, *arrays)
            if not update(*variables, *before, *outputs[first:last]):
                del before, arrays
                outputs = self.run_alone(raws, variables)
            return pack(outputs)

        return run

    def run(self, tensors: list[Any], given: list[Any]) -> Any:
        """Run a call on its tensors and variable arguments, without recorders."""
        raws = list(map(get_array, tensors))
        raws += self.captures
        return self.pack(self.run_with_copies(raws, self.variables or self.resolve(given)))

    def resolve(self, given: list[Any]) -> list[Any]:
        """The variables of a call whose variable arguments are `given`."""
        variables = self.template.copy()
        for place, position in self.slots:
            variables[place] = given[position]
        return variables

    def run_with_copies(self, raws: list[Any], variables: list[Any]) -> Any:
        """The outputs of a call, which gives new arrays to the variables that it writes."""
        before: Any
        try:
            before, arrays = self.read(*variables)
        except AttributeError:  # one of them is being updated
            before = read_versions(variables)
            arrays = [t._array for t in before]
        outputs = self.compute(*raws, *arrays)
        if self.writes:
            pick = variables.__getitem__
            written = self.written or list(map(pick, self.path.writes))
            fresh = make_versions(written, outputs[self.first_write : self.last_write])
            checked = self.checked or map(pick, self.path.checked)
            blind = self.blind or map(pick, self.blind_places)
            if not self.checks_all:
                before = map(before.__getitem__, self.path.checked)
            if not self.commit(*written, *fresh, *checked, *before, *blind):
                del before, arrays
                outputs = self.run_alone(raws, variables)
        return outputs

    def run_alone(self, raws: list[Any], variables: list[Any]) -> Any:
        """The outputs, computed and stored while other threads wait for the written variables."""
        written = [variables[i] for i in self.path.writes]

        def compute_and_store(before: Any) -> Any:
            outputs = self.compute(*raws, *[t._array for t in before])
            values = outputs[self.first_write : self.last_write]
            store_exclusively(written, make_versions(written, values))
            return outputs

        return run_exclusively(variables, self.path.writes, compute_and_store)

    def run_in_place(self, tensors: list[Any], given: list[Any]) -> Any:
        """Run a call that updates large variables in their arrays, if these have no other readers.

        Everything that can fail runs first; then one loop in C changes the variables.
        """
        raws = list(map(get_array, tensors))
        raws += self.captures
        variables = self.variables or self.resolve(given)
        outputs: Any = None
        mine: list[Any] = []
        places = self.places or sort_places(self.path.writes, variables)
        update = ExclusiveUpdate(variables, places, self.owned)
        try:
            try:
                if self.busy.setdefault(0, mine) is mine and update.__enter__().is_owned:
                    arrays = list(map(get_array, update.versions))
                    computed, calls = self.plan.run_for_commit(*raws, *arrays)
                    values = []
                    for k, i in enumerate(self.path.writes, self.first_write):
                        values.append(arrays[i] if computed[k] is None else computed[k])
                    written = list(map(variables.__getitem__, self.path.writes))
                    fresh = make_versions(written, values)
                    outputs = computed
                    run_commit_calls(calls, map(setattr, written, repeat("_value"), fresh))
            finally:
                update.restore_versions()
        finally:
            if update.locked:  # an interrupt has come between
                update.restore_versions()
            if self.busy.get(0) is mine:
                self.busy.clear()
        if outputs is None:
            outputs = self.run_with_copies(raws, variables)
        return self.pack(outputs)

    def record(self, tensors: list[Any], given: list[Any]) -> Any:
        """Run a call and record it in the active tapes."""
        path = self.path
        variables = self.variables
        if variables is None:
            variables = path.resolve_variables(given)
        before: Any
        try:
            before, arrays = self.read(*variables)
        except AttributeError:  # one of them is being updated
            before = read_versions(variables)
            arrays = [t._array for t in before]
        raws = list(map(get_array, tensors))
        raws += self.captures
        outputs, saved, watched = self.compute_recorded(tensors, raws, variables, before, arrays)
        if self.writes:
            written, checked, blind = self.group_variables(variables)
            fresh = make_versions(written, outputs[self.first_write : self.last_write])
            seen = [before[i] for i in path.checked]
            if not self.commit(*written, *fresh, *checked, *seen, *blind):
                outputs, saved, watched = self.record_alone(tensors, raws, variables)
        results: list[Tensor] = list(map(make_tensor, outputs[: path.result_count]))
        if results:
            for recorder, (uids, places) in zip(local.recorders, watched, strict=True):
                if uids:
                    record_call(recorder, saved, uids, places, results)
        if ledger.active:
            written = [variables[i] for i in path.writes]
            note_call(saved, results, written)
        return self.pack_tensors(results)

    def record_alone(self, tensors: list[Any], raws: list[Any], variables: list[Any]) -> Any:
        """`compute_recorded` while other threads wait for the written variables."""
        written = [variables[i] for i in self.path.writes]

        def compute_and_store(before: Any) -> Any:
            arrays = [t._array for t in before]
            run = self.compute_recorded(tensors, raws, variables, before, arrays)
            values = run[0][self.first_write : self.last_write]
            store_exclusively(written, make_versions(written, values))
            return run

        return run_exclusively(variables, self.path.writes, compute_and_store)

    def compute_recorded(
        self, tensors: list[Any], raws: list[Any], variables: Any, before: Any, arrays: Any
    ) -> Any:
        """Run the plan; return the outputs, the data for the tape entry, and the watched inputs."""
        path = self.path
        inputs = [*tensors, *path.captures, *before]
        saved = SavedCall(path, inputs, [])
        watched = []
        for recorder in local.recorders:
            for version, variable in zip(before, variables, strict=True):
                if version.uid not in recorder:
                    recorder.on_variable_read(variable, version.uid)
            uids, places = [], []
            for i in self.differentiable_places:
                uid = inputs[i].uid
                if uid in recorder:
                    uids.append(uid)
                    places.append(i)
            watched.append((tuple(uids), tuple(places)))
        if len(watched) == 1:
            joint = path.forward_backward_cache.get((watched[0][1], ()))
            if joint is not None:
                outputs = joint.forward.run(*raws, *arrays)
                saved.forward_backward, saved.residuals = joint, outputs[self.last_write :]
                return outputs, saved, watched
        return self.plan.run(*raws, *arrays), saved, watched


def record_call(
    recorder: Any, saved: SavedCall, uids: Any, places: Any, results: list[Any]
) -> None:
    """Add the entry of a call to a recorder."""
    anchor = next_uid()
    recorder[anchor] = (FUNCTION_STEP, uids, places, saved)
    for i, out in enumerate(results):
        recorder[mark_recorded(out)] = (TapePort.route_cotangent, anchor, i)
    if type(recorder) is not TapeRecord and hasattr(recorder, "complete"):
        recorder.complete(tuple(results))


def record_traced_call(saved: SavedCall, variables: list[Any], raws: list[Any]) -> Any:
    """Record a call in the active tapes, and pack its results."""
    path = saved.path
    results: list[Tensor] = [make_tensor(raw) for raw in raws]
    versions = saved.inputs[len(saved.inputs) - len(variables) :]
    for recorder in local.recorders:
        for version, variable in zip(versions, variables, strict=True):
            if version.uid not in recorder:
                recorder.on_variable_read(variable, version.uid)
        watched = [
            i
            for i, t in enumerate(saved.inputs)
            if t.uid in recorder and is_differentiable(t._array.dtype)
        ]
        if watched and results:
            uids = tuple([saved.inputs[i].uid for i in watched])
            record_call(recorder, saved, uids, tuple(watched), results)
    if ledger.active:
        note_call(saved, results, [variables[i] for i in path.writes])
    return make_packer(path, as_is)(results)
