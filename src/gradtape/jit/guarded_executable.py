"""GuardedExecutable: runs calls of functions with guards or side effects, along a guard tree."""

from __future__ import annotations

from typing import Any

from gradtape.core.context import local
from gradtape.core.errors import OutOfRangeError
from gradtape.core.ledger import ledger
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import make_tensor
from gradtape.graph.graph import Constant
from gradtape.jit.backward import SavedCall
from gradtape.jit.executable import get_array, make_packer, record_traced_call
from gradtape.jit.guard_tree import GuardTree, TreeRun, UnloggedEffect
from gradtape.jit.trace_path import TracedPath
from gradtape.state.variable.commit import (
    commit,
    make_versions,
    run_exclusively,
    store_exclusively,
)


class GuardedExecutable:
    """Runs the segments of a guard tree: for functions with guards or side effects."""

    gives_elements = False

    def __init__(self, tree: GuardTree) -> None:
        """Run the paths of `tree`."""
        self.tree = tree

    def run(self, tensors: list[Any], given: list[Any]) -> Any:
        """Run a call.

        Raises:
            GuardMiss: if a guard sees a new value.
        """
        run = TreeRun(self.tree, list(map(get_array, tensors)), given)
        if run.variables:
            run.read_snapshot()
        try:
            path = self.tree.run(run)
        except OutOfRangeError:
            if not self.commit_before_exhaustion(run):
                return self.rerun(tensors, given, run.log)
            raise
        if path.writes and not self.commit_path(run, path):
            return self.rerun(tensors, given, run.log)
        return self.record_and_pack(run, path, tensors)

    record = run

    def rerun(self, tensors: list[Any], given: list[Any], log: list[Any]) -> Any:
        """Run a call whose variables were changed by another call; `log` has its side effects.

        The other calls wait while it runs, except for side effects: these may wait for other calls.

        Raises:
            GuardMiss: if a guard sees a new value.
        """
        raws = [t._array for t in tensors]
        while True:
            try:
                run, path = self.run_alone(raws, given, log)
                break
            except UnloggedEffect:
                run = TreeRun(self.tree, raws, given)
                run.read_snapshot()
            try:
                path = self.tree.rerun(run, log, has_effects=True)
            except OutOfRangeError:
                if self.commit_before_exhaustion(run):
                    raise
                log = run.log
                continue
            if not path.writes or self.commit_path(run, path):
                break
            log = run.log
        return self.record_and_pack(run, path, tensors)

    def run_alone(self, raws: list[Any], given: list[Any], log: list[Any]) -> Any:
        """Run while other threads wait for the variables that the function writes.

        Raises:
            UnloggedEffect: at a side effect that is not in `log`.
        """
        run = TreeRun(self.tree, raws, given)
        places = {key: i for i, key in enumerate(run.variables)}

        def compute_and_store(before: Any) -> Any:
            run.snapshot = dict(zip(run.variables, before, strict=True))
            path = self.tree.rerun(run, log, has_effects=False)
            written, values = written_values(run, path)
            store_exclusively(written, make_versions(written, values))
            return run, path

        variables = list(run.variables.values())
        written = [places[key] for key in self.tree.written_keys()]
        return run_exclusively(variables, written, compute_and_store)

    def commit_path(self, run: TreeRun, path: TracedPath) -> bool:
        """Commit the variables that a path writes; False if another call changed one of them."""
        _, values = written_values(run, path)
        return commit_unchanged(run, dict(zip(path.written_keys(), values, strict=True)))

    def commit_before_exhaustion(self, run: TreeRun) -> bool:
        """Commit what was assigned before the call of an exhausted iterator."""
        return commit_unchanged(run, self.tree.values_before_exhaustion(run))

    def record_and_pack(self, run: TreeRun, path: TracedPath, tensors: list[Any]) -> Any:
        """Record the call in the active tapes, and pack its results."""
        frame = run.frame
        operands: Any = path.graph.outputs[: path.result_count]
        if path.has_constant_results:
            outputs = [o.raw if isinstance(o, Constant) else frame[o] for o in operands]
        else:
            outputs = list(map(frame.__getitem__, operands))
        if not local.recorders and not ledger.active:
            if type(path.structure) is SymbolicTensor:
                return make_tensor(outputs[0])
            if path.pack is None:
                path.pack = make_packer(path)
            return path.pack(outputs)
        versions = [run.loaded.get(key, run.snapshot[key]) for key in path.keys]
        saved = SavedCall(path, [*tensors, *path.captures, *versions], run.effects)
        return record_traced_call(saved, [run.variables[key] for key in path.keys], outputs)


def written_values(run: TreeRun, path: TracedPath) -> tuple[list[Any], list[Any]]:
    """The variables that a path writes, and their raw values."""
    outputs = path.graph.outputs[path.result_count :]
    values = [o.raw if isinstance(o, Constant) else run.frame[o] for o in outputs]
    return [run.variables[key] for key in path.written_keys()], values


def commit_unchanged(run: TreeRun, values: dict[int, Any]) -> bool:
    """Commit raw values by key; False if another call changed a variable that the run has read."""
    written = [run.variables[key] for key in values]
    checked = [key for key in values if key in run.loaded]
    return commit(
        written,
        make_versions(written, list(values.values())),
        [run.variables[key] for key in checked],
        [run.loaded[key] for key in checked],
        [run.variables[key] for key in values if key not in run.loaded],
    )
